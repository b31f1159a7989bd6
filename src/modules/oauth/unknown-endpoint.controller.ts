import { All, Controller, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { NotFoundPage } from '../../pages/not-found-page.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { MethodNotAllowed, UnknownPath } from '../../platform/errors.js';
import { AllowedMethods } from '../../platform/http/server/unrouted-requests.js';
import { AppSecretsService } from './clients/app-secrets.service.js';
import { OAuthErrorFilter } from './clients/oauth-error.filter.js';
import { OAuthInvalidRequest, SECRET_LEAKED } from './protocol/oauth.errors.js';

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
    if (allow === undefined)
      throw new OAuthInvalidRequest(new UnknownPath().message, { status: 404 });
    if (request.method !== 'OPTIONS') {
      const { message } = new MethodNotAllowed(allow);
      const description = hasSecret ? `${message} ${SECRET_LEAKED}` : message;
      throw new OAuthInvalidRequest(description, { status: 405, headers: { Allow: allow } });
    }
    response.status(204).set('Allow', allow).end();
  }
}
