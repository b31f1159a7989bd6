import { All, Controller, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { NotFoundPage } from '../../pages/not-found-page.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { AllowedMethods } from '../../platform/http/server/unrouted-requests.js';
import { AppSecretsService } from './clients/app-secrets.service.js';
import { OAuthErrorFilter } from './clients/oauth-error.filter.js';
import { OAuthMethodNotAllowed, UnknownEndpoint } from './protocol/oauth.errors.js';

/** Handles the requests under `/oauth` that no other controller handles. Must be the last controller. */
@Public()
@ApiExcludeController()
@UseFilters(OAuthErrorFilter)
@Controller('oauth')
export class UnknownEndpointController {
  constructor(
    private readonly allowed: AllowedMethods,
    private readonly secrets: AppSecretsService,
    private readonly notFoundPage: NotFoundPage,
  ) {}

  @All('*path')
  async unknown(@Req() request: Request, @Res() response: Response): Promise<void> {
    const hasSecret = await this.secrets.reportSecretInQuery(request.query);
    const allow = this.allowed.of(request.path);
    if (allow === undefined && this.notFoundPage.sendIfPreferred(request, response)) return;
    if (allow === undefined) throw new UnknownEndpoint();
    if (request.method !== 'OPTIONS') throw new OAuthMethodNotAllowed(allow, hasSecret);
    response.status(204).set('Allow', allow).end();
  }
}
