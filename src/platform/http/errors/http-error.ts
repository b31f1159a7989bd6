import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable } from '../../database/errors.js';
import { AppError, InvalidRequest, NotFound, ServiceUnavailable } from '../../errors.js';

export class InternalError extends AppError {
  static readonly code = 'internal_error';

  constructor() {
    super(
      InternalError.code,
      'Something went wrong on our side. Include the request_id when you contact support.',
    );
  }
}

/** The path has no route. */
export class UnknownPath extends NotFound {
  constructor() {
    super('There is no such endpoint. The documentation lists them all.');
  }
}

/** The path has routes, but none for this method. `Allow` lists the supported methods (RFC 9110 §15.5.6). */
export class MethodNotAllowed extends AppError {
  static readonly code = 'method_not_allowed';

  constructor(allow: string) {
    super(
      MethodNotAllowed.code,
      `This endpoint does not support this method. It supports ${allow}.`,
      {
        headers: { Allow: allow },
      },
    );
  }
}

/** Converts any error to an `AppError`, without messages of the framework and of drivers. */
export function toAppError(error: unknown): AppError {
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
