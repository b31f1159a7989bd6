import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Counter } from 'prom-client';
import { Clock, addMilliseconds, HOUR, MINUTE, SECOND } from '../../../platform/clock.js';
import type { UserView } from '../../../pages/views.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { UnknownCommitOutcome } from '../../../platform/database/errors.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics, registerStoredGauge } from '../../../platform/observability/metrics.js';
import { randomToken, sha256 } from '../../../platform/secrets.js';
import { maskPhone } from '../../users/phone-number.js';
import { canAuthorize, isTestUser, type Mode } from '../../users/test-members.js';
import type { SignInUser } from '../../users/users.repository.js';
import { BrowserBinding } from '../protocol/browser-binding.js';
import {
  type Guess,
  type OnSignIn,
  OtpService,
  type Verification,
  VERIFICATION_OUTCOMES,
} from './otp.service.js';
import { SignInRepository } from './sign-in.repository.js';

/** A session ends after this time even if it is in use (OWASP ASVS 5, 7.3.2). */
export const MAX_SESSION_MS = 12 * HOUR;

/** Sign-in sessions of browsers. A user with a session skips the one-time password, but not the consent page. */
@Injectable()
export class SignInService {
  private readonly signIns: Counter<'outcome' | 'mode'>;

  constructor(
    private readonly repository: SignInRepository,
    private readonly otp: OtpService,
    private readonly browsers: BrowserBinding,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    metrics: Metrics,
  ) {
    this.signIns = metrics.counter(
      'sign_ins_total',
      'Submitted one-time passwords, by outcome. verified completes the sign-in.',
      'outcome',
      'mode',
    );
    for (const outcome of VERIFICATION_OUTCOMES) this.signIns.inc({ outcome, mode: 'live' }, 0);
    this.registerWrongCodes(metrics);
  }

  private registerWrongCodes(metrics: Metrics): void {
    const limit = this.config.rateLimits['wrong-codes-per-day'];
    if (limit === 0) return;
    metrics.registerGauge(
      'otp_wrong_codes_limit',
      'Wrong one-time passwords in 24 hours from which on browsers that did not sign in before get eight digits (wrong-codes-per-day).',
      () => limit,
    );
    const wrong = {
      name: 'otp_wrong_codes',
      help: 'Wrong one-time passwords of the last 24 hours, in all processes.',
      labelNames: [],
    };
    registerStoredGauge(metrics.registry, wrong, async () => [
      { labels: {}, value: await this.otp.countWrong() },
    ]);
  }

  /**
   * The active user of the session, or null. Extends the session at most once a minute. HEAD requests do not extend it.
   * @param app the app that the sign-in is for; null for a user who cannot authorize it
   */
  async current(request: Request, app?: Mode): Promise<SignInUser | null> {
    const hash = this.browsers.sessionHash(request);
    if (hash === undefined) return null;
    const now = this.clock.now();
    const session = await this.repository.findSession(hash, now);
    if (!session || !canAuthorize(session.user, app)) return null;
    const expiresAt = this.sessionExpiresAt(now, session.createdAt);
    if (request.method !== 'HEAD' && expiresAt.getTime() - session.expiresAt.getTime() >= MINUTE)
      await this.transactions.run((tx) => this.repository.extendSession(tx, hash, expiresAt));
    return session.user;
  }

  /** Verifies a one-time password. If it is correct, replaces the browser's session in the same transaction. */
  async signIn(
    request: Request,
    response: Response,
    guess: Guess,
    onSignIn?: OnSignIn,
  ): Promise<Verification> {
    const now = this.clock.now();
    const previousHash = this.browsers.sessionHash(request);
    const cookieValue = randomToken();
    const session = {
      hash: sha256(cookieValue),
      createdAt: now,
      expiresAt: this.sessionExpiresAt(now, now),
    };
    let isCorrect = false;
    try {
      const verification = await this.otp.verify(guess, async (tx, user) => {
        isCorrect = true;
        if (previousHash !== undefined) await this.repository.deleteSession(tx, previousHash);
        await this.repository.insertSession(tx, { ...session, userId: user.id });
        await onSignIn?.(tx, user);
      });
      const { outcome } = verification;
      // A test member can sign in to their account pages, too, which belong to no app.
      const isTest =
        outcome === 'verified' ? isTestUser(verification.user) : guess.app?.test === true;
      this.signIns.inc({ outcome, mode: isTest ? 'test' : 'live' });
      if (outcome === 'verified') this.browsers.setSession(response, cookieValue);
      return verification;
    } catch (error) {
      // The session may be committed. Then a retry of the form continues with it; otherwise the cookie has no effect.
      if (isCorrect && error instanceof UnknownCommitOutcome)
        this.browsers.setSession(response, cookieValue);
      throw error;
    }
  }

  async signOut(request: Request, response: Response): Promise<void> {
    const hash = this.browsers.sessionHash(request);
    this.browsers.clearSession(response);
    if (hash !== undefined)
      await this.transactions.run((tx) => this.repository.deleteSession(tx, hash));
  }

  private sessionExpiresAt(now: Date, createdAt: Date): Date {
    const idle = addMilliseconds(now, this.config.lifetimes.session * SECOND);
    const latest = addMilliseconds(createdAt, MAX_SESSION_MS);
    return idle < latest ? idle : latest;
  }
}

/** A user on the pages. The phone is masked, because other people may see the screen. */
export function userView({ name, phone, photoUrl }: SignInUser): UserView {
  return { name, maskedPhone: maskPhone(phone), photoUrl };
}
