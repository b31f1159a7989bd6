import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock, addMilliseconds, MINUTE, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { UnknownCommitOutcome } from '../../../platform/database/errors.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { timeOf } from '../../../platform/ids.js';
import { randomToken, sha256 } from '../../../platform/secrets.js';
import type { SignInUser } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { type Guess, type OnSignIn, OtpService, type Verification } from './otp.service.js';
import { SignInRepository } from './sign-in.repository.js';

/** Computed from the id, so that a deleted sign-in is indistinguishable from an invented id. */
export function signInExpiresAt(transactionId: string, { lifetimes }: AppConfig): Date {
  return addMilliseconds(timeOf(transactionId), lifetimes.transaction * SECOND);
}

/** Browser sessions. A user with a session skips the one-time password, but not the consent page. */
@Injectable()
export class SignInService {
  constructor(
    private readonly repository: SignInRepository,
    private readonly otp: OtpService,
    private readonly users: UsersService,
    private readonly cookies: BrowserCookies,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** The active user of the session, or null. Extends the session at most once a minute, except for HEAD requests. */
  async current(request: Request): Promise<SignInUser | null> {
    const hash = this.cookies.sessionHash(request);
    if (hash === undefined) return null;
    const now = this.clock.now();
    const session = await this.repository.findSession(hash, now);
    if (!session) return null;
    const expiresAt = this.sessionExpiresAt(now);
    if (request.method !== 'HEAD' && expiresAt.getTime() - session.expiresAt.getTime() >= MINUTE)
      await this.transactions.run((tx) => this.repository.extendSession(tx, hash, expiresAt));
    return this.users.active(session.userId);
  }

  /** Verifies a password. A right one replaces the session of the browser in the same transaction. */
  async signIn(
    request: Request,
    response: Response,
    guess: Guess,
    onSignIn?: OnSignIn,
  ): Promise<Verification> {
    const now = this.clock.now();
    const previous = this.cookies.sessionHash(request);
    const value = randomToken();
    const session = { hash: sha256(value), createdAt: now, expiresAt: this.sessionExpiresAt(now) };
    let isRight = false;
    try {
      const verification = await this.otp.verify(guess, async (tx, user) => {
        isRight = true;
        if (previous !== undefined) await this.repository.deleteSession(tx, previous);
        await this.repository.insertSession(tx, { ...session, userId: user.id });
        await onSignIn?.(tx, user);
      });
      if (verification.outcome === 'right') this.cookies.setSession(response, value);
      return verification;
    } catch (error) {
      // If the session was committed, a retry of the form continues with it. Otherwise the cookie has no effect.
      if (isRight && error instanceof UnknownCommitOutcome)
        this.cookies.setSession(response, value);
      throw error;
    }
  }

  async signOut(request: Request, response: Response): Promise<void> {
    const hash = this.cookies.sessionHash(request);
    this.cookies.endSession(response);
    if (hash !== undefined)
      await this.transactions.run((tx) => this.repository.deleteSession(tx, hash));
  }

  private sessionExpiresAt(now: Date): Date {
    return addMilliseconds(now, this.config.lifetimes.session * SECOND);
  }
}
