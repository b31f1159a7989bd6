import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { openCodeOf } from '../../../../http/schemas.js';
import type { OAuthError, OAuthErrorCode } from '../../oauth.errors.js';
import { TooManyAttempts } from '../../oauth.errors.js';

/** Those that apps are told in a body; the others go to the redirect URI. */
export const CODES = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'unsupported_grant_type',
  'server_error',
  'temporarily_unavailable',
  'too_many_attempts',
] as const satisfies readonly OAuthErrorCode[];

@ApiSchema({
  name: 'OAuthError',
  description: 'What went wrong: the error response of RFC 6749 §5.2.',
})
export class OAuthErrorResponse {
  @ApiProperty({
    description: 'Stable code of the error. Expect new values.',
    ...openCodeOf('OAuthErrorCode'),
    example: 'invalid_grant',
  })
  error: string;

  @ApiProperty({
    description: 'What went wrong and what to do, for people, in ASCII.',
    pattern: '^[\\x20-\\x21\\x23-\\x5B\\x5D-\\x7E]+$',
    example: 'The code has expired.',
  })
  error_description: string;

  @ApiPropertyOptional({
    description: 'Only with too_many_attempts.',
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
