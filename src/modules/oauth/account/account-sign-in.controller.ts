import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isId } from '../../../platform/ids.js';
import { BrowserForm, BrowserPages } from '../browser/browser-form.decorator.js';
import { ACCOUNT_PATH, APPS_PATH } from '../browser/oauth-pages.js';
import { APPS_PAGE } from './connected-apps.controller.js';
import { PageStates, type ResultPage } from '../browser/page-state.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { type BoundSignIn, FormTokens } from '../protocol/form-tokens.js';
import { Parameters } from '../protocol/parameters.js';
import { SignInFlowService, type SignInFlow, type SignInStep } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { UserAccess } from './user-access.service.js';
import { AccountSessions } from './account-sessions.service.js';

/** Sign-in to the account pages. `next` is the client id of the connected app whose page follows. */
@BrowserPages()
@Controller('account')
export class AccountSignInController {
  constructor(
    private readonly sessions: AccountSessions,
    private readonly flows: SignInFlowService,
    private readonly formTokens: FormTokens,
    private readonly states: PageStates,
    private readonly signIn: SignInService,
    private readonly access: UserAccess,
    private readonly cookies: BrowserCookies,
  ) {}

  @Get('sign-in/:transaction/phone')
  async showPhonePage(
    @Param('transaction') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.showPage('phone', id, request, response);
  }

  @BrowserForm()
  @Post('sign-in')
  async sendOneTimePassword(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.flows.sendOneTimePassword(this.flowOfForm(request), request, response);
  }

  @Get('sign-in/:transaction/code')
  async showCodePage(
    @Param('transaction') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.showPage('code', id, request, response);
  }

  @BrowserForm()
  @Post('verify')
  async verify(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.flows.verify(this.flowOfForm(request), request, response);
  }

  /** Handles "Sign out": ends the session and redirects to the same page, which then starts a sign-in. */
  @BrowserForm()
  @Post('sign-out')
  async signOut(@Req() request: Request, @Res() response: Response): Promise<void> {
    const url = connectedAppsUrl(nextOf(request.body));
    // The second click of a double click finds no session.
    if (!(await this.sessions.current(request))) return sendRedirect(response, url);
    await this.sessions.findByForm(request);
    request.context.resultPage = APPS_PAGE;
    await this.signIn.signOut(request, response);
    sendRedirect(response, url);
  }

  /** Ends the sessions of the user in all browsers, and redirects to a page that starts a sign-in. */
  @BrowserForm()
  @Post('sign-out-everywhere')
  async signOutEverywhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    // As in `signOut`.
    if (!(await this.sessions.current(request))) return sendRedirect(response, APPS_PATH);
    const { user } = await this.sessions.findByForm(request);
    request.context.resultPage = APPS_PAGE;
    await this.access.signOut(user, this.cookies.browserHash(request));
    this.cookies.clearSession(response);
    sendRedirect(response, APPS_PATH);
  }

  private async showPage(
    step: SignInStep,
    id: string,
    request: Request,
    response: Response,
  ): Promise<void> {
    const flow = this.flow(this.formTokens.signInOfPage(request, id), nextOf(request.query));
    this.formTokens.checkExpiry(id);
    const state = this.states.take(request, response, flow.phonePage.statePath);
    await this.flows.showPage(step, flow, state, request, response);
  }

  private flowOfForm(request: Request): SignInFlow {
    const signIn = this.formTokens.signInOfForm(request);
    const flow = this.flow(signIn, nextOf(request.body));
    request.context.resultPage = flow.phonePage;
    this.formTokens.checkExpiry(signIn.signInId);
    return flow;
  }

  private flow({ signInId, token }: BoundSignIn, next: string | undefined): SignInFlow {
    const statePath = `${ACCOUNT_PATH}/sign-in/${signInId}`;
    const page = (step: SignInStep): ResultPage => ({
      statePath,
      url: `${statePath}/${step}${next === undefined ? '' : `?next=${next}`}`,
    });
    return {
      form: { binding: { transaction: signInId, token, next }, path: ACCOUNT_PATH },
      phonePage: page('phone'),
      codePage: page('code'),
      nextUrl: connectedAppsUrl(next),
      findSignedInUser: (request) => this.signIn.current(request),
    };
  }
}

/** The page of one connected app, or the list of all. */
function connectedAppsUrl(clientId: string | undefined): string {
  return clientId === undefined ? APPS_PATH : `${APPS_PATH}/${clientId}`;
}

function nextOf(source: Record<string, unknown>): string | undefined {
  const next = new Parameters(source).get('next');
  return isId('svc_app', next) ? next : undefined;
}
