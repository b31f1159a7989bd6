import {
  Body,
  Controller,
  Header,
  HttpCode,
  Post,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import type { Request } from 'express';
import { Public } from '../../../access/public.decorator.js';
import { ClientAuthenticator } from '../apps/client-authenticator.js';
import { FormBodyGuard } from '../form-body.guard.js';
import { InvalidRequest, UnsupportedGrantType } from '../oauth.errors.js';
import { Parameters } from '../parameters.js';
import { Throttled } from '../throttle/oauth-throttler.guard.js';
import { AuthorizationCodeGrant } from './authorization-code.grant.js';
import { TokenResponse } from './dto/token.response.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { RefreshTokenGrant } from './refresh-token.grant.js';
import { ApiToken } from './token.openapi.js';
import type { IssuedTokens } from './token-issuer.js';

/** The token endpoint (RFC 6749 §3.2). */
@Public()
@UseFilters(OAuthErrorFilter)
@UseGuards(FormBodyGuard)
@Controller('oauth/token')
export class TokenController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly authorizationCode: AuthorizationCodeGrant,
    private readonly refreshToken: RefreshTokenGrant,
  ) {}

  @Post()
  @HttpCode(200)
  @Throttled('token')
  @Header('Cache-Control', 'no-store')
  @Header('Pragma', 'no-cache')
  @ApiToken()
  async token(
    @Req() request: Request,
    @Body() form: Record<string, unknown>,
  ): Promise<TokenResponse> {
    const parameters = new Parameters(form);
    const [repeated] = parameters.repeated();
    if (repeated !== undefined) throw new InvalidRequest('Every parameter must be sent once.');
    if (request.query['client_secret'] !== undefined) {
      throw new InvalidRequest(
        'Never send the client secret in a URL: it is logged on its way. Ask for a new one.',
      );
    }
    return TokenResponse.from(await this.issue(request, parameters));
  }

  private async issue(request: Request, parameters: Parameters): Promise<IssuedTokens> {
    switch (parameters.require('grant_type')) {
      case 'authorization_code':
        return this.authorizationCode.exchange(
          await this.clients.authenticate(request, parameters),
          parameters,
        );
      case 'refresh_token':
        return this.refreshToken.refresh(
          await this.clients.authenticate(request, parameters),
          parameters,
        );
      default:
        throw new UnsupportedGrantType();
    }
  }
}
