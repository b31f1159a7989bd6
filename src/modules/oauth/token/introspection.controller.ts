import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../config/app-config.js';
import type { App } from '../apps/app.entity.js';
import { ClientEndpoint } from '../client-request/client-endpoint.decorator.js';
import { ClientOf, FormOf } from '../client-request/client.guard.js';
import { InvalidClient } from '../oauth.errors.js';
import type { Parameters } from '../parameters.js';
import { IntrospectionResponse } from './dto/introspection.response.js';
import { ApiIntrospection } from './introspection.openapi.js';
import { TokenIntrospection } from './token-introspection.js';

/** The introspection endpoint (RFC 7662). */
@ClientEndpoint('introspection', { shared: false })
@Controller('oauth/introspect')
export class IntrospectionController {
  constructor(
    private readonly introspection: TokenIntrospection,
    private readonly config: AppConfig,
  ) {}

  /** A public app proves nothing, so it learns nothing (RFC 7662 §2.1). */
  @Post()
  @HttpCode(200)
  @ApiIntrospection()
  async introspect(
    @Req() request: Request,
    @ClientOf() app: App,
    @FormOf() parameters: Parameters,
  ): Promise<IntrospectionResponse> {
    if (app.kind === 'public') throw new InvalidClient(request.headers.authorization !== undefined);
    const state = await this.introspection.live(app, parameters.require('token'));
    return IntrospectionResponse.from(state, this.config.publicUrl);
  }
}
