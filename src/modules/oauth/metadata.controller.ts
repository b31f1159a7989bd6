import { Controller, Get, Header } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  ApiSchema,
  ApiTags,
} from '@nestjs/swagger';
import { LANGUAGES } from '../../pages/language.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { SCOPES } from '../../platform/access/scopes.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { PROMPTS } from './authorize/authorize-checks.js';

const EXAMPLE_ISSUER = 'https://dev.example.com';
const CONFIDENTIAL_CLIENT_METHODS = ['client_secret_basic', 'client_secret_post'];
const ALL_CLIENT_METHODS = [...CONFIDENTIAL_CLIENT_METHODS, 'none'];
const GRANT_TYPES = ['authorization_code', 'refresh_token'];

const url = (path: string, description: string): ApiPropertyOptions => ({
  description,
  format: 'uri',
  example: `${EXAMPLE_ISSUER}${path}`,
});
const listOf = (values: readonly string[], description: string): ApiPropertyOptions => ({
  description,
  isArray: true,
  enum: [...values],
});

@ApiSchema({ name: 'ServerMetadata', description: 'Authorization server metadata (RFC 8414 §2).' })
class MetadataResponse {
  @ApiProperty(url('', 'Issuer identifier, the `iss` parameter of every authorization response.'))
  issuer: string;

  @ApiProperty(url('/oauth/authorize', 'Authorization endpoint, opened in a browser.'))
  authorization_endpoint: string;

  @ApiProperty(url('/oauth/token', 'Token endpoint for authorization codes and refresh tokens.'))
  token_endpoint: string;

  @ApiProperty(url('/oauth/revoke', 'Token revocation endpoint (RFC 7009).'))
  revocation_endpoint: string;

  @ApiProperty(url('/oauth/introspect', 'Token introspection endpoint (RFC 7662).'))
  introspection_endpoint: string;

  @ApiProperty(listOf(['code'], 'Supported values of `response_type`.'))
  response_types_supported: string[];

  @ApiProperty(listOf(['query'], 'Supported response modes.'))
  response_modes_supported: string[];

  @ApiProperty(listOf(GRANT_TYPES, 'Supported values of `grant_type`.'))
  grant_types_supported: readonly string[];

  @ApiProperty(listOf(ALL_CLIENT_METHODS, 'Client authentication methods of the token endpoint.'))
  token_endpoint_auth_methods_supported: string[];

  @ApiProperty(
    listOf(ALL_CLIENT_METHODS, 'Client authentication methods of the revocation endpoint.'),
  )
  revocation_endpoint_auth_methods_supported: string[];

  @ApiProperty(
    listOf(
      CONFIDENTIAL_CLIENT_METHODS,
      'Client authentication methods of the introspection endpoint.',
    ),
  )
  introspection_endpoint_auth_methods_supported: string[];

  @ApiProperty(listOf(['S256'], 'Supported PKCE methods.'))
  code_challenge_methods_supported: string[];

  @ApiProperty(listOf(SCOPES, 'All scopes.'))
  scopes_supported: readonly string[];

  @ApiProperty(listOf(PROMPTS, 'Supported values of `prompt`.'))
  prompt_values_supported: readonly string[];

  @ApiProperty(listOf(LANGUAGES, 'Languages of the pages, for `ui_locales`.'))
  ui_locales_supported: readonly string[];

  @ApiProperty({
    enum: [true],
    description: 'Every authorization response has the parameter `iss` (RFC 9207 §3).',
  })
  authorization_response_iss_parameter_supported: true;

  @ApiProperty(url('/docs', 'Documentation for developers.'))
  service_documentation: string;

  @ApiPropertyOptional({ format: 'uri', description: 'Privacy policy of the network.' })
  op_policy_uri?: string;

  @ApiPropertyOptional({ format: 'uri', description: 'Terms of the network.' })
  op_tos_uri?: string;
}

@Public()
@ApiTags('oauth')
@Controller('.well-known')
export class MetadataController {
  constructor(private readonly config: AppConfig) {}

  @Get('oauth-authorization-server')
  @Header('Cache-Control', 'public, max-age=3600')
  @ApiOperation({
    operationId: 'metadata',
    security: [],
    summary: 'Authorization server metadata',
    description:
      'The endpoints and capabilities of the authorization server (RFC 8414), for OAuth clients that configure themselves.',
  })
  @ApiOkResponse({ type: MetadataResponse })
  metadata(): MetadataResponse {
    const issuer = this.config.publicUrl;
    const { privacyUrl, termsUrl } = this.config.brand;
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: GRANT_TYPES,
      token_endpoint_auth_methods_supported: ALL_CLIENT_METHODS,
      revocation_endpoint_auth_methods_supported: ALL_CLIENT_METHODS,
      introspection_endpoint_auth_methods_supported: CONFIDENTIAL_CLIENT_METHODS,
      code_challenge_methods_supported: ['S256'],
      scopes_supported: SCOPES,
      prompt_values_supported: PROMPTS,
      ui_locales_supported: LANGUAGES,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
      ...(privacyUrl !== undefined && { op_policy_uri: privacyUrl }),
      ...(termsUrl !== undefined && { op_tos_uri: termsUrl }),
    };
  }
}
