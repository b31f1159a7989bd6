import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isId, timeOf } from '../../../platform/ids.js';
import { digestsEqual, hmacSha256, sha256 } from '../../../platform/secrets.js';
import { BrowserCookies } from './browser-cookies.js';
import { Parameters } from './parameters.js';

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
 * Form tokens prove that our own page in the same browser sent a form (RFC 6749 §10.12). They are HMACs over the hash of a cookie, so
 * that every page of a sign-in can be opened again, and the database need not store them.
 */
@Injectable()
export class FormTokens {
  private readonly key: string;

  constructor(
    private readonly cookies: BrowserCookies,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {
    const key = hkdfSync('sha256', config.otp.pepper, '', 'form tokens', KEY_BYTES);
    this.key = Buffer.from(key).toString('hex');
  }

  ofSession(sessionHash: string): string {
    return hmacSha256(this.key, `session|${sessionHash}`);
  }

  ofSignIn(signInId: string, browserHash: string): string {
    return hmacSha256(this.key, `sign-in|${signInId}|${browserHash}`);
  }

  /** @throws InvalidFormToken if the `token` of the form is another one */
  check(request: Request, expected: string): void {
    const presented = new Parameters(request.body).get('token') ?? '';
    // Compares digests, which have equal lengths: the submitted token may have any length.
    if (!digestsEqual(sha256(expected), sha256(presented))) throw new InvalidFormToken();
  }

  /**
   * The sign-in that a submitted form belongs to.
   * @throws PageError as `signInOfPage`, or if the form is not from this browser
   */
  signInOfForm(request: Request): BoundSignIn {
    const signIn = this.signInOfPage(request, new Parameters(request.body).get('transaction'));
    this.check(request, signIn.token);
    return signIn;
  }

  /**
   * The sign-in whose page is opened. Call `checkExpiry` before you show or change anything of it.
   * @throws PageError if the id is malformed or the browser has no cookie
   */
  signInOfPage(request: Request, signInId: string | undefined): BoundSignIn {
    const browserHash = this.cookies.browserHash(request);
    if (browserHash === undefined) throw new PageError('no_cookies');
    if (!isId('txn', signInId)) throw new PageError('expired');
    return { signInId, browserHash, token: this.ofSignIn(signInId, browserHash) };
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
}
