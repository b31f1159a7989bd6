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

/** Middleware: for a path that it cannot decode, the router would respond in JSON. */
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
    if (!session) return this.askToSignIn(request, response);
    this.pages.connectedApps(response, session, await this.apps.list(session.user.id));
  }

  /** Where a browser lands that opens the form's address again. */
  @Get('apps/revoke')
  formAddress(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  @Get('apps/:client_id')
  async one(
    @Param('client_id') clientId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isId('svc_app', clientId)) throw notConnected();
    const session = await this.sessions.current(request);
    if (!session) return this.askToSignIn(request, response, clientId);
    const app = await this.apps.find(session.user.id, clientId);
    if (!app) throw notConnected();
    const { user, binding } = session;
    this.pages.connectedApp(response, { user, binding: { ...binding, next: clientId } }, app);
  }

  @Get()
  account(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  /** The address of a sign-in form, or a mistyped one. */
  @Get('{*path}')
  elsewhere(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  private askToSignIn(request: Request, response: Response, next?: string): void {
    const binding = this.sessions.startSignIn(request, response, next);
    this.pages.phone(response, { binding, path: ACCOUNT_PATH });
  }
}
