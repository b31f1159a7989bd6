import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import type { OAuthError } from '../../oauth.errors.js';
import { TooManyAttempts } from '../../oauth.errors.js';

@ApiSchema({ name: 'OAuthError', description: 'The error response of RFC 6749 §5.2.' })
export class OAuthErrorResponse {
  @ApiProperty({ example: 'invalid_grant' })
  error: string;

  @ApiProperty({ example: 'The code has expired.' })
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
