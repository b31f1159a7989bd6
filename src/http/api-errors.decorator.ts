import { applyDecorators } from '@nestjs/common';
import { ApiResponse, type ApiResponseOptions } from '@nestjs/swagger';
import { ServiceUnavailable, type AppError } from '../common/errors.js';
import { ERROR_STATUS } from './error-status.js';
import { ErrorResponse } from './error.response.js';
import { InternalError } from './http-error.js';
import { RATE_LIMIT_HEADERS } from './rate-limit-headers.js';
import { RETRY_AFTER } from './schemas.js';

/** What the headers of errors mean. */
const HEADERS: ApiResponseOptions['headers'] = {
  'WWW-Authenticate': {
    description: 'The challenge (RFC 6750 §3).',
    schema: { type: 'string', minLength: 1 },
  },
  ...RETRY_AFTER,
  ...RATE_LIMIT_HEADERS,
};

/**
 * Documents which errors an operation can answer, by one of each as it is thrown: status, headers and body are told as the
 * filter would answer it. Several of one code are told apart by what they say of a field.
 */
export function ApiErrors(...errors: AppError[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ...errors.map((error) => {
      const { code, extras, message } = error;
      const value = ErrorResponse.from(
        error,
        'req_01kahq5f3veqdr8bn3tdmx3q0a',
        'https://api.example.com',
      );
      return ApiResponse({
        status: ERROR_STATUS[code],
        type: ErrorResponse,
        ...(extras.headers && { headers: documented(extras.headers) }),
        examples: { [extras.errors?.[0]?.code ?? code]: { summary: message, value } },
      });
    }),
  );
}

/** What every operation can answer when the service itself is at fault. */
export const ApiFaults = (): MethodDecorator & ClassDecorator =>
  ApiErrors(new InternalError(), new ServiceUnavailable());

function documented(headers: Readonly<Record<string, string>>): ApiResponseOptions['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const header = HEADERS?.[name];
      if (header === undefined || '$ref' in header) throw new Error(`Say what ${name} means.`);
      const example = name in RETRY_AFTER ? Number(value) : value;
      return [name, { ...header, required: true, example }];
    }),
  );
}
