import { Controller, HttpCode, Post } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import type { App } from '../apps/app.entity.js';
import { ClientEndpoint } from '../client-request/client-endpoint.decorator.js';
import { ClientOf, FormOf } from '../client-request/client.guard.js';
import { UnsupportedGrantType } from '../oauth.errors.js';
import type { Parameters } from '../parameters.js';
import { AuthorizationCodeGrant } from './authorization-code.grant.js';
import { TokenResponse } from './dto/token.response.js';
import { RefreshTokenGrant } from './refresh-token.grant.js';
import { ApiToken } from './token.openapi.js';
import type { IssuedTokens } from './token-issuer.js';

/** The token endpoint (RFC 6749 §3.2). */
@ClientEndpoint('token')
@Controller('oauth/token')
export class TokenController {
  constructor(
    private readonly authorizationCode: AuthorizationCodeGrant,
    private readonly refreshToken: RefreshTokenGrant,
    private readonly clock: Clock,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiToken()
  async token(@ClientOf() app: App, @FormOf() parameters: Parameters): Promise<TokenResponse> {
    const tokens = await this.issue(app, parameters);
    return TokenResponse.from(tokens, this.clock.now());
  }

  private issue(app: App, parameters: Parameters): Promise<IssuedTokens> {
    switch (parameters.require('grant_type')) {
      case 'authorization_code':
        return this.authorizationCode.exchange(app, parameters);
      case 'refresh_token':
        return this.refreshToken.refresh(app, parameters);
      default:
        throw new UnsupportedGrantType();
    }
  }
}
