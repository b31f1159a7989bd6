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
import { acceptedLanguage } from '../../pages/language.js';
import { pageHeaders } from '../../pages/page-headers.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import type { ErrorText } from '../../pages/translations/en-errors.js';
import type { Catalogue } from '../../pages/translations/en.js';
import { CATALOGUES } from '../../pages/translations/translations.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { type AppError, ServiceUnavailable } from '../../platform/errors.js';
import { ERROR_STATUS } from '../../platform/http/errors/api-errors.js';
import { callerError } from '../../platform/http/errors/http-error.js';
import { PublicPostsService } from './public-posts.service.js';

/** Answers what goes wrong with the page of a post by a page. Why there is none, it does not tell. */
@Catch()
export class PostPageErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(PostPageErrorFilter.name);

  constructor(
    private readonly pages: PageRenderer,
    private readonly config: AppConfig,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const { requestId } = request.context;
    const language = acceptedLanguage(request);
    const error = callerError(thrown);
    const words = wordsFor(error, requestId, CATALOGUES[language]);
    const status = ERROR_STATUS[error.code];
    request.context.errorCode = error.code;
    if (status >= 500 && !(thrown instanceof ServiceUnavailable))
      this.logger.error(error.code, (thrown as Error)?.stack);
    host
      .switchToHttp()
      .getResponse<Response>()
      .status(status)
      .vary('Accept-Language')
      .set({ ...pageHeaders({ secure: this.config.secure, language }), ...error.extras.headers })
      .send(this.pages.message({ ...words, error: true }, language));
  }
}

function wordsFor({ code }: AppError, requestId: string, { post, errors }: Catalogue): ErrorText {
  const texts = errors(post.openAgain);
  switch (code) {
    case 'not_found':
      return post.missing;
    case 'service_unavailable':
      return texts.unavailable;
    default:
      return texts.fault(requestId);
  }
}

/** Where permalinks lead when this service is the site: a public post, for anybody. */
@ApiExcludeController()
@Public()
@UseFilters(PostPageErrorFilter)
@Controller('post')
export class PostPageController {
  constructor(
    private readonly posts: PublicPostsService,
    private readonly pages: PageRenderer,
    private readonly config: AppConfig,
  ) {}

  @Get(':id')
  async show(
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const language = acceptedLanguage(request);
    const html = this.pages.post(await this.posts.read(id), language);
    response
      .vary('Accept-Language')
      .set(pageHeaders({ secure: this.config.secure, language }))
      // Browsers and proxies may keep it, but ask each time: it goes when the post is deleted.
      .set('Cache-Control', 'no-cache')
      .send(html);
  }
}
