import { Controller, Get, Param, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { isId } from '../../../platform/ids.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { APPS_PATH, OAuthPages } from '../browser/oauth-pages.js';
import { notConnected } from '../protocol/page-error.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { ACCOUNT_PATH, AccountErrorFilter } from './account-errors.js';
import { AccountSignIns } from './account-sign-in.js';
import { ConnectedAppsService } from './connected-apps.service.js';
import { Memberships } from './account-session.js';

/** The apps that have access to the account of who is signed in; who is not signs in first. */
@Public()
@ApiExcludeController()
@UseFilters(AccountErrorFilter)
@Controller('account')
export class ConnectedAppsController {
  constructor(
    private readonly memberships: Memberships,
    private readonly signIns: AccountSignIns,
    private readonly apps: ConnectedAppsService,
    private readonly cookies: BrowserCookies,
    private readonly pages: OAuthPages,
  ) {}

  @Get('apps')
  async list(@Req() request: Request, @Res() response: Response): Promise<void> {
    const membership = await this.memberships.current(request);
    if (!membership) return this.askToSignIn(request, response);
    this.pages.connectedApps(response, membership, await this.apps.list(membership.user.id));
  }

  /** Where a browser lands that opens the address of the form again. */
  @Get('apps/revoke')
  revocationAddress(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  /** One app, where a link leads straight to it. */
  @Get('apps/:client_id')
  async one(
    @Param('client_id') clientId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isId('svc_app', clientId)) throw notConnected();
    const membership = await this.memberships.current(request);
    if (!membership) return this.askToSignIn(request, response, clientId);
    const app = await this.apps.find(membership.user.id, clientId);
    if (!app) throw notConnected();
    const { user, binding } = membership;
    this.pages.connectedApp(response, { user, binding: { ...binding, next: clientId } }, app);
  }

  @Get()
  account(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  /** Where a browser lands that opens the address of a form of signing in, or a mistyped one. */
  @Get('{*path}')
  elsewhere(@Res() response: Response): void {
    sendRedirect(response, APPS_PATH);
  }

  private askToSignIn(request: Request, response: Response, next?: string): void {
    const binding = this.signIns.start(this.cookies.ensureBrowser(request, response), next);
    this.pages.phone(response, { binding, path: ACCOUNT_PATH });
  }
}
