import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Logger,
  Param,
  Res,
  UseFilters,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PageRenderer } from '../../pages/page-renderer.js';
import type { ErrorText } from '../../pages/translations/en-errors.js';
import type { Catalogue } from '../../pages/translations/en.js';
import { textsFor } from '../../pages/translations/translations.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { type AppError, ServiceUnavailable } from '../../platform/errors.js';
import { ERROR_STATUS } from '../../platform/http/errors/api-errors.js';
import { toAppError } from '../../platform/http/errors/http-error.js';
import { PostsService } from './posts.service.js';

/** Renders errors as HTML pages. Missing, deleted and hidden posts, and posts that are not public, have the same page. */
@Catch()
export class PublicPostErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(PublicPostErrorFilter.name);

  constructor(private readonly pages: PageRenderer) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const error = toAppError(thrown);
    const { code } = error;
    const text = textFor(error, textsFor(request));
    const status = ERROR_STATUS[code];
    const { requestId } = request.context;
    const details = { code, requestId, documentationUrl: `/docs/errors#${code}` };
    request.context.errorCode = error.code;
    if (status >= 500 && !(thrown instanceof ServiceUnavailable))
      this.logger.error(error.code, (thrown as Error)?.stack);
    const view = { ...text, error: true, details };
    const { headers } = error.extras;
    this.pages.send(http.getResponse<Response>(), 'message', view, { status, headers });
  }
}

function textFor({ code }: AppError, { post, errors }: Catalogue): ErrorText {
  if (code === 'not_found') return post.notFound;
  const texts = errors(post.openAgain);
  return code === 'service_unavailable' ? texts.unavailable : texts.internalError;
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
  async show(@Param('id') id: string, @Res() response: Response): Promise<void> {
    const post = await this.posts.readPublic(id);
    // Caches must revalidate, because the post may be deleted or hidden.
    this.pages.send(response, 'post', post, { headers: { 'Cache-Control': 'no-cache' } });
  }
}
