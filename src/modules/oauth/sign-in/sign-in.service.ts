import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock, later, MINUTE, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { UnknownCommitOutcome } from '../../../platform/database/errors.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { timeOf } from '../../../platform/ids.js';
import { randomToken, sha256 } from '../../../platform/secrets.js';
import type { SignInUser } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { type Attempt, OtpService, type Verification, type WhenRight } from './otp.service.js';
import { SignInSessionsRepository } from './sessions.repository.js';

/** When a sign-in ends: its id holds when it began, so that one that is gone and one that never was are told alike. */
export function endOfSignIn(transactionId: string, { lifetimes }: AppConfig): Date {
  return later(timeOf(transactionId), lifetimes.transaction * SECOND);
}

/** Who is signed in at a browser. A session saves the next one-time password, never the consent. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: SignInSessionsRepository,
    private readonly otp: OtpService,
    private readonly users: UsersService,
    private readonly cookies: BrowserCookies,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * The user who is signed in at this browser and may still be, or null. Keeps the session alive, writing at most once a
   * minute, and never for HEAD.
   */
  async current(request: Request): Promise<SignInUser | null> {
    const hash = this.cookies.sessionHash(request);
    if (hash === undefined) return null;
    const now = this.clock.now();
    const session = await this.sessions.findLive(hash, now);
    if (!session) return null;
    const end = this.end(now);
    if (request.method !== 'HEAD' && end.getTime() - session.expiresAt.getTime() >= MINUTE) {
      await this.transactions.run((tx) => this.sessions.prolong(tx, hash, end));
    }
    return this.users.active(session.userId);
  }

  /**
   * Tries a password. A right one starts a session under a new id, ends the browser's earlier one, and does what `also` does: all
   * in the unit that spends it, and the cookie after that.
   */
  async signIn(
    request: Request,
    response: Response,
    attempt: Attempt,
    also: WhenRight = async () => undefined,
  ): Promise<Verification> {
    const now = this.clock.now();
    const earlier = this.cookies.sessionHash(request);
    const value = randomToken();
    let isRight = false;
    try {
      const verification = await this.otp.verify(attempt, async (tx, user) => {
        isRight = true;
        if (earlier !== undefined) await this.sessions.delete(tx, earlier);
        const session = { hash: sha256(value), userId: user.id, createdAt: now };
        await this.sessions.insert(tx, { ...session, expiresAt: this.end(now) });
        await also(tx, user);
      });
      if (verification.outcome === 'right') this.cookies.setSession(response, value);
      return verification;
    } catch (error) {
      // If it was committed, the same form leads on from the session; if not, the cookie opens nothing.
      if (isRight && error instanceof UnknownCommitOutcome)
        this.cookies.setSession(response, value);
      throw error;
    }
  }

  async signOut(request: Request, response: Response): Promise<void> {
    const hash = this.cookies.sessionHash(request);
    this.cookies.endSession(response);
    if (hash !== undefined) await this.transactions.run((tx) => this.sessions.delete(tx, hash));
  }

  private end(now: Date): Date {
    return later(now, this.config.lifetimes.session * SECOND);
  }
}
