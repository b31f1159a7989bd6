import { applyDecorators } from '@nestjs/common';
import { ApiResponse, type ApiResponseOptions } from '@nestjs/swagger';
import { ServiceUnavailable, type ErrorClass, type ErrorCode } from '../common/errors.js';
import { ERROR_STATUS } from './error-status.js';
import { ErrorResponse, type FieldErrorResponse } from './error.response.js';
import { InternalError } from './http-error.js';
import { RATE_LIMIT_HEADERS } from './rate-limit-headers.js';
import { RETRY_AFTER } from './schemas.js';

const CHALLENGE = {
  'WWW-Authenticate': {
    description: 'The challenge (RFC 6750 §3).',
    required: true,
    schema: { type: 'string' as const, minLength: 1, example: 'Bearer realm="dev"' },
  },
};
const FIELD_EXAMPLE: FieldErrorResponse = {
  field: 'latitude',
  code: 'too_large',
  message: 'latitude must be at most 90.',
};

const HEADERS: Partial<Record<ErrorCode, ApiResponseOptions['headers']>> = {
  unauthorized: CHALLENGE,
  invalid_token: CHALLENGE,
  insufficient_scope: CHALLENGE,
  quota_exceeded: { ...RETRY_AFTER, ...RATE_LIMIT_HEADERS },
  idempotency_key_in_use: RETRY_AFTER,
  service_unavailable: RETRY_AFTER,
};

/** Documents which errors an operation can answer: each with its status, body, headers and an example. */
export function ApiErrors(...classes: ErrorClass[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ...classes.map(({ code, example }) =>
      ApiResponse({
        status: ERROR_STATUS[code],
        type: ErrorResponse,
        description: `\`${code}\``,
        ...(HEADERS[code] && { headers: HEADERS[code] }),
        examples: { [code]: { summary: example, value: exampleBody(code, example) } },
      }),
    ),
  );
}

/** What every operation can answer when the service itself is at fault. */
export const ApiFaults = (): MethodDecorator & ClassDecorator =>
  ApiErrors(InternalError, ServiceUnavailable);

function exampleBody(code: ErrorCode, description: string): ErrorResponse {
  return {
    error: code,
    error_description: description,
    request_id: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
    ...(code === 'invalid_request' && { errors: [FIELD_EXAMPLE] }),
    doc_url: `https://api.example.com/docs/errors#${code}`,
  };
}
