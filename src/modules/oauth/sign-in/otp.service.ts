import { Injectable } from '@nestjs/common';
import { Clock, DAY, HOUR, later, SECOND } from '../../../common/clock.js';
import { digestsEqual, hmacSha256 } from '../../../common/secrets.js';
import { AppConfig } from '../../../config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../database/transaction.js';
import { UsersService } from '../../users/users.service.js';
import { RollingCounter, type Budget } from '../throttle/rolling-counter.js';
import { newOneTimePassword, oneTimePasswordMessage } from './one-time-password.js';
import type { OtpChallenge } from './otp-challenge.entity.js';
import { OtpChallengesRepository } from './otp-challenges.repository.js';
import { SmsQueue } from './sms-queue.js';

/**
 * What became of an attempt. `closed`: no password is open, since none was asked for, or it expired, was used or guessed
 * away. `locked`: too many guesses at this phone.
 */
export type Verification =
  | { outcome: 'right'; userId: string; challenge: OtpChallenge }
  | { outcome: 'wrong' | 'closed' }
  | { outcome: 'locked'; retryAfterSeconds: number };

/** One-time passwords by phone (source document, section 3; NIST SP 800-63B). */
@Injectable()
export class OtpService {
  private readonly sendBudgets: { perPhone: Budget[]; perAddress: Budget };
  private readonly guesses: Budget;

  constructor(
    private readonly repository: OtpChallengesRepository,
    private readonly users: UsersService,
    private readonly counter: RollingCounter,
    private readonly queue: SmsQueue,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {
    const { otp } = config;
    const pause =
      otp.resendSeconds > 0
        ? [{ name: 'otp-pause', limit: 1, windowMs: otp.resendSeconds * SECOND }]
        : [];
    this.sendBudgets = {
      perPhone: [
        ...pause,
        { name: 'otp-hourly', limit: otp.phoneHourly, windowMs: HOUR },
        { name: 'otp-daily', limit: otp.phoneDaily, windowMs: DAY },
      ],
      perAddress: { name: 'otp-address', limit: otp.addressHourly, windowMs: HOUR },
    };
    this.guesses = {
      name: 'otp-guesses',
      limit: otp.phoneFailures,
      windowMs: config.budgets.windowSeconds * SECOND,
    };
  }

  /**
   * Sends a new password for this request to `phone` (E.164), if it is a user's; for any other phone everything but the
   * message is the same.
   * @returns undefined, or the seconds to wait when too many were asked for; the earlier password then stays good
   */
  async send(authorizationId: string, phone: string, address: string): Promise<number | undefined> {
    const spent = await this.counter.takeAll([
      ...this.sendBudgets.perPhone.map((budget) => ({ budget, key: phone })),
      { budget: this.sendBudgets.perAddress, key: address },
    ]);
    if (spent) return spent.retryAfterSeconds;
    const user = await this.users.activeByPhone(phone);
    const password = newOneTimePassword();
    const now = this.clock.now();
    const challenge: OtpChallenge = {
      authorizationId,
      phone,
      userId: user?.id ?? null,
      codeHash: this.hash(authorizationId, phone, password),
      attempts: 0,
      createdAt: now,
      expiresAt: later(now, this.config.otp.seconds * SECOND),
      consumedAt: null,
    };
    await this.transactions.run((tx) => this.repository.replace(tx, challenge));
    if (user) this.queue.add({ to: phone, text: this.message(password) });
    return undefined;
  }

  /** Whether the last password that was sent to this phone for this request still works. */
  isOpen(authorizationId: string, phone: string): Promise<boolean> {
    return this.repository.isOpen(authorizationId, phone, this.clock.now());
  }

  /** Tries a password, at most five times each and ten times per phone and window. A right one is not spent yet. */
  async verify(authorizationId: string, password: string): Promise<Verification> {
    const now = this.clock.now();
    const challenge = await this.transactions.run((tx) =>
      this.repository.countAttempt(tx, authorizationId, now),
    );
    if (!challenge) return { outcome: 'closed' };
    const { phone, userId, codeHash } = challenge;
    const locked = await this.counter.takeAll([{ budget: this.guesses, key: phone }]);
    if (locked) return { outcome: 'locked', retryAfterSeconds: locked.retryAfterSeconds };
    const right = digestsEqual(codeHash, this.hash(authorizationId, phone, password));
    return right && userId !== null
      ? { outcome: 'right', userId, challenge }
      : { outcome: 'wrong' };
  }

  /** Spends a right password in the unit that signs in. False when another attempt was first. */
  spend(tx: Transaction, challenge: OtpChallenge): Promise<boolean> {
    return this.repository.consume(tx, challenge, this.clock.now());
  }

  private hash(authorizationId: string, phone: string, password: string): string {
    return hmacSha256(this.config.otp.pepper, `${authorizationId}|${phone}|${password}`);
  }

  private message(password: string): string {
    return oneTimePasswordMessage(password, this.config.otp.seconds, this.config.publicUrl);
  }
}
