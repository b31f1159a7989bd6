import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { FormBinding } from '../../../pages/views.js';
import { Clock } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isId, newId } from '../../../platform/ids.js';
import { digestsEqual, hmacSha256, sha256 } from '../../../platform/secrets.js';
import type { AccountSession } from '../browser/oauth-pages.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { expiredSignIn, InvalidFormToken, noCookies, signedOut } from '../protocol/page-error.js';
import { Parameters } from '../protocol/parameters.js';
import { signInExpiresAt, SignInService } from '../sign-in/sign-in.service.js';

const KEY_BYTES = 32;

/**
 * Sessions of the account pages, and sign-ins to these pages. Form tokens (RFC 6749 §10.12) are HMACs over the hash of a cookie, so
 * that the database need not store them.
 */
@Injectable()
export class AccountSessions {
  private readonly tokenKey: string;

  constructor(
    private readonly signIn: SignInService,
    private readonly cookies: BrowserCookies,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {
    const { pepper } = config.otp;
    const key = hkdfSync('sha256', pepper, '', 'forms of the account pages', KEY_BYTES);
    this.tokenKey = Buffer.from(key).toString('hex');
  }

  /** The session of the browser. Null if the user is signed out. */
  async current(request: Request): Promise<AccountSession | null> {
    const sessionHash = this.cookies.sessionHash(request);
    const user = await this.signIn.current(request);
    if (!user || sessionHash === undefined) return null;
    return { user, binding: { token: hmacSha256(this.tokenKey, `session|${sessionHash}`) } };
  }

  /**
   * The session that a submitted form belongs to.
   * @throws PageError when the user is signed out or the form belongs to another session
   */
  async findByForm(request: Request): Promise<AccountSession> {
    const session = await this.current(request);
    if (!session) throw signedOut();
    const token = new Parameters(request.body).get('token') ?? '';
    if (!tokensEqual(session.binding.token, token)) throw new InvalidFormToken();
    return session;
  }

  /**
   * Starts a sign-in: sets a missing browser cookie and returns the hidden fields of the forms.
   * @param next the client id of the connected app whose page is shown after the sign-in
   */
  startSignIn(request: Request, response: Response, next?: string): FormBinding {
    const browserHash = this.cookies.ensureBrowser(request, response);
    const signInId = newId('txn', this.clock.now());
    return { transaction: signInId, token: this.signInToken(signInId, browserHash), next };
  }

  /**
   * The sign-in that a submitted form belongs to.
   * @throws PageError when the sign-in has expired or the form is not from this browser
   */
  findSignInByForm(request: Request): FormBinding {
    const form = new Parameters(request.body);
    const browserHash = this.cookies.browserHash(request);
    if (browserHash === undefined) throw noCookies();
    const signInId = form.get('transaction');
    if (!isId('txn', signInId)) throw expiredSignIn();
    const token = this.signInToken(signInId, browserHash);
    if (!tokensEqual(token, form.get('token') ?? '')) throw new InvalidFormToken();
    if (signInExpiresAt(signInId, this.config) <= this.clock.now()) throw expiredSignIn();
    const next = form.get('next');
    return { transaction: signInId, token, next: isId('svc_app', next) ? next : undefined };
  }

  private signInToken(signInId: string, browserHash: string): string {
    return hmacSha256(this.tokenKey, `sign-in|${signInId}|${browserHash}`);
  }
}

/** Compares in constant time. Compares digests, which have equal lengths: the submitted token may have any length. */
function tokensEqual(expected: string, presented: string): boolean {
  return digestsEqual(sha256(expected), sha256(presented));
}
