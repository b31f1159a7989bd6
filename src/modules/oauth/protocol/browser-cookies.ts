import { Injectable } from '@nestjs/common';
import { parse } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { DAY, SECOND } from '../../../platform/clock.js';
import { randomToken, sha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';

const BROWSER_LIFETIME_MS = 365 * DAY;

/**
 * The cookies of the pages. `browser` is a random id, to which authorization requests and sign-ins are bound. `session` is the
 * session token, which changes at every sign-in. `page` carries the result of a form to one page.
 *
 * Browsers send cookies to every port of a host (RFC 6265 §8.5), so the names must not collide with those of other programs. With
 * http, which only a developer's machine uses, the names contain the port. With https, they have a prefix that sub-domains and http
 * cannot set: `__Host-`, or `__Secure-` if the cookie has a path.
 */
@Injectable()
export class BrowserCookies {
  private readonly browserName: string;
  private readonly sessionName: string;
  private readonly pageName: string;
  private readonly options: CookieOptions;
  private readonly pageLifetimeMs: number;

  constructor({ secure, publicUrl, lifetimes }: AppConfig) {
    const suffix = secure ? '' : `-${new URL(publicUrl).port || 80}`;
    const prefix = secure ? '__Host-' : '';
    this.browserName = `${prefix}devplatform-browser${suffix}`;
    this.sessionName = `${prefix}devplatform-session${suffix}`;
    this.pageName = `${secure ? '__Secure-' : ''}devplatform-page${suffix}`;
    this.options = { path: '/', httpOnly: true, secure, sameSite: 'lax' };
    this.pageLifetimeMs = lifetimes.signIn * SECOND;
  }

  /** SHA-256 of the browser cookie. Undefined without a cookie. */
  browserHash(request: Request): string | undefined {
    return hashOf(readCookie(request, this.browserName));
  }

  /** Like `browserHash`, but sets a missing cookie. */
  ensureBrowser(request: Request, response: Response): string {
    const existing = this.browserHash(request);
    if (existing !== undefined) return existing;
    const value = randomToken();
    response.cookie(this.browserName, value, { ...this.options, maxAge: BROWSER_LIFETIME_MS });
    return sha256(value);
  }

  /** SHA-256 of the session cookie. Undefined without a cookie. */
  sessionHash(request: Request): string | undefined {
    return hashOf(readCookie(request, this.sessionName));
  }

  setSession(response: Response, value: string): void {
    response.cookie(this.sessionName, value, this.options);
  }

  clearSession(response: Response): void {
    response.clearCookie(this.sessionName, this.options);
  }

  pageState(request: Request): string | undefined {
    return readCookie(request, this.pageName);
  }

  /** @param path the pages that receive the state; an empty value deletes it */
  setPageState(response: Response, path: string, value: string): void {
    const options = { ...this.options, path };
    if (value === '') response.clearCookie(this.pageName, options);
    else response.cookie(this.pageName, value, { ...options, maxAge: this.pageLifetimeMs });
  }
}

function readCookie({ headers }: Request, name: string): string | undefined {
  return parse(headers.cookie ?? '')[name] || undefined;
}

function hashOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : sha256(value);
}
