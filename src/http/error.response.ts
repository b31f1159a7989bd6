import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import type { AppError, FieldErrorCode } from '../common/errors.js';

/** More violations than these are not told. */
export const MOST_FIELD_ERRORS = 20;

@ApiSchema({ name: 'FieldError', description: 'One thing that is wrong with the request.' })
export class FieldErrorResponse {
  @ApiProperty({
    description: 'Name of the member or parameter; empty when the whole body is meant.',
    example: 'latitude',
  })
  field: string;

  @ApiProperty({
    description: 'Stable code of what is wrong. Expect new values.',
    example: 'too_large',
    type: String,
  })
  code: FieldErrorCode;

  @ApiProperty({ description: 'The same for people.', example: 'latitude must be at most 90.' })
  message: string;
}

@ApiSchema({ name: 'Error', description: 'The body of every error under /dev/v1.' })
export class ErrorResponse {
  @ApiProperty({ description: 'Stable code of the error.', example: 'invalid_request' })
  error: string;

  @ApiProperty({
    description: 'What went wrong and what to do, for people.',
    example: '1 field is invalid: latitude.',
  })
  error_description: string;

  @ApiProperty({
    description: 'Id of this request; tell it to support.',
    example: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  request_id: string;

  @ApiPropertyOptional({
    description: `Every violation, at most ${MOST_FIELD_ERRORS}.`,
    type: () => [FieldErrorResponse],
  })
  errors?: FieldErrorResponse[];

  @ApiProperty({
    description: 'Where the code is explained.',
    example: 'https://api.example.com/docs/errors#invalid_request',
  })
  doc_url: string;

  static from(error: AppError, requestId: string, publicUrl: string): ErrorResponse {
    const { errors } = error.extras;
    return {
      error: error.code,
      error_description: error.message,
      request_id: requestId,
      ...(errors && { errors: errors.slice(0, MOST_FIELD_ERRORS) }),
      doc_url: `${publicUrl}/docs/errors#${error.code}`,
    };
  }
}
