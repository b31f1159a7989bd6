import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceUnavailable, type AppError } from '../../common/errors.js';
import { AppConfig } from '../../config/app-config.js';
import { ERROR_STATUS } from '../../http/error-status.js';
import { callerError } from '../../http/http-error.js';
import { CATALOGUES } from '../../pages/catalogue/catalogue.js';
import type { ErrorText } from '../../pages/catalogue/en-errors.js';
import type { Catalogue } from '../../pages/catalogue/en.js';
import { acceptedLanguage } from '../../pages/language.js';
import { pageHeaders } from '../../pages/page-headers.js';
import { PageRenderer } from '../../pages/page-renderer.js';

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
    const { requestId } = request;
    const language = acceptedLanguage(request);
    const error = callerError(thrown);
    const words = wordsFor(error, requestId, CATALOGUES[language]);
    const status = ERROR_STATUS[error.code];
    request.errorCode = error.code;
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
