import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isDatabaseUnavailable } from '../../../platform/database/errors.js';
import { ServiceUnavailable } from '../../../platform/errors.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import {
  AuthorizationError,
  errorRedirect,
  sendRedirect,
} from '../protocol/authorization-response.js';
import { InvalidRequest, TooManyAttempts } from '../protocol/oauth.errors.js';
import {
  internalError,
  InvalidFormToken,
  malformedForm,
  PageError,
  tooManyAttempts,
  unavailable,
} from '../protocol/page-error.js';
import { FailedAttempts } from '../rate-limit/failed-attempts.js';
import { OAuthPages } from './oauth-pages.js';

/** Redirects to the app for an `AuthorizationError`. Sends an error page for all other errors. */
@Catch()
export class PageErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(PageErrorFilter.name);

  constructor(
    private readonly pages: OAuthPages,
    private readonly attempts: FailedAttempts,
    private readonly config: AppConfig,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (thrown instanceof AuthorizationError) {
      request.context.errorCode = thrown.error.code;
      sendRedirect(response, errorRedirect(thrown, this.config.publicUrl));
      return;
    }
    const error = this.toPageError(thrown, request);
    request.context.errorCode = error.code;
    // `decision` is the group of all page forms.
    if (error instanceof InvalidFormToken) await this.attempts.record(request, 'decision');
    this.pages.sendErrorPage(response, error);
  }

  private toPageError(thrown: unknown, request: Request): PageError {
    if (thrown instanceof PageError) return thrown;
    if (thrown instanceof TooManyAttempts) return tooManyAttempts(thrown.retryAfterSeconds);
    if (thrown instanceof InvalidRequest) return malformedForm();
    if (thrown instanceof ServiceUnavailable) return unavailable(thrown.retryAfterSeconds);
    const error = isDatabaseUnavailable(thrown)
      ? unavailable()
      : internalError(request.context.requestId);
    this.logger.error(error.code, (thrown as Error)?.stack);
    return error;
  }
}
