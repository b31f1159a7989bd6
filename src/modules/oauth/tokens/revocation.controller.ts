import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import {
  ApiClientEndpoint,
  ClientEndpoint,
  formParameter,
  requiredFormParameter,
} from '../clients/client-endpoint.decorator.js';
import type { App } from '../clients/client.entities.js';
import { AuthenticatedClient, FormParameters } from '../clients/client.guard.js';
import type { Parameters } from '../protocol/parameters.js';
import { TokensService } from './tokens.service.js';

/** The revocation endpoint (RFC 7009). */
@ClientEndpoint('revocation')
@Controller('oauth/revoke')
export class RevocationController {
  constructor(private readonly tokens: TokensService) {}

  /** Returns an empty object, because clients parse the body as JSON. */
  @Post()
  @HttpCode(200)
  @ApiClientEndpoint({
    operationId: 'revoke',
    summary: 'Revoke a token',
    description:
      'Revoking an access token affects only that token. Revoking a refresh token revokes its grant and all tokens of the ' +
      'grant. Unknown and inactive tokens return 200 as well (RFC 7009 §2.2).',
    form: {
      token: requiredFormParameter('An access token or a refresh token of this app.'),
      token_type_hint: formParameter('Ignored: the prefix of a token shows its type.'),
    },
    required: ['token'],
    errorExamples: { invalid_request: 'The token was issued to another client.' },
    tooManyAttemptsStatus: 503,
  })
  @ApiOkResponse({
    description: 'The token is no longer valid.',
    content: { 'application/json': { schema: { type: 'object', maxProperties: 0 } } },
  })
  async revoke(
    @AuthenticatedClient() app: App,
    @FormParameters() parameters: Parameters,
  ): Promise<Record<string, never>> {
    await this.tokens.revoke(app, parameters.require('token'));
    return {};
  }
}
