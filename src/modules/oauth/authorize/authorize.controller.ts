import { Controller, Get, Query, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { PageErrorFilter } from '../browser/page-error.filter.js';
import { AppsService } from '../clients/apps.service.js';
import { AuthorizationError } from '../protocol/authorization-response.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { NavigationGuard } from '../protocol/fetch-metadata.guard.js';
import { isWellEncoded, Parameters } from '../protocol/parameters.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { SignInFlowService } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { AuthorizationsService, nameOnErrorPages } from './authorizations.service.js';
import {
  type AuthorizationRequest,
  checkAuthorizationRequest,
  requiresSignIn,
} from './authorize-checks.js';
import { ApiAuthorize } from './authorize.openapi.js';
import { ConsentPage } from './consent-page.js';

/** The authorization endpoint (RFC 6749 §3.1). */
@Public()
@UseFilters(PageErrorFilter)
@Controller('oauth/authorize')
export class AuthorizeController {
  constructor(
    private readonly apps: AppsService,
    private readonly authorizations: AuthorizationsService,
    private readonly signIn: SignInService,
    private readonly cookies: BrowserCookies,
    private readonly flows: SignInFlowService,
    private readonly consentPage: ConsentPage,
  ) {}

  /**
   * Validates the request. Then shows the consent page, if the user has a session and the app does not require a new sign-in, or
   * else the sign-in page. HEAD requests do not store an authorization request (RFC 9110 §9.3.2).
   */
  @Get()
  @LimitCalls(
    'authorize-calls-by-address',
    'authorize-calls-by-network56',
    'authorize-calls-by-network48',
  )
  @UseGuards(NavigationGuard)
  @ApiAuthorize()
  async authorize(
    @Query() query: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isWellEncoded(request.url)) throw new PageError('malformed_link');
    const parameters = new Parameters(query);
    const app = await this.apps.find(parameters.get('client_id') ?? '');
    if (app?.enabled) nameOnErrorPages(request, app, parameters.get('redirect_uri'));
    const sessionUser = await this.signIn.current(request);
    let valid: AuthorizationRequest;
    try {
      valid = checkAuthorizationRequest({ app, parameters });
    } catch (error) {
      // Otherwise the server would be an open redirector (RFC 9700 §4.11.2). Not for `prompt=none`, which programs use.
      if (error instanceof AuthorizationError)
        error.needsConfirmation =
          sessionUser === null && error.error.code !== 'interaction_required';
      throw error;
    }
    const browserHash = this.cookies.ensureBrowser(request, response);
    const signedInUser = requiresSignIn(valid) ? null : sessionUser;
    const isStored = request.method !== 'HEAD';
    const userId = signedInUser?.id ?? null;
    const pending = await this.authorizations.start(valid, { browserHash, userId, isStored });
    if (signedInUser) await this.consentPage.send(response, pending, signedInUser);
    else this.flows.sendPhonePage(response, pending);
  }

  /** The action URL of a form, requested with GET, or an unknown path. */
  @Get('{*path}')
  @ApiExcludeEndpoint()
  rejectUnknownPath(): never {
    throw new PageError('not_a_page');
  }
}
