import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { parse } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { Clock, addMilliseconds, DAY, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isId, newId, timeOf } from '../../../platform/ids.js';
import { digestsEqual, hmacSha256, randomToken, sha256 } from '../../../platform/secrets.js';
import { Parameters } from './parameters.js';

const BROWSER_LIFETIME_MS = 365 * DAY;
const KEY_BYTES = 32;

/** The form token is wrong. It may be a guess, so it counts as a failed attempt. */
export class InvalidFormToken extends PageError {
  constructor() {
    super('foreign_form');
  }
}

/** A sign-in and the browser that it is bound to. */
export interface BoundSignIn {
  signInId: string;
  /** SHA-256 of the browser cookie. */
  browserHash: string;
  /** The form token of its pages. */
  token: string;
}

/**
 * Binds pages and their forms to a browser, with cookies and form tokens.
 *
 * The cookie `browser` is a random id, to which authorization requests and sign-ins are bound. `session` is the session token, which
 * changes at every sign-in. `page` carries the results of forms to the pages that show them. Browsers send cookies to every port of a
 * host (RFC 6265 §8.5), so the names must not collide with those of other programs. With http, which only a developer's machine uses, the names
 * contain the port. With https, they have a prefix that sub-domains and http cannot set: `__Host-`, or `__Secure-` for `page`, whose
 * name is that of version 1.1.
 *
 * Form tokens prove that our own page in the same browser sent a form (RFC 6749 §10.12). They are HMACs over the hash of a cookie, so
 * that every page of a sign-in can be opened again, and the database need not store them.
 */
@Injectable()
export class BrowserBinding {
  private readonly browserName: string;
  private readonly sessionName: string;
  private readonly pageName: string;
  private readonly options: CookieOptions;
  private readonly key: string;

  constructor(
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {
    const { secure, publicUrl, otp } = config;
    const suffix = secure ? '' : `-${new URL(publicUrl).port || 80}`;
    const prefix = secure ? '__Host-' : '';
    this.browserName = `${prefix}devplatform-browser${suffix}`;
    this.sessionName = `${prefix}devplatform-session${suffix}`;
    this.pageName = `${secure ? '__Secure-' : ''}devplatform-page${suffix}`;
    this.options = { path: '/', httpOnly: true, secure, sameSite: 'lax' };
    const key = hkdfSync('sha256', otp.pepper, '', 'form tokens', KEY_BYTES);
    this.key = Buffer.from(key).toString('hex');
  }

  /** SHA-256 of the browser cookie. Undefined without a cookie. */
  browserHash(request: Request): string | undefined {
    return hashOf(readCookie(request, this.browserName));
  }

  /** SHA-256 of the session cookie. Undefined without a cookie. */
  sessionHash(request: Request): string | undefined {
    return hashOf(readCookie(request, this.sessionName));
  }

  setSession(response: Response, value: string): void {
    response.cookie(this.sessionName, value, this.options);
  }

  /**
   * Deletes the session cookie, and what the browser stored of our pages, which Back would show (`Clear-Site-Data`, W3C). Not
   * `"cookies"`, which would delete those of the operator's whole domain, and with the browser cookie the trust in the device; not
   * `"storage"`, because the pages store nothing.
   */
  clearSession(response: Response): void {
    response.clearCookie(this.sessionName, this.options).set('Clear-Site-Data', '"cache"');
  }

  pageStates(request: Request): string | undefined {
    return readCookie(request, this.pageName);
  }

  /** An empty value deletes the cookie. */
  setPageStates(response: Response, value: string): void {
    const maxAge = this.config.lifetimes.signIn * SECOND;
    if (value === '') response.clearCookie(this.pageName, this.options);
    else response.cookie(this.pageName, value, { ...this.options, maxAge });
  }

  /** Starts a sign-in, and sets a missing browser cookie. */
  startSignIn(request: Request, response: Response): BoundSignIn {
    let browserHash = this.browserHash(request);
    if (browserHash === undefined) {
      const value = randomToken();
      response.cookie(this.browserName, value, { ...this.options, maxAge: BROWSER_LIFETIME_MS });
      browserHash = sha256(value);
    }
    return this.bound(newId('txn', this.clock.now()), browserHash);
  }

  /**
   * The sign-in that a submitted form belongs to.
   * @throws PageError as `signInOfPage`, or if the form is not from this browser
   */
  signInOfForm(request: Request): BoundSignIn {
    const signIn = this.signInOfPage(request, new Parameters(request.body).get('transaction'));
    this.checkToken(request, signIn.token);
    return signIn;
  }

  /**
   * The sign-in whose page is opened. Call `checkExpiry` before you show or change anything of it.
   * @throws PageError if the id is malformed or the browser has no cookie
   */
  signInOfPage(request: Request, signInId: string | undefined): BoundSignIn {
    const browserHash = this.browserHash(request);
    if (browserHash === undefined) throw new PageError('no_cookies');
    if (!isId('txn', signInId)) throw new PageError('expired');
    return this.bound(signInId, browserHash);
  }

  /** @throws PageError if the sign-in has expired */
  checkExpiry(signInId: string): void {
    if (this.expiryOf(signInId) <= this.clock.now()) throw new PageError('expired');
  }

  /**
   * The id contains the time at which the sign-in started. The expiry is computed from the id, so that responses do not reveal whether
   * an id was deleted or never existed.
   */
  expiryOf(signInId: string): Date {
    return addMilliseconds(timeOf(signInId), this.config.lifetimes.signIn * SECOND);
  }

  /** The form token of the pages of a signed-in user. */
  tokenOfSession(sessionHash: string): string {
    return hmacSha256(this.key, `session|${sessionHash}`);
  }

  /** @throws InvalidFormToken if the `token` of the form is another one */
  checkToken(request: Request, expected: string): void {
    const presented = new Parameters(request.body).get('token') ?? '';
    // Compares digests, which have equal lengths: the submitted token may have any length.
    if (!digestsEqual(sha256(expected), sha256(presented))) throw new InvalidFormToken();
  }

  private bound(signInId: string, browserHash: string): BoundSignIn {
    const token = hmacSha256(this.key, `sign-in|${signInId}|${browserHash}`);
    return { signInId, browserHash, token };
  }
}

function readCookie({ headers }: Request, name: string): string | undefined {
  return parse(headers.cookie ?? '')[name] || undefined;
}

function hashOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : sha256(value);
}
