import { Controller, HttpCode, Post } from '@nestjs/common';
import type { App } from '../apps/app.entity.js';
import { ClientEndpoint } from '../client-request/client-endpoint.decorator.js';
import { ClientOf, FormOf } from '../client-request/client.guard.js';
import type { Parameters } from '../parameters.js';
import { ApiRevocation } from './revocation.openapi.js';
import { TokenRevocation } from './token-revocation.js';

/** The revocation endpoint (RFC 7009). */
@ClientEndpoint('revocation')
@Controller('oauth/revoke')
export class RevocationController {
  constructor(private readonly revocation: TokenRevocation) {}

  /** An empty object rather than nothing: clients read it as JSON. */
  @Post()
  @HttpCode(200)
  @ApiRevocation()
  async revoke(
    @ClientOf() app: App,
    @FormOf() parameters: Parameters,
  ): Promise<Record<string, never>> {
    await this.revocation.revoke(app, parameters.require('token'));
    return {};
  }
}
