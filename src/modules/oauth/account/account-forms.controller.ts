import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isId } from '../../../platform/ids.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import type { Sentence } from '../../../pages/translations/translations.js';
import { BrowserForms } from '../browser/browser-form.decorator.js';
import type { AppName } from '../tokens/grants.service.js';
import { OAuthPages, type AccountIdentity, type Remark } from '../browser/oauth-pages.js';
import { Parameters } from '../protocol/parameters.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { AccountErrorFilter, addressOf } from './account-errors.js';
import { ConnectedAppsService } from './connected-apps.service.js';
import { AccountIdentityOf, SessionFormGuard } from './account-session.js';

/** What who is signed in does on the account's pages. */
@BrowserForms(SessionFormGuard, AccountErrorFilter)
@Controller('account')
export class AccountFormsController {
  constructor(
    private readonly apps: ConnectedAppsService,
    private readonly signIn: SignInService,
    private readonly pages: OAuthPages,
  ) {}

  /** Takes the access of every ticked app back, or of all. */
  @Post('apps/revoke')
  @HttpCode(200)
  async revoke(
    @AccountIdentityOf() membership: AccountIdentity,
    @Body() form: Record<string, unknown>,
    @Res() response: Response,
  ): Promise<void> {
    const { id } = membership.user;
    const ticked = [form['client_id']].flat().filter((value) => isId('svc_app', value));
    const wanted = new Parameters(form).get('all') === '1' ? 'all' : ticked;
    const remark: Remark =
      wanted.length === 0
        ? { status: 400, error: ({ apps }) => apps.nothingTicked }
        : { notice: noticeOf(await this.apps.revoke(id, wanted)) };
    this.pages.connectedApps(response, membership, await this.apps.list(id), remark);
  }

  /** "Not you?": ends the session; whoever it is now comes back to the same page. */
  @Post('sign-out')
  async signOut(
    @Body() form: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.signIn.signOut(request, response);
    const next = new Parameters(form).get('next');
    sendRedirect(response, addressOf(isId('svc_app', next) ? next : undefined));
  }
}

function noticeOf(removed: readonly AppName[]): Sentence {
  const [first, ...others] = removed;
  if (!first) return ({ apps }) => apps.removedBefore;
  return ({ apps }) =>
    others.length === 0 ? apps.removed(first.name) : apps.removedSeveral(removed.length);
}
