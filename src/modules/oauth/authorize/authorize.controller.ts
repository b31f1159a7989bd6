import { Controller, Get, Query, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiAuthorize } from './authorize.openapi.js';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { AppsService, type RegisteredApp } from '../clients/apps.service.js';
import { OAuthPages } from '../browser/oauth-pages.js';
import { PageErrorFilter } from '../browser/page-error.filter.js';
import { malformedLink, notAPage } from '../protocol/page-error.js';
import { isWellEncoded, Parameters } from '../protocol/parameters.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { type AuthorizationRequest, checkAuthorizationRequest } from './authorize-checks.js';
import { AuthorizationRefused } from '../protocol/authorization-response.js';
import { AuthorizationsService } from './authorizations.service.js';
import { NavigationGuard } from '../protocol/fetch-metadata.guard.js';
import { ConsentPage } from './consent-page.js';
import { ReusedChallenge } from './reused-challenge.js';

/** The authorization endpoint (RFC 6749 §3.1). */
@Public()
@UseFilters(PageErrorFilter)
@Controller('oauth/authorize')
export class AuthorizeController {
  /** Whether a visitor whom nobody knows is asked before an error takes them to the app (RFC 9700 §4.11.2). */
  private readonly asksFirst: boolean;

  constructor(
    private readonly apps: AppsService,
    private readonly authorizations: AuthorizationsService,
    private readonly challenges: ReusedChallenge,
    private readonly signIn: SignInService,
    private readonly cookies: BrowserCookies,
    private readonly consent: ConsentPage,
    private readonly pages: OAuthPages,
    { authorize }: AppConfig,
  ) {
    this.asksFirst = authorize.errorsBeforeSignIn === 'page';
  }

  /** Checks the request, then asks the user to sign in or, with a session, to decide. HEAD starts no request (RFC 9110 §9.3.2). */
  @Get()
  @LimitCalls('authorize')
  @UseGuards(NavigationGuard)
  @ApiAuthorize()
  async authorize(
    @Query() query: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isWellEncoded(request.url)) throw malformedLink();
    const parameters = new Parameters(query);
    const app = await this.apps.find(parameters.get('client_id') ?? '');
    const user = await this.signIn.current(request);
    const isKept = request.method !== 'HEAD';
    const checked = await this.check(app, parameters, isKept).catch((error: unknown) => {
      if (user || !this.asksFirst || !(error instanceof AuthorizationRefused)) throw error;
      this.pages.refusal(response, error);
    });
    if (!checked) return;
    const browser = this.cookies.ensureBrowser(request, response);
    const known = checked.signInPrompt === null ? user : null;
    const pending = await this.authorizations.start(checked, browser, known?.id ?? null, isKept);
    if (known) await this.consent.show(response, pending, known);
    else this.pages.phone(response, pending);
  }

  /** @throws PageError; AuthorizationRefused */
  private async check(
    app: RegisteredApp | null,
    parameters: Parameters,
    isKept: boolean,
  ): Promise<AuthorizationRequest> {
    const checked = checkAuthorizationRequest({ app, parameters });
    await this.challenges.check(checked, isKept);
    return checked;
  }

  /** Where a browser lands that opens the address of a form, which only takes what a page of ours sends. */
  @Get(':step')
  @ApiExcludeEndpoint()
  formAddress(): never {
    throw notAPage();
  }

  /** The same for a mistyped address. */
  @Get('{*path}')
  @ApiExcludeEndpoint()
  elsewhere(): never {
    throw notAPage();
  }
}
