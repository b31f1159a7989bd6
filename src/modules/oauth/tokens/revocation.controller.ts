import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import {
  ApiClientEndpoint,
  ClientEndpoint,
  formText,
  formValue,
} from '../clients/client-endpoint.decorator.js';
import type { App } from '../clients/client.entities.js';
import { ClientOf, FormOf } from '../clients/client.guard.js';
import type { Parameters } from '../protocol/parameters.js';
import { TokensService } from './tokens.service.js';

/** The revocation endpoint (RFC 7009). */
@ClientEndpoint('revocation')
@Controller('oauth/revoke')
export class RevocationController {
  constructor(private readonly tokens: TokensService) {}

  /** An empty object rather than nothing: clients read it as JSON. */
  @Post()
  @HttpCode(200)
  @ApiClientEndpoint({
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
  })
  @ApiOkResponse({
    description: 'The token opens nothing any more.',
    content: { 'application/json': { schema: { type: 'object', maxProperties: 0 } } },
  })
  async revoke(
    @ClientOf() app: App,
    @FormOf() parameters: Parameters,
  ): Promise<Record<string, never>> {
    await this.tokens.revoke(app, parameters.require('token'));
    return {};
  }
}
