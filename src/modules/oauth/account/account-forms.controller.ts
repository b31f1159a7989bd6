import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { TextSelector } from '../../../pages/translations/translations.js';
import { isId } from '../../../platform/ids.js';
import { BrowserForms } from '../browser/browser-form.decorator.js';
import { ACCOUNT_PATH, APPS_PATH, OAuthPages, type Feedback } from '../browser/oauth-pages.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { Parameters } from '../protocol/parameters.js';
import { SignInFlowService, type SignInFlow } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import type { AppSummary } from '../tokens/grants.service.js';
import { AccountSessions } from './account-sessions.service.js';
import { ConnectedAppsService } from './connected-apps.service.js';

/** Handles the forms of the account pages. */
@BrowserForms()
@Controller('account')
export class AccountFormsController {
  constructor(
    private readonly sessions: AccountSessions,
    private readonly flows: SignInFlowService,
    private readonly signIn: SignInService,
    private readonly apps: ConnectedAppsService,
    private readonly pages: OAuthPages,
  ) {}

  @Post('sign-in')
  @HttpCode(200)
  sendOneTimePassword(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.flows.sendOneTimePassword(this.signInFlow(request), request, response);
  }

  @Post('verify')
  @HttpCode(200)
  verify(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.flows.verify(this.signInFlow(request), request, response);
  }

  @Post('change-number')
  @HttpCode(200)
  changeNumber(@Req() request: Request, @Res() response: Response): void {
    this.pages.sendPhonePage(response, this.signInFlow(request).form);
  }

  /** Revokes the access of the selected apps or of all apps. */
  @Post('apps/revoke')
  @HttpCode(200)
  async revoke(@Req() request: Request, @Res() response: Response): Promise<void> {
    const session = await this.sessions.findByForm(request);
    const { id: userId } = session.user;
    const form = new Parameters(request.body);
    const selected = form.all('client_id').filter((value) => isId('svc_app', value));
    const clientIds = form.get('all') === '1' ? 'all' : selected;
    const feedback: Feedback =
      clientIds !== 'all' && clientIds.length === 0
        ? { status: 400, error: ({ apps }) => apps.noneSelected }
        : { notice: noticeOf(await this.apps.revoke(userId, clientIds)) };
    this.pages.sendConnectedAppsPage(response, session, await this.apps.list(userId), feedback);
  }

  /** Handles "Not you?": ends the session and redirects to the same page, which then starts a sign-in. */
  @Post('sign-out')
  async signOut(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.sessions.findByForm(request);
    await this.signIn.signOut(request, response);
    const nextClientId = new Parameters(request.body).get('next');
    redirectToConnectedApps(response, isId('svc_app', nextClientId) ? nextClientId : undefined);
  }

  private signInFlow(request: Request): SignInFlow {
    const formBinding = this.sessions.findSignInByForm(request);
    const { next: nextClientId } = formBinding;
    return {
      form: { binding: formBinding, path: ACCOUNT_PATH },
      findSignedInUser: () => this.signIn.current(request),
      next: (response) => redirectToConnectedApps(response, nextClientId),
    };
  }
}

/** Redirects to the page of one connected app, or to the list of all. */
function redirectToConnectedApps(response: Response, clientId: string | undefined): void {
  sendRedirect(response, clientId === undefined ? APPS_PATH : `${APPS_PATH}/${clientId}`);
}

function noticeOf(revoked: readonly AppSummary[]): TextSelector {
  const [first, ...others] = revoked;
  if (!first) return ({ apps }) => apps.alreadyRemoved;
  return ({ apps }) =>
    others.length === 0 ? apps.removed(first.name) : apps.removedSeveral(revoked.length);
}
