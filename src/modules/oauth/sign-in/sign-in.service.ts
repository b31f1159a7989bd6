import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock, later, MINUTE, SECOND } from '../../../common/clock.js';
import { randomToken, sha256 } from '../../../common/secrets.js';
import { AppConfig } from '../../../config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../database/transaction.js';
import type { SignInUser } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import { BrowserCookies } from './browser-cookies.js';
import { OtpService, type Verification } from './otp.service.js';
import { SignInSessionsRepository } from './sign-in-sessions.repository.js';

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
   * Spends the password, starts a session under a new id, ends the browser's earlier one, and does what `also` does: all in
   * one unit, and the cookie after it. False when the password was spent before.
   */
  async signIn(
    request: Request,
    response: Response,
    { userId, challenge }: Extract<Verification, { outcome: 'right' }>,
    also: (tx: Transaction) => Promise<void> = async () => undefined,
  ): Promise<boolean> {
    const now = this.clock.now();
    const earlier = this.cookies.sessionHash(request);
    const value = randomToken();
    const session = { hash: sha256(value), userId, createdAt: now, expiresAt: this.end(now) };
    const first = await this.transactions.run(async (tx) => {
      if (!(await this.otp.spend(tx, challenge))) return false;
      if (earlier !== undefined) await this.sessions.delete(tx, earlier);
      await this.sessions.insert(tx, session);
      await also(tx);
      return true;
    });
    if (first) this.cookies.setSession(response, value);
    return first;
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
