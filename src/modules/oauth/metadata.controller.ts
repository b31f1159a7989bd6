import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { type Language, LANGUAGES } from '../../pages/language.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { type Scope, SCOPES } from '../../platform/access/scopes.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { PROMPTS } from './authorize/authorize-checks.js';

const ISSUER = 'https://dev.example.com';
const CONFIDENTIAL = ['client_secret_basic', 'client_secret_post'];
const ALL = [...CONFIDENTIAL, 'none'];
const address = (
  path: string,
  description: string,
): { description: string; format: string; example: string } => ({
  description,
  format: 'uri',
  example: `${ISSUER}${path}`,
});

@ApiSchema({ name: 'ServerMetadata', description: 'Authorization server metadata (RFC 8414 §2).' })
export class MetadataResponse {
  @ApiProperty(address('', 'What `iss` of every redirect equals.'))
  issuer: string;

  @ApiProperty(address('/oauth/authorize', 'Where browsers are sent.'))
  authorization_endpoint: string;

  @ApiProperty(address('/oauth/token', 'Where codes and refresh tokens are exchanged.'))
  token_endpoint: string;

  @ApiProperty(address('/oauth/revoke', 'Where tokens are given back.'))
  revocation_endpoint: string;

  @ApiProperty(address('/oauth/introspect', 'Where a token is asked about.'))
  introspection_endpoint: string;

  @ApiProperty({ description: 'What `response_type` may be.', isArray: true, enum: ['code'] })
  response_types_supported: ['code'];

  @ApiProperty({ description: 'How redirects carry parameters.', isArray: true, enum: ['query'] })
  response_modes_supported: ['query'];

  @ApiProperty({
    description: 'What `grant_type` may be.',
    isArray: true,
    enum: ['authorization_code', 'refresh_token'],
  })
  grant_types_supported: string[];

  @ApiProperty({ description: 'How apps prove themselves there.', isArray: true, enum: ALL })
  token_endpoint_auth_methods_supported: string[];

  @ApiProperty({ description: 'The same for revocation.', isArray: true, enum: ALL })
  revocation_endpoint_auth_methods_supported: string[];

  @ApiProperty({ description: 'The same for introspection.', isArray: true, enum: CONFIDENTIAL })
  introspection_endpoint_auth_methods_supported: string[];

  @ApiProperty({ description: 'PKCE methods.', isArray: true, enum: ['S256'] })
  code_challenge_methods_supported: ['S256'];

  @ApiProperty({ description: 'Every scope.', isArray: true, enum: SCOPES })
  scopes_supported: readonly Scope[];

  @ApiProperty({ description: 'What `prompt` may be.', isArray: true, enum: PROMPTS })
  prompt_values_supported: readonly string[];

  @ApiProperty({
    isArray: true,
    enum: LANGUAGES,
    description: 'What the pages can be asked for by `ui_locales`.',
  })
  ui_locales_supported: readonly Language[];

  @ApiProperty({ enum: [true], description: 'Every redirect names the issuer (RFC 9207 §3).' })
  authorization_response_iss_parameter_supported: true;

  @ApiProperty(address('/docs', 'Documentation for developers.'))
  service_documentation: string;

  /** The same whatever the request says about hosts: the issuer is configured. */
  static of(issuer: string): MetadataResponse {
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ALL,
      revocation_endpoint_auth_methods_supported: ALL,
      introspection_endpoint_auth_methods_supported: CONFIDENTIAL,
      code_challenge_methods_supported: ['S256'],
      scopes_supported: SCOPES,
      prompt_values_supported: PROMPTS,
      ui_locales_supported: LANGUAGES,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
    };
  }
}

/** The authorization server's metadata (RFC 8414 §3), for every client that looks for it. */
@Public()
@ApiTags('oauth')
@Controller('.well-known')
export class MetadataController {
  constructor(private readonly config: AppConfig) {}

  @Get('oauth-authorization-server')
  @Header('Access-Control-Allow-Origin', '*')
  @Header('Cache-Control', 'public, max-age=3600')
  @ApiOperation({
    operationId: 'metadata',
    security: [],
    summary: 'What this authorization server can do',
    description: 'RFC 8414. What is not listed here is refused.',
  })
  @ApiOkResponse({ type: MetadataResponse })
  metadata(): MetadataResponse {
    return MetadataResponse.of(this.config.publicUrl);
  }
}
