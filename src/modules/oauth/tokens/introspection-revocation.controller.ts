import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import type { Request } from 'express';
import { formatScope } from '../../../platform/access/scopes.js';
import { SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { UNIX_SECONDS } from '../../../platform/http/validation/schemas.openapi.js';
import {
  ApiClientEndpoint,
  ClientEndpoint,
  formParameter,
  requiredFormParameter,
} from '../clients/client-endpoint.decorator.js';
import type { App } from '../clients/client.entities.js';
import { AuthenticatedClient, FormParameters } from '../clients/client.guard.js';
import { InvalidClient } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import type { StoredToken } from './tokens.repository.js';
import { TokensService } from './tokens.service.js';

@ApiSchema({
  name: 'Introspection',
  description:
    'The introspection response (RFC 7662 §2.2). An inactive token has only the member `active`.',
})
export class IntrospectionResponse {
  @ApiProperty({ description: 'Whether the token is active.', example: true })
  active: boolean;

  @ApiPropertyOptional({
    description: 'The scopes, separated by spaces.',
    example: 'profile.read posts.read',
  })
  scope?: string;

  @ApiPropertyOptional({
    description: 'The app that the token was issued to.',
    example: 'svc_app_01h455vb4pex5vsknk084sn02q',
  })
  client_id?: string;

  @ApiPropertyOptional({
    description: "The user's id.",
    example: 'usr_01h455vb4pex5vsknk084sn02q',
  })
  sub?: string;

  @ApiPropertyOptional({
    ...UNIX_SECONDS,
    description: 'When the token expires, in seconds since 1970.',
    example: 1_795_255_800,
  })
  exp?: number;

  @ApiPropertyOptional({
    ...UNIX_SECONDS,
    description: 'When the token was issued, in seconds since 1970.',
    example: 1_795_252_200,
  })
  iat?: number;

  @ApiPropertyOptional({ enum: ['Bearer'], description: 'Only for access tokens.' })
  token_type?: 'Bearer';

  @ApiPropertyOptional({
    format: 'uri',
    description: 'The issuer.',
    example: 'https://dev.example.com',
  })
  iss?: string;

  static from(
    { kind, scopes, clientId, userId, expiresAt, createdAt }: StoredToken,
    issuer: string,
  ): IntrospectionResponse {
    return {
      active: true,
      scope: formatScope(scopes),
      client_id: clientId,
      sub: userId,
      exp: toUnixSeconds(expiresAt),
      iat: toUnixSeconds(createdAt),
      ...(kind === 'access' && { token_type: 'Bearer' }),
      iss: issuer,
    };
  }
}

function toUnixSeconds(time: Date): number {
  return Math.floor(time.getTime() / SECOND);
}

/** The introspection endpoint (RFC 7662). */
@ClientEndpoint('introspection', { cors: false })
@Controller('oauth/introspect')
export class IntrospectionController {
  constructor(
    private readonly tokens: TokensService,
    private readonly config: AppConfig,
  ) {}

  /** For confidential apps only: public apps cannot authenticate (RFC 7662 §2.1). */
  @Post()
  @HttpCode(200)
  @ApiClientEndpoint({
    operationId: 'introspect',
    summary: 'Introspect a token',
    description:
      'Confidential apps can introspect their own tokens. For all other tokens, and for inactive ones, the response is ' +
      '`{"active": false}`.',
    form: {
      token: requiredFormParameter('An access token or a refresh token.'),
      token_type_hint: formParameter('Ignored: the prefix of a token shows its type.'),
    },
    required: ['token'],
    errorExamples: { invalid_request: 'token is required.' },
    tooManyAttemptsStatus: 429,
  })
  @ApiOkResponse({ type: IntrospectionResponse })
  async introspect(
    @Req() request: Request,
    @AuthenticatedClient() app: App,
    @FormParameters() parameters: Parameters,
  ): Promise<IntrospectionResponse> {
    if (app.kind === 'public')
      throw new InvalidClient({
        needsChallenge: request.headers.authorization !== undefined,
        clientId: app.clientId,
        description:
          'Introspection requires a client secret, which public apps do not have. Read the scope from the token response instead.',
      });
    const token = await this.tokens.findActive(app, parameters.require('token'));
    return token ? IntrospectionResponse.from(token, this.config.publicUrl) : { active: false };
  }
}

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
