import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceUnavailable } from '../../errors.js';
import { AppConfig } from '../../config/app-config.js';
import { ERROR_STATUS, errorHeaders, ErrorResponse } from './api-errors.js';
import { toAppError } from './http-error.js';

/**
 * Sends the error body of the API. The OAuth endpoints and the pages have their own filters. Logs server errors with their stack,
 * also those of the database that `toAppError` converts, but not a `ServiceUnavailable` that was thrown as such.
 */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ApiErrorFilter.name);

  constructor(private readonly config: AppConfig) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = toAppError(thrown);
    const status = ERROR_STATUS[error.code];
    request.context.errorCode = error.code;
    if (status >= 500 && !(thrown instanceof ServiceUnavailable))
      this.logger.error(error.code, (thrown as Error)?.stack);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response
      .status(status)
      .set(errorHeaders(error, this.config.publicUrl))
      .json(ErrorResponse.from(error, request.context.requestId, this.config.publicUrl));
  }
}
