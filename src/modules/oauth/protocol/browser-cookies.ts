import { Injectable } from '@nestjs/common';
import { parse } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { DAY } from '../../../platform/clock.js';
import { randomToken, sha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';

const BROWSER_LIFETIME_MS = 365 * DAY;

/**
 * The two cookies of the pages. `browser` is a random id, to which authorization requests and sign-ins are bound. `session` is
 * the session token, which changes at every sign-in. With https, the names start with `__Host-`.
 */
@Injectable()
export class BrowserCookies {
  private readonly browserName: string;
  private readonly sessionName: string;
  private readonly options: CookieOptions;

  constructor(config: AppConfig) {
    const prefix = config.secure ? '__Host-' : '';
    this.browserName = `${prefix}browser`;
    this.sessionName = `${prefix}session`;
    this.options = { path: '/', httpOnly: true, secure: config.secure, sameSite: 'lax' };
  }

  /** SHA-256 of the browser cookie. Undefined without a cookie. */
  browserHash(request: Request): string | undefined {
    return hashOfCookie(request, this.browserName);
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
    return hashOfCookie(request, this.sessionName);
  }

  setSession(response: Response, value: string): void {
    response.cookie(this.sessionName, value, this.options);
  }

  clearSession(response: Response): void {
    response.clearCookie(this.sessionName, this.options);
  }
}

function hashOfCookie({ headers }: Request, name: string): string | undefined {
  const value = parse(headers.cookie ?? '')[name];
  return value ? sha256(value) : undefined;
}
