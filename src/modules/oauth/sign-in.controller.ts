import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccountSessions, connectedAppsUrl, nextOf } from './account/account-sessions.service.js';
import { UserAccess } from './account/user-access.service.js';
import { authorizationPage, AuthorizationsService } from './authorize/authorizations.service.js';
import { BrowserForm, BrowserPages } from './browser/browser-form.decorator.js';
import {
  APPS_PAGE,
  isAccountPage,
  addressOfChangedPage,
  PageStates,
} from './browser/page-state.js';
import { sendRedirect } from './protocol/authorization-response.js';
import { BrowserBinding } from './protocol/browser-binding.js';
import { Parameters } from './protocol/parameters.js';
import { SignInFlowService } from './sign-in/sign-in-flow.js';
import { SignInService } from './sign-in/sign-in.service.js';

/**
 * Sign-in by phone and one-time password, for an authorization request or for the account pages, and sign-out. The services of both
 * find the sign-in of a page or form, which has the URL of the next page.
 */
@BrowserPages()
@Controller()
export class SignInController {
  constructor(
    private readonly authorizations: AuthorizationsService,
    private readonly sessions: AccountSessions,
    private readonly flows: SignInFlowService,
    private readonly signIn: SignInService,
    private readonly access: UserAccess,
    private readonly browsers: BrowserBinding,
    private readonly states: PageStates,
  ) {}

  @Get(['oauth/authorize/:transaction/phone', 'account/sign-in/:transaction/phone'])
  async showPhonePage(
    @Param('transaction') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const flow = await this.signInsOf(request).signInOfPage(request, id);
    await this.flows.showPage('phone', flow, request, response);
  }

  @BrowserForm()
  @Post(['oauth/authorize/sign-in', 'account/sign-in'])
  async sendOneTimePassword(@Req() request: Request, @Res() response: Response): Promise<void> {
    const flow = await this.signInsOf(request).signInOfForm(request);
    await this.flows.sendOneTimePassword(flow, request, response);
  }

  @Get(['oauth/authorize/:transaction/code', 'account/sign-in/:transaction/code'])
  async showCodePage(
    @Param('transaction') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const flow = await this.signInsOf(request).signInOfPage(request, id);
    await this.flows.showPage('code', flow, request, response);
  }

  @BrowserForm()
  @Post(['oauth/authorize/verify', 'account/verify'])
  async verify(@Req() request: Request, @Res() response: Response): Promise<void> {
    const flow = await this.signInsOf(request).signInOfForm(request);
    await this.flows.verify(flow, request, response);
  }

  /** Handles "Switch account": ends the session and shows the sign-in page of the same authorization request. */
  @BrowserForm()
  @Post('oauth/authorize/sign-out')
  async switchAccount(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { id } = await this.authorizations.findByForm(request);
    await this.signIn.signOut(request, response);
    await this.authorizations.assignUser(id, null);
    this.states.redirect(response, authorizationPage(request, id, 'phone'));
  }

  /** Handles "Sign out": ends the session and redirects to the same page, which then starts a sign-in. */
  @BrowserForm()
  @Post('account/sign-out')
  async signOut(@Req() request: Request, @Res() response: Response): Promise<void> {
    const url = connectedAppsUrl(nextOf(request.body));
    // The second click of a double click finds no session.
    if (!(await this.sessions.current(request))) return sendRedirect(response, url);
    await this.sessions.findByForm(request);
    request.context.resultPage = APPS_PAGE;
    await this.signIn.signOut(request, response);
    sendRedirect(response, addressOfChangedPage(request, url));
  }

  /** Ends the sessions of the user in all browsers, with `apps=1` all access of apps, too, and redirects to a page that starts a sign-in. */
  @BrowserForm()
  @Post('account/sign-out-everywhere')
  async signOutEverywhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    // As in `signOut`.
    if (!(await this.sessions.current(request))) return sendRedirect(response, APPS_PAGE.url);
    const { user } = await this.sessions.findByForm(request);
    request.context.resultPage = APPS_PAGE;
    const withApps = new Parameters(request.body).get('apps') === '1';
    await this.access.signOut(user, { browserHash: this.browsers.browserHash(request), withApps });
    this.browsers.clearSession(response);
    sendRedirect(response, addressOfChangedPage(request, APPS_PAGE.url));
  }

  private signInsOf({ path }: Request): AuthorizationsService | AccountSessions {
    return isAccountPage(path) ? this.sessions : this.authorizations;
  }
}
