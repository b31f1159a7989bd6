import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import {
  ApiClientEndpoint,
  formText,
  formValue,
} from '../client-request/client-endpoint.openapi.js';

/** The revocation endpoint in the published document (RFC 7009). */
export function ApiRevocation(): MethodDecorator {
  return applyDecorators(
    ApiClientEndpoint({
      operationId: 'revoke',
      summary: 'Give a token back',
      description:
        'Ends an access token at once, or, with a refresh token, everything that the user allowed with it. A token that is ' +
        'unknown or has ended already is answered 200, too.',
      form: {
        token: formValue('An access token or a refresh token of this app.'),
        token_type_hint: formText('Not needed: a token tells by itself what it is.'),
      },
      required: ['token'],
      refusals: { invalid_request: 'The token was issued to another client.' },
      throttled: 503,
    }),
    ApiOkResponse({
      description: 'The token opens nothing any more.',
      content: { 'application/json': { schema: { type: 'object', maxProperties: 0 } } },
    }),
  );
}
