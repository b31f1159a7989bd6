import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../../../access/public.decorator.js';
import { AppConfig } from '../../../config/app-config.js';
import { MetadataResponse } from './metadata.response.js';

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
