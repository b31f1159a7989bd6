import { applyDecorators } from '@nestjs/common';
import {
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  type ApiResponseOptions,
  ApiSchema,
} from '@nestjs/swagger';
import {
  type AppError,
  type ErrorCode,
  type FieldErrorCode,
  InternalError,
  MAX_FIELD_ERRORS,
  ServiceUnavailable,
} from '../../errors.js';
import {
  RATE_LIMIT_HEADERS,
  RESOURCE_METADATA_PATH,
  WRITE_LIMIT_HEADERS,
  WRITES_MINUTE,
  EXAMPLE_ORIGIN,
} from '../developer-api.js';
import { REQUEST_ID_PATTERN } from '../http-request-context.js';
import { extensibleEnumOf, RETRY_AFTER } from '../validation/schemas.openapi.js';

@ApiSchema({ name: 'FieldError', description: 'A violation in the request.' })
export class FieldErrorResponse {
  @ApiProperty({
    description: 'Name of the member, parameter or header; empty for the whole body.',
    example: 'latitude',
  })
  field: string;

  @ApiProperty({
    ...extensibleEnumOf('FieldErrorCode'),
    description: 'Stable code of the violation. Expect new values.',
    example: 'too_large',
    type: String,
  })
  code: FieldErrorCode;

  @ApiProperty({
    description: 'Human-readable message.',
    minLength: 1,
    example: 'latitude must be at most 90.',
  })
  message: string;
}

@ApiSchema({
  name: 'Error',
  description: 'The body of every error response under /dev/v1.',
})
export class ErrorResponse {
  @ApiProperty({
    ...extensibleEnumOf('ErrorCode'),
    description: 'Machine-readable error code. New codes may be added.',
    example: 'invalid_request' satisfies ErrorCode,
  })
  error: string;

  @ApiProperty({
    description: 'What went wrong and what to do; human-readable.',
    minLength: 1,
    example: '1 field is invalid: latitude.',
  })
  error_description: string;

  @ApiProperty({
    description: 'Id of this request, as in X-Request-Id. Include it when you contact support.',
    pattern: REQUEST_ID_PATTERN,
    example: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  request_id: string;

  @ApiPropertyOptional({
    description: `All violations, at most ${MAX_FIELD_ERRORS}.`,
    type: () => [FieldErrorResponse],
    minItems: 1,
    maxItems: MAX_FIELD_ERRORS,
  })
  errors?: FieldErrorResponse[];

  @ApiProperty({
    description: 'Documentation of the error code.',
    format: 'uri',
    example: `${EXAMPLE_ORIGIN}/docs/errors#invalid_request`,
  })
  doc_url: string;

  static from(error: AppError, requestId: string, publicUrl: string): ErrorResponse {
    const { errors } = error.extras;
    return {
      error: error.code,
      error_description: error.message,
      request_id: requestId,
      ...(errors && { errors: [...errors] }),
      doc_url: `${publicUrl}/docs/errors#${error.code}`,
    };
  }
}

/** The headers of an error response. A challenge gets the URL of the metadata of the API (RFC 9728 §5.1). */
export function errorHeaders({ extras }: AppError, publicUrl: string): Record<string, string> {
  const challenge = extras.headers?.['WWW-Authenticate'];
  return {
    ...extras.headers,
    ...(challenge !== undefined && {
      'WWW-Authenticate': `${challenge}, resource_metadata="${publicUrl}${RESOURCE_METADATA_PATH}"`,
    }),
  };
}

/** Documentation of the headers of error responses. */
const HEADERS: NonNullable<ApiResponseOptions['headers']> = {
  'WWW-Authenticate': {
    description:
      'The challenge (RFC 6750 §3), with the URL of the metadata of the API (RFC 9728 §5.1).',
    schema: { type: 'string', minLength: 1 },
  },
  ...RETRY_AFTER,
  ...RATE_LIMIT_HEADERS,
};

/** The documented errors of a handler or controller. */
export const DOCUMENTED_ERRORS = 'http:documented-errors';

/**
 * Documents the errors of an operation by examples. The key of an example is the code of the first field error, else the error code;
 * keys must be unique.
 */
export function ApiErrors(...errors: AppError[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    addDocumentedErrors(errors),
    ...errors.map((error) => {
      const { code, extras, message } = error;
      const value = ErrorResponse.from(error, 'req_01kahq5f3veqdr8bn3tdmx3q0a', EXAMPLE_ORIGIN);
      return ApiResponse({
        status: error.httpStatus,
        type: ErrorResponse,
        ...(extras.headers && { headers: documented(errorHeaders(error, EXAMPLE_ORIGIN)) }),
        examples: { [extras.errors?.[0]?.code ?? code]: { summary: message, value } },
      });
    }),
  );
}

/** Documents the server errors, which every operation can return. */
export const ApiServerErrors = (): MethodDecorator & ClassDecorator =>
  ApiErrors(new InternalError(), new ServiceUnavailable());

/** Adds the errors to those of other decorators of the same handler or controller. */
function addDocumentedErrors(errors: readonly AppError[]): MethodDecorator & ClassDecorator {
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor) => {
    const owner = (descriptor?.value ?? target) as object;
    const others = (Reflect.getMetadata(DOCUMENTED_ERRORS, owner) ?? []) as AppError[];
    Reflect.defineMetadata(DOCUMENTED_ERRORS, [...others, ...errors], owner);
  };
}

function documented(headers: Readonly<Record<string, string>>): ApiResponseOptions['headers'] {
  const isWriteLimit = headers['RateLimit']?.startsWith(`"${WRITES_MINUTE}"`) === true;
  const documentation: typeof HEADERS = { ...HEADERS, ...(isWriteLimit && WRITE_LIMIT_HEADERS) };
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const header = documentation[name];
      if (header === undefined || '$ref' in header)
        throw new Error(`The header ${name} has no documentation in HEADERS.`);
      const example = name in RETRY_AFTER ? Number(value) : value;
      return [name, { ...header, required: true, example }];
    }),
  );
}
