import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { PageRenderer } from '../../../pages/page-renderer.js';
import { textsFor } from '../../../pages/translations/translations.js';
import { isId } from '../../../platform/ids.js';
import { BrowserForm, BrowserPages } from '../browser/browser-form.decorator.js';
import { APPS_PAGE, messageOf, PageStates, type PageState } from '../browser/page-state.js';
import { AppsService } from '../clients/apps.service.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { isWellEncoded, Parameters } from '../protocol/parameters.js';
import { SignInFlowService } from '../sign-in/sign-in-flow.js';
import { userView } from '../sign-in/sign-in.service.js';
import { UserSessions } from '../sign-in/user-sessions.service.js';
import { type AppSummary, GrantsService } from '../tokens/grants.service.js';
import { AccountSessions } from './account-sessions.service.js';

/**
 * Middleware for paths that the router cannot decode, to which it responds with a JSON error. Redirects to the connected apps
 * instead, except for POST.
 */
export function redirectUndecodablePath(
  { method, originalUrl }: Request,
  response: Response,
  next: NextFunction,
): void {
  const [path = ''] = originalUrl.split('?');
  if (method === 'POST' || isWellEncoded(path)) next();
  else sendRedirect(response, APPS_PAGE.url);
}

/** The apps that have access to the user's account, and the browsers in which the user is signed in. */
@BrowserPages()
@Controller('account')
export class ConnectedAppsController {
  constructor(
    private readonly sessions: AccountSessions,
    private readonly grants: GrantsService,
    private readonly apps: AppsService,
    private readonly browsers: UserSessions,
    private readonly flows: SignInFlowService,
    private readonly renderer: PageRenderer,
    private readonly states: PageStates,
  ) {}

  @Get('apps')
  async list(@Req() request: Request, @Res() response: Response): Promise<void> {
    const state = this.states.take(request, response, APPS_PAGE.statePath);
    const session = await this.sessions.current(request);
    if (!session) return this.startSignIn(request, response);
    const app = state.clientId === undefined ? null : await this.apps.find(state.clientId);
    const feedback = messageOf({ ...state, appName: app?.name }, textsFor(request));
    const { user, sessionHash, binding } = session;
    const apps = await this.grants.activeApps(user.id);
    const sessions = await this.browsers.view(user.id, sessionHash);
    const view = { ...binding, user: userView(user), apps, sessions, ...feedback };
    this.renderer.send(response, 'connected-apps', view, feedback);
  }

  /** Revokes the access of one app or of all apps. */
  @BrowserForm()
  @Post('apps/revoke')
  async revoke(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { user } = await this.sessions.findByForm(request);
    request.context.resultPage = APPS_PAGE;
    const form = new Parameters(request.body);
    const clientId = form.get('client_id');
    const isAll = form.get('all') === '1';
    if (!isAll && !isId('svc_app', clientId)) throw new PageError('malformed_form');
    const change = { actor: user.id, reason: 'by the user' };
    const clientIds = isAll ? 'all' : [clientId ?? ''];
    const revoked = await this.grants.revokeForUser(user.id, clientIds, change);
    this.states.redirect(response, APPS_PAGE, resultOf(revoked));
  }

  /** Ends one session of the user. */
  @BrowserForm()
  @Post('sessions/end')
  async endSession(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { user } = await this.sessions.findByForm(request);
    request.context.resultPage = APPS_PAGE;
    const handle = new Parameters(request.body).get('session');
    if (handle === undefined) throw new PageError('malformed_form');
    const isEnded = await this.browsers.endByUser(user.id, handle);
    const message = isEnded ? 'browser_signed_out' : 'browser_already_signed_out';
    this.states.redirect(response, APPS_PAGE, { message });
  }

  /** The action URL of the form that revokes access, requested with GET. */
  @Get('apps/revoke')
  redirectFormUrl(@Res() response: Response): void {
    sendRedirect(response, APPS_PAGE.url);
  }

  @Get('apps/:client_id')
  async show(
    @Param('client_id') clientId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isId('svc_app', clientId)) throw new PageError('not_connected');
    const session = await this.sessions.current(request);
    if (!session) return this.startSignIn(request, response, clientId);
    const [app] = await this.grants.activeApps(session.user.id, [clientId]);
    if (!app) throw new PageError('not_connected');
    const { user, binding } = session;
    // With `next`, a sign-in after "Sign out" returns to this page.
    const view = { ...binding, next: clientId, user: userView(user), app };
    this.renderer.send(response, 'connected-app', view);
  }

  @Get()
  redirectRoot(@Res() response: Response): void {
    sendRedirect(response, APPS_PAGE.url);
  }

  /** The action URL of a sign-in or sign-out form, requested with GET, or an unknown path. */
  @Get('{*path}')
  redirectUnknownPath(@Res() response: Response): void {
    sendRedirect(response, APPS_PAGE.url);
  }

  private async startSignIn(request: Request, response: Response, next?: string): Promise<void> {
    await this.flows.sendPhonePage(response, this.sessions.startSignIn(request, response, next));
  }
}

function resultOf(revoked: readonly AppSummary[]): PageState {
  if (revoked.length === 0) return { message: 'already_disconnected' };
  const clientId = revoked.length === 1 ? revoked[0]?.clientId : undefined;
  return { message: 'disconnected', count: revoked.length, clientId };
}
