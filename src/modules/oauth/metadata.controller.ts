import { Controller, Get, Header } from '@nestjs/common';
import {
  ApiExcludeEndpoint,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  type ApiPropertyOptions,
  ApiSchema,
  ApiTags,
} from '@nestjs/swagger';
import { LANGUAGES } from '../../pages/language.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { OFFLINE_ACCESS, SCOPES } from '../../platform/access/scopes.js';
import { Clock } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { NotFound, UnknownPath } from '../../platform/errors.js';
import {
  DEV_V1,
  EXAMPLE_ORIGIN,
  RESOURCE_METADATA_PATH,
} from '../../platform/http/developer-api.js';
import { PROMPTS } from './authorize/authorize-checks.js';

/** 90 days. RFC 9116 §2.5.5 recommends less than a year. */
const SECURITY_CONTACT_MS = 90 * 24 * 60 * 60 * 1000;

const CONFIDENTIAL_CLIENT_METHODS = ['client_secret_basic', 'client_secret_post'];
const ALL_CLIENT_METHODS = [...CONFIDENTIAL_CLIENT_METHODS, 'none'];

/** A member of a metadata document: its documentation and its value. An optional member is omitted if its value is undefined. */
interface Member {
  schema: ApiPropertyOptions;
  valueOf: (config: AppConfig) => unknown;
}

const url = (path: string, description: string): Member => ({
  schema: { type: String, description, format: 'uri', example: `${EXAMPLE_ORIGIN}${path}` },
  valueOf: ({ publicUrl }) => `${publicUrl}${path}`,
});
const listOf = (values: readonly string[], description: string): Member => ({
  schema: { description, isArray: true, enum: [...values] },
  valueOf: () => values,
});
const optionalUrl = (description: string, valueOf: Member['valueOf']): Member => ({
  schema: { type: String, required: false, format: 'uri', description },
  valueOf,
});
const privacyUrl = optionalUrl('Privacy policy of the network.', ({ brand }) => brand.privacyUrl);
const termsUrl = optionalUrl('Terms of the network.', ({ brand }) => brand.termsUrl);

const SERVER: Readonly<Record<string, Member>> = {
  issuer: url('', 'Issuer identifier, the `iss` parameter of every authorization response.'),
  authorization_endpoint: url('/oauth/authorize', 'Authorization endpoint, opened in a browser.'),
  token_endpoint: url('/oauth/token', 'Token endpoint for authorization codes and refresh tokens.'),
  revocation_endpoint: url('/oauth/revoke', 'Token revocation endpoint (RFC 7009).'),
  introspection_endpoint: url('/oauth/introspect', 'Token introspection endpoint (RFC 7662).'),
  response_types_supported: listOf(['code'], 'Supported values of `response_type`.'),
  response_modes_supported: listOf(['query'], 'Supported response modes.'),
  grant_types_supported: listOf(
    ['authorization_code', 'refresh_token'],
    'Supported values of `grant_type`.',
  ),
  token_endpoint_auth_methods_supported: listOf(
    ALL_CLIENT_METHODS,
    'Client authentication methods of the token endpoint.',
  ),
  revocation_endpoint_auth_methods_supported: listOf(
    ALL_CLIENT_METHODS,
    'Client authentication methods of the revocation endpoint.',
  ),
  introspection_endpoint_auth_methods_supported: listOf(
    CONFIDENTIAL_CLIENT_METHODS,
    'Client authentication methods of the introspection endpoint.',
  ),
  code_challenge_methods_supported: listOf(['S256'], 'Supported PKCE methods.'),
  scopes_supported: listOf(
    [...SCOPES, OFFLINE_ACCESS],
    'All scopes, and `offline_access`, which is accepted but never granted: every app gets refresh tokens.',
  ),
  prompt_values_supported: listOf(PROMPTS, 'Supported values of `prompt`.'),
  ui_locales_supported: listOf(LANGUAGES, 'Languages of the pages, for `ui_locales`.'),
  authorization_response_iss_parameter_supported: {
    schema: {
      type: Boolean,
      enum: [true],
      description: 'Every authorization response has the parameter `iss` (RFC 9207 §3).',
    },
    valueOf: () => true,
  },
  service_documentation: url('/docs', 'Documentation for developers.'),
  op_policy_uri: privacyUrl,
  op_tos_uri: termsUrl,
};

const RESOURCE: Readonly<Record<string, Member>> = {
  resource: url(`/${DEV_V1}`, 'Resource identifier: the URL of the API.'),
  authorization_servers: {
    schema: {
      type: [String],
      description: 'The issuers of access tokens for the API.',
      example: [EXAMPLE_ORIGIN],
    },
    valueOf: ({ publicUrl }) => [publicUrl],
  },
  scopes_supported: listOf(SCOPES, 'All scopes.'),
  bearer_methods_supported: listOf(['header'], 'How to send an access token (RFC 6750 §2).'),
  resource_name: {
    schema: {
      type: String,
      description: 'Name of the API, for users.',
      example: 'Developer API',
    },
    valueOf: ({ brand: { name } }) =>
      name === undefined ? 'Developer API' : `Developer API – ${name}`,
  },
  resource_documentation: url('/docs', 'Documentation for developers.'),
  resource_policy_uri: privacyUrl,
  resource_tos_uri: termsUrl,
};

/** Documents the members as properties of a schema. */
function Members(members: Readonly<Record<string, Member>>): ClassDecorator {
  return ({ prototype }) => {
    for (const [name, { schema }] of Object.entries(members))
      ApiProperty(schema)(prototype as object, name);
  };
}

@ApiSchema({ name: 'ServerMetadata', description: 'Authorization server metadata (RFC 8414 §2).' })
@Members(SERVER)
class ServerMetadata {}

@ApiSchema({
  name: 'ResourceMetadata',
  description: 'Metadata of the API as a protected resource (RFC 9728 §2).',
})
@Members(RESOURCE)
class ResourceMetadata {}

/** No document has this well-known path. Clients probe several paths, so the error names those that exist. */
class UnknownMetadata extends NotFound {
  constructor() {
    super(
      `This server does not have this document and does not support OpenID Connect. Its metadata is at /.well-known/oauth-authorization-server and ${RESOURCE_METADATA_PATH}.`,
    );
  }
}

/** Metadata of the authorization server, and of the API, from which clients find it. Must come after other well-known paths. */
@Public()
@ApiTags('oauth')
@Controller()
export class MetadataController {
  constructor(
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  @Get('.well-known/oauth-authorization-server')
  @Header('Cache-Control', 'public, max-age=3600')
  @ApiOperation({
    operationId: 'metadata',
    security: [],
    summary: 'Authorization server metadata',
    description:
      'The endpoints and capabilities of the authorization server (RFC 8414), for OAuth clients that configure themselves.',
  })
  @ApiOkResponse({ type: ServerMetadata })
  server(): ServerMetadata {
    return this.valuesOf(SERVER);
  }

  @Get(RESOURCE_METADATA_PATH)
  @Header('Cache-Control', 'public, max-age=3600')
  @ApiOperation({
    operationId: 'resourceMetadata',
    security: [],
    summary: 'Protected resource metadata',
    description:
      'The authorization server and the scopes of the API (RFC 9728), for OAuth clients that configure themselves. The ' +
      '`resource_metadata` parameter of 401 and 403 responses has its URL.',
  })
  @ApiOkResponse({ type: ResourceMetadata })
  resource(): ResourceMetadata {
    return this.valuesOf(RESOURCE);
  }

  /** Where to report vulnerabilities (RFC 9116), if the operator has set it. */
  @Get('.well-known/security.txt')
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=3600')
  @ApiExcludeEndpoint()
  securityContact(): string {
    const { securityContact, publicUrl } = this.config;
    if (securityContact === undefined) throw new UnknownPath();
    const expires = new Date(this.clock.now().getTime() + SECURITY_CONTACT_MS).toISOString();
    const fields = [`Contact: ${securityContact}`, `Expires: ${expires}`];
    // The address of the file itself must be https (§2.5.2).
    if (publicUrl.startsWith('https:'))
      fields.push(`Canonical: ${publicUrl}/.well-known/security.txt`);
    return `${fields.join('\n')}\n`;
  }

  @Get('.well-known/{*path}')
  @ApiExcludeEndpoint()
  unknown(): never {
    throw new UnknownMetadata();
  }

  private valuesOf(members: Readonly<Record<string, Member>>): object {
    const values = Object.entries(members).map(([name, { valueOf }]) => [
      name,
      valueOf(this.config),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }
}
