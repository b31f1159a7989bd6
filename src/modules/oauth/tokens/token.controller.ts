import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Post,
  UseGuards,
} from '@nestjs/common';
import { ApiOkResponse, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { formatScope } from '../../../platform/access/scopes.js';
import { ApiTestFault, applyTestFault } from '../../../platform/access/test-fault.js';
import { Clock, secondsUntil } from '../../../platform/clock.js';
import {
  ApiClientEndpoint,
  ClientEndpoint,
  formParameter,
} from '../clients/client-endpoint.decorator.js';
import type { App } from '../clients/client.entities.js';
import { AuthenticatedClient, FormParameters } from '../clients/client.guard.js';
import {
  OAuthError,
  OAuthInvalidRequest,
  TemporarilyUnavailable,
} from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { AuthorizationCodeGrant } from './authorization-code.grant.js';
import { RefreshTokenGrant } from './refresh-token.grant.js';
import type { IssuedTokens } from './token-issuer.js';

@ApiSchema({ name: 'Token', description: 'The token response (RFC 6749 §5.1).' })
export class TokenResponse {
  @ApiProperty({
    description: 'The access token for API requests.',
    pattern: '^svcat_[A-Za-z0-9_-]{43}$',
    example: 'svcat_7Zr0cN3VxH5nQkS2mYw8bTfJdLpGaEuR1oXiK4vC9sM',
  })
  access_token: string;

  @ApiProperty({
    description: 'The type of the access token (RFC 6750).',
    enum: ['Bearer'],
    example: 'Bearer',
  })
  token_type: 'Bearer';

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Lifetime of the access token, in seconds.',
    example: 3600,
  })
  expires_in: number;

  @ApiProperty({
    description: 'The refresh token for the next pair of tokens. It can be used once.',
    pattern: '^svcrt_[A-Za-z0-9_-]{43}$',
    example: 'svcrt_Q2mYw8bTfJdLpGaEuR1oXiK4vC9sM7Zr0cN3VxH5nkS',
  })
  refresh_token: string;

  @ApiProperty({
    description:
      'The granted scopes, separated by spaces. They can be fewer than the requested scopes.',
    example: 'profile.read posts.read',
  })
  scope: string;

  static from(
    { accessToken, refreshToken, expiresAt, scopes }: IssuedTokens,
    now: Date,
  ): TokenResponse {
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      // At least 1: some clients read 0 as "does not expire".
      expires_in: secondsUntil(expiresAt, now),
      refresh_token: refreshToken,
      scope: formatScope(scopes),
    };
  }
}

/** Simulates faults of token requests of test apps. Runs after the guards of the controller, so the request counts towards its limit. */
@Injectable()
class TokenFaultGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    if (!request.context.authenticatedClient?.test) return true;
    const fault = await applyTestFault(request, response, {
      codes: ['service_unavailable'],
      reject: (description) => new OAuthInvalidRequest(description),
    });
    if (fault) throw new TemporarilyUnavailable();
    return true;
  }
}

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
  @UseGuards(TokenFaultGuard)
  @ApiClientEndpoint({
    operationId: 'token',
    summary: 'Exchange a code or a refresh token for tokens',
    description:
      'Confidential apps authenticate with their secret, by HTTP Basic or in the form; public apps send the PKCE verifier ' +
      'instead. Every refresh returns a new refresh token and invalidates the old one. If the response to a refresh is lost, ' +
      'send the same request again, once, within 30 seconds to get the same response. After a 503, a code may have been used: ' +
      'a retry can return `invalid_grant`.',
    form: {
      grant_type: {
        type: 'string',
        enum: ['authorization_code', 'refresh_token'],
        description: 'The grant type.',
      },
      code: formParameter('Required with authorization_code.'),
      redirect_uri: formParameter(
        'Required with authorization_code: the redirect_uri of the authorization request.',
      ),
      code_verifier: {
        ...formParameter(
          'Required with authorization_code, if the authorization request had a code_challenge.',
        ),
        pattern: '^[A-Za-z0-9._~-]{43,128}$',
      },
      refresh_token: formParameter('Required with refresh_token.'),
      scope: formParameter(
        'With refresh_token: a subset of the granted scopes, for this access token only. `offline_access` is ignored.',
      ),
    },
    required: ['grant_type'],
    errorExamples: {
      invalid_request: 'code is required.',
      invalid_grant: 'The code has expired.',
      invalid_scope: 'scope must contain only scopes that the user granted, separated by spaces.',
      unsupported_grant_type: 'grant_type must be authorization_code or refresh_token.',
    },
    tooManyAttemptsStatus: 429,
  })
  @ApiTestFault(
    'Test apps only; ignored for real apps. `service_unavailable` returns 503 with the error `temporarily_unavailable`, and stores nothing. ',
  )
  @ApiOkResponse({ type: TokenResponse })
  async token(
    @AuthenticatedClient() app: App,
    @FormParameters() parameters: Parameters,
  ): Promise<TokenResponse> {
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
        throw new OAuthError(
          'unsupported_grant_type',
          'grant_type must be authorization_code or refresh_token.',
        );
    }
  }
}
