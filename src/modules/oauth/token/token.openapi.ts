import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { OAuthErrorResponse } from './dto/oauth-error.response.js';
import { TokenResponse } from './dto/token.response.js';

const text = (description: string): { type: 'string'; description: string } => ({
  type: 'string',
  description,
});
const example = (error: string, error_description: string): object => ({
  summary: error,
  value: { error, error_description },
});

/** The token endpoint in the published document (source document, section 4.1). */
export function ApiToken(): MethodDecorator {
  return applyDecorators(
    ApiTags('oauth'),
    ApiOperation({
      operationId: 'token',
      summary: 'Exchange a code or a refresh token for tokens',
      description:
        'Confidential apps send their secret with HTTP Basic or in the form; public apps send the PKCE verifier instead. ' +
        'Every refresh returns a new refresh token, and the one that was sent stops working.',
    }),
    ApiConsumes('application/x-www-form-urlencoded'),
    ApiBody({
      schema: {
        type: 'object',
        required: ['grant_type'],
        properties: {
          grant_type: { type: 'string', enum: ['authorization_code', 'refresh_token'] },
          client_id: text('Required unless HTTP Basic is used.'),
          client_secret: text('Of a confidential app, unless HTTP Basic is used.'),
          code: text('With authorization_code.'),
          redirect_uri: text('With authorization_code: the one of the authorization request.'),
          code_verifier: text('With authorization_code, when the request had a code_challenge.'),
          refresh_token: text('With refresh_token.'),
          scope: text(
            'With refresh_token: fewer scopes than were granted, for this access token only.',
          ),
        },
      },
    }),
    ApiOkResponse({
      type: TokenResponse,
      headers: { 'Cache-Control': { schema: { type: 'string', enum: ['no-store'] } } },
    }),
    ApiResponse({
      status: 400,
      type: OAuthErrorResponse,
      description: 'The request is refused (RFC 6749 §5.2).',
      examples: {
        invalid_request: example('invalid_request', 'code is required.'),
        invalid_grant: example('invalid_grant', 'The code has expired.'),
        invalid_scope: example('invalid_scope', 'scope may not exceed what the user granted.'),
        unsupported_grant_type: example(
          'unsupported_grant_type',
          'grant_type must be authorization_code or refresh_token.',
        ),
      } as never,
    }),
    ApiResponse({
      status: 401,
      type: OAuthErrorResponse,
      description: 'The app could not be authenticated.',
      headers: {
        'WWW-Authenticate': {
          description: 'When HTTP Basic was tried.',
          schema: { type: 'string' },
        },
      },
      examples: {
        invalid_client: example(
          'invalid_client',
          'The client is unknown or its credentials are wrong.',
        ),
      } as never,
    }),
    ApiResponse({
      status: 413,
      type: OAuthErrorResponse,
      description: '`invalid_request`: the form is too large.',
    }),
    ApiResponse({
      status: 429,
      type: OAuthErrorResponse,
      description: 'Too many attempts.',
      headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
    }),
    ApiResponse({ status: 500, type: OAuthErrorResponse, description: '`server_error`' }),
    ApiResponse({
      status: 503,
      type: OAuthErrorResponse,
      description: '`temporarily_unavailable`: try again.',
      headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
    }),
  );
}
