import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { ApiClientEndpoint, formText } from '../client-request/client-endpoint.openapi.js';
import { TokenResponse } from './dto/token.response.js';

/** The token endpoint in the published document (source document, section 4.1). */
export function ApiToken(): MethodDecorator {
  return applyDecorators(
    ApiClientEndpoint({
      operationId: 'token',
      summary: 'Exchange a code or a refresh token for tokens',
      description:
        'Confidential apps send their secret with HTTP Basic or in the form; public apps send the PKCE verifier instead. ' +
        'Every refresh returns a new refresh token, and the one that was sent stops working. When the answer of a refresh ' +
        'is lost, the same refresh may be sent again within 30 seconds and gets the same answer. After a 503 you may take longer, ' +
        'and send an exchange again, too: for ten minutes, while the process runs that could not tell.',
      form: {
        grant_type: {
          type: 'string',
          enum: ['authorization_code', 'refresh_token'],
          description: 'What is exchanged.',
        },
        code: formText('With authorization_code.'),
        redirect_uri: formText('With authorization_code: the one of the authorization request.'),
        code_verifier: {
          ...formText('With authorization_code, when the request had a code_challenge.'),
          pattern: '^[A-Za-z0-9._~-]{43,128}$',
        },
        refresh_token: formText('With refresh_token.'),
        scope: formText(
          'With refresh_token: fewer scopes than were granted, for this access token only.',
        ),
      },
      required: ['grant_type'],
      alternatives: [
        { grant_type: 'authorization_code', required: ['code', 'redirect_uri'] },
        { grant_type: 'refresh_token', required: ['refresh_token'] },
      ],
      refusals: {
        invalid_request: 'code is required.',
        invalid_grant: 'The code has expired.',
        invalid_scope: 'scope may not exceed what the user granted.',
        unsupported_grant_type: 'grant_type must be authorization_code or refresh_token.',
      },
      throttled: 429,
    }),
    ApiOkResponse({ type: TokenResponse }),
  );
}
