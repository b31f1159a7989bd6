import { Controller, Get, Param, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { isId } from '../../../platform/ids.js';
import { ACCOUNT_PATH, APPS_PATH, OAuthPages } from '../browser/oauth-pages.js';
import { PageErrorFilter } from '../browser/page-error.filter.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { notConnected } from '../protocol/page-error.js';
import { isWellEncoded } from '../protocol/parameters.js';
import { AccountSessions } from './account-sessions.service.js';
import { ConnectedAppsService } from './connected-apps.service.js';

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
  else sendRedirect(response, APPS_PATH);
}

/** The apps that have access to the user's account. */
@Public()
@ApiExcludeController()
@UseFilters(PageErrorFilter)
@Controller('account')
export class ConnectedAppsController {
  constructor(
    private readonly sessions: AccountSessions,
    private readonly apps: ConnectedAppsService,
    private readonly pages: OAuthPages,
  ) {}

  @Get('apps')
  async list(@Req() request: Request, @Res() response: Response): Promise<void> {
    const session = await this.sessions.current(request);
    if (!session) return this.startSignIn(request, response);
    this.pages.sendConnectedAppsPage(response, session, await this.apps.list(session.user.id));
  }

  /** The action URL of the form that revokes access, requested with GET. */
  @Get('apps/revoke')
  redirectFormUrl(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  @Get('apps/:client_id')
  async show(
    @Param('client_id') clientId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isId('svc_app', clientId)) throw notConnected();
    const session = await this.sessions.current(request);
    if (!session) return this.startSignIn(request, response, clientId);
    const app = await this.apps.find(session.user.id, clientId);
    if (!app) throw notConnected();
    const { user, binding } = session;
    // With `next`, "Not you?" returns to this page.
    this.pages.sendConnectedAppPage(
      response,
      { user, binding: { ...binding, next: clientId } },
      app,
    );
  }

  @Get()
  redirectRoot(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  /** The action URL of a sign-in or sign-out form, requested with GET, or an unknown path. */
  @Get('{*path}')
  redirectUnknownPath(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  private startSignIn(request: Request, response: Response, next?: string): void {
    const binding = this.sessions.startSignIn(request, response, next);
    this.pages.sendPhonePage(response, { binding, path: ACCOUNT_PATH });
  }
}
