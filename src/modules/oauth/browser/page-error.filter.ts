import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { isDatabaseUnavailable } from '../../../platform/database/errors.js';
import { RETRY_SECONDS, ServiceUnavailable } from '../../../platform/errors.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import {
  AuthorizationError,
  errorRedirect,
  sendRedirect,
} from '../protocol/authorization-response.js';
import { OAuthInvalidRequest, TooManyAttempts } from '../protocol/oauth.errors.js';
import { InvalidFormToken } from '../protocol/form-tokens.js';
import { Parameters } from '../protocol/parameters.js';
import { FailedAttempts, FORM_FAILURES } from '../rate-limit/failed-attempts.js';
import { OAuthPages } from './oauth-pages.js';
import { PageStates, typedPhone } from './page-state.js';

/**
 * Redirects to the app for an `AuthorizationError`. Shows an error page for all other errors: at once, or after a redirect if our own
 * page sent the form, so that Reload does not repeat it. The limits that are checked before the body is read show it at once.
 */
@Catch()
export class PageErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(PageErrorFilter.name);

  constructor(
    private readonly pages: OAuthPages,
    private readonly states: PageStates,
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
    const error = await this.recordFailedAttempt(request, this.toPageError(thrown));
    request.context.errorCode = error.code;
    const { resultPage, requestId } = request.context;
    if (resultPage === undefined) return this.pages.sendErrorPage(response, error);
    const { code, retryAfterSeconds: seconds } = error;
    const typed = typedPhone(new Parameters(request.body));
    this.states.redirect(response, resultPage, { ...typed, error: code, seconds, requestId });
  }

  /** Returns the error of the response: if the attempt cannot be counted, that one. */
  private async recordFailedAttempt(request: Request, error: PageError): Promise<PageError> {
    if (!(error instanceof InvalidFormToken)) return error;
    try {
      await this.attempts.record(request, FORM_FAILURES);
      return error;
    } catch (thrown) {
      return this.toPageError(thrown);
    }
  }

  private toPageError(thrown: unknown): PageError {
    if (thrown instanceof PageError) return thrown;
    if (thrown instanceof TooManyAttempts)
      return new PageError('too_many_attempts', thrown.retryAfterSeconds);
    if (thrown instanceof OAuthInvalidRequest) return new PageError('malformed_form');
    if (thrown instanceof ServiceUnavailable)
      return new PageError('service_unavailable', thrown.retryAfterSeconds);
    const error = isDatabaseUnavailable(thrown)
      ? new PageError('service_unavailable', RETRY_SECONDS)
      : new PageError('internal_error');
    this.logger.error(error.code, (thrown as Error)?.stack);
    return error;
  }
}
