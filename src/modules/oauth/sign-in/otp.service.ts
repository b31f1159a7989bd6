import { Injectable } from '@nestjs/common';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import { countryOf } from '../../users/phone-number.js';
import { digestsEqual, hmacSha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { UnknownCommitOutcome } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import type { Language } from '../../../pages/language.js';
import type { SignInUser } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import type { Visitor } from '../rate-limit/request-keys.js';
import { newOneTimePassword } from './one-time-password.js';
import { OtpDelivery, type PasswordMessage } from './otp-delivery.js';
import { OtpLimits, type TakeResult } from './otp-limits.js';
import { PhoneLock } from './phone-lock.js';
import type { OtpChallenge } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';

/** A password that a visitor typed. */
export interface Guess {
  transactionId: string;
  password: string;
  visitor: Visitor;
}

/** Runs in the transaction that consumes a right password. */
export type OnSignIn = (tx: Transaction, user: SignInUser) => Promise<void>;

/** `locked`: 100 consecutive wrong passwords. `throttled`: too many guesses in the current window. */
export interface BlockedPhone {
  outcome: 'locked' | 'throttled';
  retryAfterSeconds: number;
}

/** `closed`: no valid password exists. It was never requested, has expired, was used, or had too many guesses. */
export type Verification =
  { outcome: 'right'; user: SignInUser } | { outcome: 'wrong' | 'closed' } | BlockedPhone;

/** `wait`: too many messages; the previous password stays valid. `country`: `OTP_COUNTRIES` excludes the number. */
type SendResult =
  { outcome: 'sent' | 'country' } | { outcome: 'wait'; retryAfterSeconds: number } | BlockedPhone;

/** One-time passwords by phone (source document, section 3; NIST SP 800-63B). */
@Injectable()
export class OtpService {
  constructor(
    private readonly repository: SignInRepository,
    private readonly users: UsersService,
    private readonly limits: OtpLimits,
    private readonly lock: PhoneLock,
    private readonly delivery: OtpDelivery,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sends a new password to `phone` (E.164) if it belongs to a user. Responds the same for an unknown phone. Therefore it only
   * reads the daily total; `OtpDelivery` counts each message that it sends.
   */
  async send(
    transactionId: string,
    phone: string,
    visitor: Visitor,
    language: Language,
  ): Promise<SendResult> {
    const { countries, seconds } = this.config.otp;
    if (countries && !countries.includes(countryOf(phone) ?? '')) return { outcome: 'country' };
    const blocked = await this.blocked(phone, visitor);
    if (blocked) return blocked;
    const { exceeded, retryAfterSeconds } = await this.limits.peekTotal();
    if (exceeded) return { outcome: 'wait', retryAfterSeconds };
    const user = await this.users.activeByPhone(phone);
    const password = newOneTimePassword();
    const now = this.clock.now();
    const challenge: OtpChallenge = {
      transactionId,
      phone,
      userId: user?.id ?? null,
      codeHash: this.hash(transactionId, phone, password),
      attempts: 0,
      createdAt: now,
      expiresAt: addMilliseconds(now, seconds * SECOND),
      consumedAt: null,
    };
    const message = { challenge, password, language };
    const take = await this.store(message, visitor);
    if (!('attempts' in take)) return { outcome: 'wait', ...take };
    this.delivery.deliver(message);
    return { outcome: 'sent' };
  }

  /** Counts the message and stores its password. After an unknown commit outcome, sends the message only if it was committed. */
  private async store(message: PasswordMessage, visitor: Visitor): Promise<TakeResult> {
    const { challenge } = message;
    const { transactionId, phone, createdAt } = challenge;
    let take: TakeResult | undefined;
    try {
      return await this.transactions.run(async (tx) => {
        take = await this.limits.takeMessage(tx, phone, visitor, () =>
          this.repository.hasOpenChallenge(transactionId, phone, createdAt, tx),
        );
        if ('attempts' in take) await this.repository.saveChallenge(tx, challenge);
        return take;
      });
    } catch (error) {
      if (take && 'attempts' in take && error instanceof UnknownCommitOutcome)
        this.delivery.deliver(message, () =>
          this.transactions.run((tx) => this.repository.isStored(tx, challenge)),
        );
      throw error;
    }
  }

  /** Whether the last password sent to this phone in this sign-in is still valid. */
  hasValidPassword(transactionId: string, phone: string): Promise<boolean> {
    return this.repository.hasOpenChallenge(transactionId, phone, this.clock.now());
  }

  /** Verifies a password and refunds the guess unless the password is wrong. */
  async verify(guess: Guess, onSignIn: OnSignIn): Promise<Verification> {
    const { transactionId, visitor } = guess;
    const open = await this.repository.findOpenChallenge(transactionId, this.clock.now());
    if (!open) return { outcome: 'closed' };
    const { phone } = open;
    const blocked = await this.blocked(phone, visitor);
    if (blocked) return blocked;
    return this.transactions.run(async (tx) => {
      const take = await this.limits.takeGuess(tx, phone, visitor.browserHash);
      if (!('attempts' in take)) return { outcome: 'throttled', ...take };
      const verification = await this.compare(tx, phone, guess, onSignIn);
      if (verification.outcome !== 'wrong') await this.limits.refund(tx, take);
      return verification;
    });
  }

  private async compare(
    tx: Transaction,
    phone: string,
    { transactionId, password, visitor: { browserHash } }: Guess,
    onSignIn: OnSignIn,
  ): Promise<Verification> {
    const now = this.clock.now();
    const challenge = await this.repository.countAttempt(tx, transactionId, phone, now);
    if (!challenge) return { outcome: 'closed' };
    const { userId, codeHash } = challenge;
    const isRight =
      digestsEqual(codeHash, this.hash(transactionId, phone, password)) && userId !== null;
    const retryAfterSeconds = await this.lock.recordGuess(tx, challenge, isRight);
    if (retryAfterSeconds !== undefined) return { outcome: 'locked', retryAfterSeconds };
    if (!isRight) return { outcome: 'wrong' };
    const user = await this.users.active(userId, tx);
    if (!user || !(await this.repository.consumeChallenge(tx, transactionId, now)))
      return { outcome: 'closed' };
    if (browserHash !== '')
      await this.repository.saveTrustedDevice(tx, { browserHash, phone, signedInAt: now });
    await this.repository.deleteFailures(tx, phone);
    await onSignIn(tx, user);
    return { outcome: 'right', user };
  }

  private async blocked(
    phone: string,
    { browserHash }: Visitor,
  ): Promise<BlockedPhone | undefined> {
    const lockedSeconds = await this.lock.secondsLeft(phone);
    if (lockedSeconds !== undefined) return { outcome: 'locked', retryAfterSeconds: lockedSeconds };
    const { exceeded, retryAfterSeconds } = await this.limits.peekGuess(phone, browserHash);
    return exceeded ? { outcome: 'throttled', retryAfterSeconds } : undefined;
  }

  private hash(transactionId: string, phone: string, password: string): string {
    return hmacSha256(this.config.otp.pepper, `${transactionId}|${phone}|${password}`);
  }
}
