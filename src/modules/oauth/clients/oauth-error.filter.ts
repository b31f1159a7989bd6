import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { isDatabaseUnavailable } from '../../../platform/database/errors.js';
import { ServiceUnavailable } from '../../../platform/errors.js';
import { extensibleEnumOf } from '../../../platform/http/validation/schemas.openapi.js';
import {
  FormTooSlow,
  InvalidClient,
  InvalidGrant,
  OAuthError,
  ServerError,
  TemporarilyUnavailable,
  TooManyAttempts,
} from '../protocol/oauth.errors.js';
import { RequestLimits } from '../rate-limit/request-limits.js';

@ApiSchema({
  name: 'OAuthError',
  description: 'The error response (RFC 6749 §5.2).',
})
export class OAuthErrorResponse {
  @ApiProperty({
    description: 'Machine-readable error code. New codes may be added.',
    ...extensibleEnumOf('OAuthErrorCode'),
    example: 'invalid_grant',
  })
  error: string;

  @ApiProperty({
    description: 'A message for developers, in ASCII. Branch on `error`; this text may change.',
    pattern: '^[\\x20-\\x21\\x23-\\x5B\\x5D-\\x7E]+$',
    example: 'The code has expired.',
  })
  error_description: string;

  @ApiPropertyOptional({
    description: 'Present only if error is too_many_attempts.',
    example: 'Too many attempts',
  })
  message?: string;

  static from(error: OAuthError): OAuthErrorResponse {
    return {
      error: error.code,
      error_description: error.message,
      ...(error instanceof TooManyAttempts && { message: 'Too many attempts' }),
    };
  }
}

/** Sends the error responses of token, revocation, introspection and unknown endpoints under `/oauth` (RFC 6749 §5.2). */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(OAuthErrorFilter.name);

  constructor(private readonly limits: RequestLimits) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = await this.recordFailedAttempt(request, this.oauthError(thrown));
    request.context.errorCode = error.code;
    // 503 tells the client that the token is still valid (RFC 7009 §2.2.1).
    const isRevocationLimited =
      request.context.clientEndpoint === 'revocation' && error instanceof TooManyAttempts;
    response
      .status(isRevocationLimited ? 503 : error.httpStatus)
      .set({ 'Cache-Control': 'no-store', Pragma: 'no-cache', ...error.headers })
      .json(OAuthErrorResponse.from(error));
  }

  /**
   * Applies the limits of failed attempts to a request that failed, so that strangers at an address cannot lock out an app that
   * proves itself with a secret, a code or a refresh token. Returns the error of the response: beyond a limit TooManyAttempts, which
   * is not counted, and if the attempt cannot be counted because of a bug, that error. If the database is unavailable, the limits do
   * not apply: the endpoint cannot issue tokens then, and some apps delete their tokens when a request is rejected.
   */
  private async recordFailedAttempt(request: Request, error: OAuthError): Promise<OAuthError> {
    const { clientEndpoint: endpoint } = request.context;
    if (endpoint === undefined || !isFailedAttempt(error, request)) return error;
    const limits = [
      `${endpoint}-failures-by-app-and-address`,
      `${endpoint}-failures-by-address`,
    ] as const;
    try {
      await this.limits.check(request, limits);
      await this.limits.record(request, limits);
      if (error instanceof InvalidClient) await this.limits.recordRefusedClient(request, error);
      return error;
    } catch (thrown) {
      if (!isDatabaseUnavailable(thrown)) return this.oauthError(thrown);
      this.logger.error(`Could not count a failed attempt: ${(thrown as Error).message}`);
      return error;
    }
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
 * Whether the error counts as a failed attempt. Errors of an authenticated confidential app do not count. Otherwise visitors of its
 * redirect URI could lock it out with invalid codes.
 */
function isFailedAttempt(error: OAuthError, request: Request): boolean {
  const { authenticatedClient } = request.context;
  if (authenticatedClient?.kind === 'confidential') return false;
  if (error instanceof InvalidGrant) return error.countsAsFailedAttempt;
  if (error instanceof TooManyAttempts || error instanceof FormTooSlow) return false;
  return error.httpStatus < 500;
}
