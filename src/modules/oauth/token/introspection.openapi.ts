import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import {
  ApiClientEndpoint,
  formText,
  formValue,
} from '../client-request/client-endpoint.openapi.js';
import { IntrospectionResponse } from './dto/introspection.response.js';

/** The introspection endpoint in the published document (RFC 7662). */
export function ApiIntrospection(): MethodDecorator {
  return applyDecorators(
    ApiClientEndpoint({
      operationId: 'introspect',
      summary: 'Ask what a token stands for',
      description:
        'For confidential apps, about their own tokens. Every other token, and every token that is not alive, is ' +
        '`{"active": false}`.',
      form: {
        token: formValue('An access token or a refresh token.'),
        token_type_hint: formText('Not needed: a token tells by itself what it is.'),
      },
      required: ['token'],
      refusals: { invalid_request: 'token is required.' },
      throttled: 429,
    }),
    ApiOkResponse({ type: IntrospectionResponse }),
  );
}
