import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { SCOPES, type Scope } from '../../../common/scopes.js';
import { LANGUAGES, type Language } from '../../../pages/language.js';
import { PROMPTS } from '../authorize/checks/prompt.check.js';

const ISSUER = 'https://dev.example.com';
const CONFIDENTIAL = ['client_secret_basic', 'client_secret_post'];
const ALL = [...CONFIDENTIAL, 'none'];
const address = (path: string): { format: string; example: string } => ({
  format: 'uri',
  example: `${ISSUER}${path}`,
});

@ApiSchema({ name: 'ServerMetadata', description: 'Authorization server metadata (RFC 8414 §2).' })
export class MetadataResponse {
  @ApiProperty({ ...address(''), description: 'What `iss` of every redirect equals.' })
  issuer: string;

  @ApiProperty(address('/oauth/authorize'))
  authorization_endpoint: string;

  @ApiProperty(address('/oauth/token'))
  token_endpoint: string;

  @ApiProperty(address('/oauth/revoke'))
  revocation_endpoint: string;

  @ApiProperty(address('/oauth/introspect'))
  introspection_endpoint: string;

  @ApiProperty({ isArray: true, enum: ['code'] })
  response_types_supported: ['code'];

  @ApiProperty({ isArray: true, enum: ['query'] })
  response_modes_supported: ['query'];

  @ApiProperty({ isArray: true, enum: ['authorization_code', 'refresh_token'] })
  grant_types_supported: string[];

  @ApiProperty({ isArray: true, enum: ALL })
  token_endpoint_auth_methods_supported: string[];

  @ApiProperty({ isArray: true, enum: ALL })
  revocation_endpoint_auth_methods_supported: string[];

  @ApiProperty({ isArray: true, enum: CONFIDENTIAL })
  introspection_endpoint_auth_methods_supported: string[];

  @ApiProperty({ isArray: true, enum: ['S256'] })
  code_challenge_methods_supported: ['S256'];

  @ApiProperty({ isArray: true, enum: SCOPES })
  scopes_supported: readonly Scope[];

  @ApiProperty({ isArray: true, enum: PROMPTS })
  prompt_values_supported: readonly string[];

  @ApiProperty({
    isArray: true,
    enum: LANGUAGES,
    description: 'What the pages can be asked for by `ui_locales`.',
  })
  ui_locales_supported: readonly Language[];

  @ApiProperty({ enum: [true], description: 'Every redirect names the issuer (RFC 9207 §3).' })
  authorization_response_iss_parameter_supported: true;

  @ApiProperty(address('/docs'))
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
