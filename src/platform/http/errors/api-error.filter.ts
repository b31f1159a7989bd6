import {
  Catch,
  HttpException,
  Logger,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { isDatabaseUnavailable } from '../../database/errors.js';
import {
  AppError,
  InternalError,
  InvalidRequest,
  ServiceUnavailable,
  UnknownPath,
} from '../../errors.js';
import { PRIVATE } from '../developer-api.js';
import { errorHeaders, ErrorResponse } from './api-errors.js';

/**
 * Sends the error body of the API; subclasses send a page. The OAuth endpoints and their pages have their own filters. Logs server errors with their stack,
 * also those of the database that `toAppError` converts, but not a `ServiceUnavailable` that was thrown as such.
 */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(this.constructor.name);

  constructor(private readonly config: AppConfig) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = toAppError(thrown);
    request.context.errorCode = error.code;
    if (error.httpStatus >= 500 && !(thrown instanceof ServiceUnavailable))
      this.logger.error(error.code, (thrown as Error)?.stack);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    this.send(error, request, response.status(error.httpStatus));
  }

  protected send(error: AppError, request: Request, response: Response): void {
    // An error has the id of one request, and the handler may have allowed caches to store its own response.
    if (response.get('Cache-Control') !== PRIVATE) response.set('Cache-Control', 'no-store');
    response
      .set(errorHeaders(error, this.config.publicUrl))
      .json(ErrorResponse.from(error, request.context.requestId, this.config.publicUrl));
  }
}

/** Converts any error to an `AppError`, without messages of the framework and of drivers. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseUnavailable(error)) return new ServiceUnavailable();
  if (error instanceof HttpException && error.cause instanceof URIError) {
    return new InvalidRequest(
      'The path cannot be decoded: a % must be followed by two hexadecimal digits, and the decoded bytes must be valid UTF-8.',
    );
  }
  const status = statusOf(error);
  if (status === 404) return new UnknownPath();
  if (status !== undefined && status >= 400 && status < 500) {
    return new InvalidRequest('The request is malformed: check its path, headers and body.');
  }
  return new InternalError();
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? status : undefined;
}
