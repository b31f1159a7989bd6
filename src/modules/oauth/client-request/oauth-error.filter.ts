import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isDatabaseUnavailable } from '../../../common/database-faults.js';
import { ServiceUnavailable } from '../../../common/errors.js';
import {
  FormTooLarge,
  FormTooSlow,
  InvalidClient,
  InvalidGrant,
  MethodNotAllowed,
  OAuthError,
  ServerError,
  TemporarilyUnavailable,
  TooManyAttempts,
  UnknownEndpoint,
} from '../oauth.errors.js';
import { FailureCounter } from '../throttle/failure-counter.js';
import { OAuthErrorResponse } from './dto/oauth-error.response.js';

/**
 * Answers errors of the endpoints that apps call as RFC 6749 §5.2 wants them. A fault of ours is never told as one of the
 * client's. A revocation that is throttled is 503, since the token lives on (RFC 7009 §2.2.1).
 */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(OAuthErrorFilter.name);

  constructor(private readonly failures: FailureCounter) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = this.oauthError(thrown);
    request.errorCode = error.code;
    const routes = request.throttledRoutes;
    if (routes !== undefined && isFailedAttempt(error, request))
      await this.failures.count(request, routes);
    const status =
      routes === 'revocation' && error instanceof TooManyAttempts ? 503 : statusOf(error);
    response
      .status(status)
      .set({ 'Cache-Control': 'no-store', Pragma: 'no-cache', ...headersOf(error) })
      .json(OAuthErrorResponse.from(error));
  }

  private oauthError(thrown: unknown): OAuthError {
    if (thrown instanceof OAuthError) return thrown;
    if (thrown instanceof ServiceUnavailable)
      return new TemporarilyUnavailable(thrown.retryAfterSeconds);
    const error = isDatabaseUnavailable(thrown) ? new TemporarilyUnavailable() : new ServerError();
    this.logger.error(error.code, (thrown as Error)?.stack);
    return error;
  }
}

/**
 * What somebody unproven got wrong. Refusing for a spent budget spends nothing, and neither does a confidential app once its
 * secret was right: whoever opens its callback with made-up codes would otherwise lock it out.
 */
function isFailedAttempt(error: OAuthError, { authenticatedClient }: Request): boolean {
  if (authenticatedClient?.kind === 'confidential') return false;
  if (error instanceof InvalidGrant) return error.isGuess;
  if (error instanceof TooManyAttempts || error instanceof FormTooSlow) return false;
  return statusOf(error) < 500;
}

function statusOf(error: OAuthError): number {
  if (error instanceof UnknownEndpoint) return 404;
  if (error instanceof MethodNotAllowed) return 405;
  if (error instanceof FormTooSlow) return 408;
  if (error instanceof FormTooLarge) return 413;
  switch (error.code) {
    case 'invalid_client':
      return 401;
    case 'too_many_attempts':
      return 429;
    case 'server_error':
      return 500;
    case 'temporarily_unavailable':
      return 503;
    default:
      return 400;
  }
}

function headersOf(error: OAuthError): Record<string, string> {
  if (error instanceof InvalidClient && error.challenge) {
    return { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' };
  }
  if (error instanceof MethodNotAllowed) return { Allow: error.allow };
  if (error instanceof TooManyAttempts || error instanceof TemporarilyUnavailable) {
    return { 'Retry-After': String(error.retryAfterSeconds) };
  }
  return {};
}
