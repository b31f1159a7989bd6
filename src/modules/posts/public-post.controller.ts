import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Logger,
  Param,
  Req,
  Res,
  UseFilters,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { acceptedLanguage, type Language } from '../../pages/language.js';
import { type ErrorText, PageError } from '../../pages/page-errors.js';
import { pageHeaders } from '../../pages/page-headers.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import { CATALOGUES } from '../../pages/translations/translations.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { type AppError, ServiceUnavailable } from '../../platform/errors.js';
import { toAppError } from '../../platform/http/errors/api-error.filter.js';
import { PostsService } from './posts.service.js';

/** Renders errors as HTML pages. Missing, deleted and hidden posts, and posts that are not public, have the same page. */
@Catch()
export class PublicPostErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(PublicPostErrorFilter.name);

  constructor(private readonly pages: PageRenderer) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const language = acceptedLanguage(request);
    const error = toAppError(thrown);
    const { code, httpStatus: status } = error;
    const text = textFor(error, language);
    const { requestId } = request.context;
    const details = { code, requestId, documentationUrl: `/docs/errors#${code}` };
    request.context.errorCode = error.code;
    if (status >= 500 && !(thrown instanceof ServiceUnavailable))
      this.logger.error(error.code, (thrown as Error)?.stack);
    http
      .getResponse<Response>()
      .status(status)
      .vary('Accept-Language')
      .set({ ...pageHeaders({ language }), ...error.extras.headers })
      .send(this.pages.message({ ...text, error: true, details }, language));
  }
}

function textFor({ code }: AppError, language: Language): ErrorText {
  const { post } = CATALOGUES[language];
  if (code === 'not_found') return post.notFound;
  const pageCode = code === 'service_unavailable' ? code : 'internal_error';
  return new PageError(pageCode).text(language, post.openAgain);
}

/** Serves public posts at their permalinks, if SITE_URL is this service. */
@ApiExcludeController()
@Public()
@UseFilters(PublicPostErrorFilter)
@Controller('post')
export class PublicPostController {
  constructor(
    private readonly posts: PostsService,
    private readonly pages: PageRenderer,
  ) {}

  @Get(':id')
  async show(
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const language = acceptedLanguage(request);
    const html = this.pages.post(await this.posts.readPublic(id), language);
    response
      .vary('Accept-Language')
      .set(pageHeaders({ language }))
      // Caches must revalidate, because the post may be deleted or hidden.
      .set('Cache-Control', 'no-cache')
      .send(html);
  }
}
