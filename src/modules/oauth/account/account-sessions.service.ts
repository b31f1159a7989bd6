import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import type { FormBinding } from '../../../pages/views.js';
import { Clock } from '../../../platform/clock.js';
import { newId } from '../../../platform/ids.js';
import type { AccountSession } from '../browser/oauth-pages.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { FormTokens } from '../protocol/form-tokens.js';
import { SignInService } from '../sign-in/sign-in.service.js';

/** Sessions of the account pages. */
@Injectable()
export class AccountSessions {
  constructor(
    private readonly signIn: SignInService,
    private readonly cookies: BrowserCookies,
    private readonly formTokens: FormTokens,
    private readonly clock: Clock,
  ) {}

  /** The session of the browser. Null if the user is signed out. */
  async current(request: Request): Promise<AccountSession | null> {
    const sessionHash = this.cookies.sessionHash(request);
    const user = await this.signIn.current(request);
    if (!user || sessionHash === undefined) return null;
    return { user, binding: { token: this.formTokens.ofSession(sessionHash) } };
  }

  /**
   * The session that a submitted form belongs to.
   * @throws PageError when the user is signed out or the form belongs to another session
   */
  async findByForm(request: Request): Promise<AccountSession> {
    const session = await this.current(request);
    if (!session) throw new PageError('signed_out');
    this.formTokens.check(request, session.binding.token);
    return session;
  }

  /**
   * Starts a sign-in: sets a missing browser cookie and returns the hidden fields of the forms.
   * @param next the client id of the connected app whose page is shown after the sign-in
   */
  startSignIn(request: Request, response: Response, next?: string): FormBinding {
    const browserHash = this.cookies.ensureBrowser(request, response);
    const transaction = newId('txn', this.clock.now());
    return { transaction, token: this.formTokens.ofSignIn(transaction, browserHash), next };
  }
}
