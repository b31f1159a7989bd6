import { Controller, Get, Header } from '@nestjs/common';
import {
  ApiExcludeEndpoint,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiSchema,
  ApiTags,
} from '@nestjs/swagger';
import { Public } from '../../platform/access/scopes.decorator.js';
import { SCOPES } from '../../platform/access/scopes.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { NotFound } from '../../platform/errors.js';
import { DEV_V1, RESOURCE_METADATA_PATH } from '../../platform/http/developer-api.js';

@ApiSchema({
  name: 'ResourceMetadata',
  description: 'Metadata of the API as a protected resource (RFC 9728 §2).',
})
class ResourceMetadataResponse {
  @ApiProperty({
    format: 'uri',
    description: 'Resource identifier: the URL of the API.',
    example: 'https://dev.example.com/dev/v1',
  })
  resource: string;

  @ApiProperty({
    type: [String],
    description: 'The issuers of access tokens for the API.',
    example: ['https://dev.example.com'],
  })
  authorization_servers: string[];

  @ApiProperty({ isArray: true, enum: [...SCOPES], description: 'All scopes.' })
  scopes_supported: readonly string[];

  @ApiProperty({
    isArray: true,
    enum: ['header'],
    description: 'How to send an access token (RFC 6750 §2).',
  })
  bearer_methods_supported: string[];

  @ApiProperty({ description: 'Name of the API, for users.', example: 'Developer API' })
  resource_name: string;

  @ApiProperty({
    format: 'uri',
    description: 'Documentation for developers.',
    example: 'https://dev.example.com/docs',
  })
  resource_documentation: string;

  @ApiPropertyOptional({ format: 'uri', description: 'Privacy policy of the network.' })
  resource_policy_uri?: string;

  @ApiPropertyOptional({ format: 'uri', description: 'Terms of the network.' })
  resource_tos_uri?: string;
}

/** No document has this well-known path. Clients probe several paths, so the error names those that exist. */
class UnknownMetadata extends NotFound {
  constructor() {
    super(
      `This server does not have this document and does not support OpenID Connect. Its metadata is at /.well-known/oauth-authorization-server and ${RESOURCE_METADATA_PATH}.`,
    );
  }
}

/** Metadata of the API, from which clients find the authorization server (RFC 9728). Must come after other well-known paths. */
@Public()
@ApiTags('oauth')
@Controller()
export class ResourceMetadataController {
  constructor(private readonly config: AppConfig) {}

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
  @ApiOkResponse({ type: ResourceMetadataResponse })
  metadata(): ResourceMetadataResponse {
    const issuer = this.config.publicUrl;
    const { name, privacyUrl, termsUrl } = this.config.brand;
    return {
      resource: `${issuer}/${DEV_V1}`,
      authorization_servers: [issuer],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: name === undefined ? 'Developer API' : `Developer API – ${name}`,
      resource_documentation: `${issuer}/docs`,
      ...(privacyUrl !== undefined && { resource_policy_uri: privacyUrl }),
      ...(termsUrl !== undefined && { resource_tos_uri: termsUrl }),
    };
  }

  @Get('.well-known/{*path}')
  @ApiExcludeEndpoint()
  unknown(): never {
    throw new UnknownMetadata();
  }
}
