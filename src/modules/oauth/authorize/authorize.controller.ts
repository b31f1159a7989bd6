import { Controller, Get, Query, Req, Res, UseFilters } from '@nestjs/common';
import { ApiAuthorize } from './authorize.openapi.js';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../../access/public.decorator.js';
import { AppsService } from '../apps/apps.service.js';
import { OAuthPages } from '../oauth-pages.js';
import { PageErrorFilter } from '../page-error.filter.js';
import { malformedLink, notAPage } from '../page-error.js';
import { isWellEncoded, Parameters } from '../parameters.js';
import { BrowserCookies } from '../sign-in/browser-cookies.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { AuthorizationsService } from './authorizations.service.js';
import { checkAuthorizationRequest } from './authorize-checks.js';

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
    private readonly pages: OAuthPages,
  ) {}

  /** Checks the request, then asks the user to sign in or, with a session, to decide. */
  @Get()
  @ApiAuthorize()
  async authorize(
    @Query() query: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isWellEncoded(request.url)) throw malformedLink();
    const parameters = new Parameters(query);
    const app = await this.apps.find(parameters.get('client_id') ?? '');
    const checked = checkAuthorizationRequest({ app, parameters });
    const user = await this.signIn.current(request);
    const browser = this.cookies.ensureBrowser(request, response);
    const pending = await this.authorizations.start(checked, browser, user?.id ?? null);
    if (user) await this.pages.consent(response, pending, user);
    else this.pages.phone(response, pending);
  }

  /** Where a browser lands that opens the address of a form, which only takes what a page of ours sends. */
  @Get(':step')
  @ApiExcludeEndpoint()
  formAddress(): never {
    throw notAPage();
  }
}
