import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isDatabaseUnavailable } from '../../../platform/database/errors.js';
import { ServiceUnavailable } from '../../../platform/errors.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import {
  AuthorizationRefused,
  errorRedirect,
  sendRedirect,
} from '../protocol/authorization-response.js';
import { InvalidRequest, TooManyAttempts } from '../protocol/oauth.errors.js';
import { OAuthPages, type RecoveryLink } from './oauth-pages.js';
import {
  fault,
  ForeignToken,
  malformedForm,
  PageError,
  tooManyAttempts,
  unavailable,
} from '../protocol/page-error.js';
import { FailedAttempts } from '../rate-limit/failed-attempts.js';

/** Answers errors on the browser's way: redirected where the app may know, a page where only the person may. */
@Catch()
export class PageErrorFilter implements ExceptionFilter {
  protected readonly wayOn: RecoveryLink = {
    startAgain: ({ wayOn }) => wayOn.toApp,
    footer: ({ wayOn }) => wayOn.ofApp,
  };
  private readonly logger = new Logger(PageErrorFilter.name);

  constructor(
    private readonly pages: OAuthPages,
    private readonly attempts: FailedAttempts,
    private readonly config: AppConfig,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (thrown instanceof AuthorizationRefused) {
      request.context.errorCode = thrown.error.code;
      sendRedirect(response, errorRedirect(thrown, this.config.publicUrl));
      return;
    }
    const error = this.pageError(thrown, request);
    request.context.errorCode = error.code;
    if (error instanceof ForeignToken) await this.attempts.record(request, 'decision');
    this.pages.error(response, error, this.wayOn);
  }

  private pageError(thrown: unknown, request: Request): PageError {
    if (thrown instanceof PageError) return thrown;
    if (thrown instanceof TooManyAttempts) return tooManyAttempts(thrown.retryAfterSeconds);
    if (thrown instanceof InvalidRequest) return malformedForm();
    if (thrown instanceof ServiceUnavailable) return unavailable(thrown.retryAfterSeconds);
    const error = isDatabaseUnavailable(thrown) ? unavailable() : fault(request.context.requestId);
    this.logger.error(error.code, (thrown as Error)?.stack);
    return error;
  }
}
