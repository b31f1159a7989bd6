import { Controller, Get, Header } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  type ApiPropertyOptions,
  ApiSchema,
  ApiTags,
} from '@nestjs/swagger';
import { LANGUAGES } from '../../pages/language.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { SCOPES } from '../../platform/access/scopes.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { PROMPTS } from './authorize/authorize-checks.js';

const ISSUER = 'https://dev.example.com';
const CONFIDENTIAL = ['client_secret_basic', 'client_secret_post'];
const ALL = [...CONFIDENTIAL, 'none'];
const GRANT_TYPES = ['authorization_code', 'refresh_token'];

const url = (path: string, description: string): ApiPropertyOptions => ({
  description,
  format: 'uri',
  example: `${ISSUER}${path}`,
});
const listOf = (values: readonly string[], description: string): ApiPropertyOptions => ({
  description,
  isArray: true,
  enum: [...values],
});

@ApiSchema({ name: 'ServerMetadata', description: 'Authorization server metadata (RFC 8414 §2).' })
class MetadataResponse {
  @ApiProperty(url('', 'What `iss` of every redirect equals.'))
  issuer: string;

  @ApiProperty(url('/oauth/authorize', 'Where browsers are sent.'))
  authorization_endpoint: string;

  @ApiProperty(url('/oauth/token', 'Where codes and refresh tokens are exchanged.'))
  token_endpoint: string;

  @ApiProperty(url('/oauth/revoke', 'Where tokens are given back.'))
  revocation_endpoint: string;

  @ApiProperty(url('/oauth/introspect', 'Where a token is asked about.'))
  introspection_endpoint: string;

  @ApiProperty(listOf(['code'], 'What `response_type` may be.'))
  response_types_supported: string[];

  @ApiProperty(listOf(['query'], 'How redirects carry parameters.'))
  response_modes_supported: string[];

  @ApiProperty(listOf(GRANT_TYPES, 'What `grant_type` may be.'))
  grant_types_supported: readonly string[];

  @ApiProperty(listOf(ALL, 'How apps prove themselves there.'))
  token_endpoint_auth_methods_supported: string[];

  @ApiProperty(listOf(ALL, 'The same for revocation.'))
  revocation_endpoint_auth_methods_supported: string[];

  @ApiProperty(listOf(CONFIDENTIAL, 'The same for introspection.'))
  introspection_endpoint_auth_methods_supported: string[];

  @ApiProperty(listOf(['S256'], 'PKCE methods.'))
  code_challenge_methods_supported: string[];

  @ApiProperty(listOf(SCOPES, 'Every scope.'))
  scopes_supported: readonly string[];

  @ApiProperty(listOf(PROMPTS, 'What `prompt` may be.'))
  prompt_values_supported: readonly string[];

  @ApiProperty(listOf(LANGUAGES, 'What the pages can be asked for by `ui_locales`.'))
  ui_locales_supported: readonly string[];

  @ApiProperty({ enum: [true], description: 'Every redirect names the issuer (RFC 9207 §3).' })
  authorization_response_iss_parameter_supported: true;

  @ApiProperty(url('/docs', 'Documentation for developers.'))
  service_documentation: string;
}

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
    const issuer = this.config.publicUrl;
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: GRANT_TYPES,
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
