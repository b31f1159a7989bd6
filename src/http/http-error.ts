import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable } from '../common/database-faults.js';
import { AppError, InvalidRequest, NotFound, ServiceUnavailable } from '../common/errors.js';

export class InternalError extends AppError {
  static readonly code = 'internal_error';
  static readonly example = 'Something went wrong on our side. Tell support the request_id.';

  constructor() {
    super(InternalError.code, InternalError.example);
  }
}

/** What a caller may know of anything that was thrown: framework and driver errors lose their words here. */
export function callerError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseUnavailable(error)) return new ServiceUnavailable();
  const status = statusOf(error);
  if (status === 404)
    return new NotFound('There is no such endpoint. The documentation lists them all.');
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
