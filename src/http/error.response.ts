import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import {
  MOST_FIELD_ERRORS,
  type AppError,
  type ErrorCode,
  type FieldErrorCode,
} from '../common/errors.js';
import { REQUEST_ID_PATTERN } from './request-context.js';
import { openCodeOf } from './schemas.js';

/** In no order; the record makes the compiler ask for each. */
export const FIELD_ERROR_CODES: Readonly<Record<FieldErrorCode, true>> = {
  required: true,
  wrong_type: true,
  unknown_field: true,
  too_small: true,
  too_large: true,
  too_short: true,
  too_long: true,
  too_many: true,
  too_deep: true,
  blank: true,
  control_character: true,
  not_well_formed: true,
  invalid_format: true,
  not_allowed_value: true,
  pair_required: true,
  one_of_required: true,
  invalid_reference: true,
};

@ApiSchema({ name: 'FieldError', description: 'One thing that is wrong with the request.' })
export class FieldErrorResponse {
  @ApiProperty({
    description: 'Name of the member or parameter; empty when the whole body is meant.',
    example: 'latitude',
  })
  field: string;

  @ApiProperty({
    ...openCodeOf('FieldErrorCode'),
    description: 'Stable code of what is wrong. Expect new values.',
    example: 'too_large',
    type: String,
  })
  code: FieldErrorCode;

  @ApiProperty({
    description: 'The same for people.',
    minLength: 1,
    example: 'latitude must be at most 90.',
  })
  message: string;
}

@ApiSchema({
  name: 'Error',
  description: 'What went wrong: the body of every error under /dev/v1.',
})
export class ErrorResponse {
  @ApiProperty({
    ...openCodeOf('ErrorCode'),
    description: 'Stable code of the error. Expect new values.',
    example: 'invalid_request' satisfies ErrorCode,
  })
  error: string;

  @ApiProperty({
    description: 'What went wrong and what to do, for people.',
    minLength: 1,
    example: '1 field is invalid: latitude.',
  })
  error_description: string;

  @ApiProperty({
    description: 'Id of this request, as in X-Request-Id; tell it to support.',
    pattern: REQUEST_ID_PATTERN,
    example: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  request_id: string;

  @ApiPropertyOptional({
    description: `Every violation, at most ${MOST_FIELD_ERRORS}.`,
    type: () => [FieldErrorResponse],
    minItems: 1,
    maxItems: MOST_FIELD_ERRORS,
  })
  errors?: FieldErrorResponse[];

  @ApiProperty({
    description: 'Where the code is explained.',
    format: 'uri',
    example: 'https://api.example.com/docs/errors#invalid_request',
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
