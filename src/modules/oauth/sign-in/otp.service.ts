import { Injectable } from '@nestjs/common';
import { Clock, later, SECOND } from '../../../platform/clock.js';
import { countryOf } from '../../users/phone-number.js';
import { digestsEqual, hmacSha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { UnknownCommitOutcome } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import type { Language } from '../../../pages/language.js';
import type { SignInUser } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import type { Visitor } from '../rate-limit/request-keys.js';
import { TrustedDevicesRepository } from './sessions.repository.js';
import { newOneTimePassword } from './one-time-password.js';
import { OtpLimits, type Take } from './otp-limits.js';
import type { OtpChallenge } from './sign-in.entities.js';
import { OtpChallengesRepository } from './otp.repository.js';
import { OtpDelivery, type PasswordMessage } from './otp-delivery.js';
import { PhoneLock } from './phone-lock.js';

/** A password that was typed in, for this request and in this browser. */
export interface Attempt {
  transactionId: string;
  password: string;
  visitor: Visitor;
}

/** What a right password does, in the unit that spends it. */
export type WhenRight = (tx: Transaction, user: SignInUser) => Promise<void>;

/**
 * Why no password of this phone is compared for now. `locked`: a hundred in a row were wrong, and nobody signs in with it for
 * a day. `guessed`: its guesses of the last minutes are used up.
 */
export interface ClosedPhone {
  outcome: 'locked' | 'guessed';
  retryAfterSeconds: number;
}

/**
 * What became of an attempt. `closed`: no password is open, since none was asked for, or it expired, was used or guessed
 * away.
 */
export type Verification =
  { outcome: 'right'; user: SignInUser } | { outcome: 'wrong' | 'closed' } | ClosedPhone;

/**
 * What became of asking for a message. `wait`: too many were asked for, and the earlier password stays good. `country`: no
 * message goes to numbers of this country.
 */
export type Sending =
  { outcome: 'sent' | 'country' } | { outcome: 'wait'; retryAfterSeconds: number } | ClosedPhone;

/** One-time passwords by phone (source document, section 3; NIST SP 800-63B). */
@Injectable()
export class OtpService {
  constructor(
    private readonly repository: OtpChallengesRepository,
    private readonly users: UsersService,
    private readonly limits: OtpLimits,
    private readonly lock: PhoneLock,
    private readonly browsers: TrustedDevicesRepository,
    private readonly delivery: OtpDelivery,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sends a new password for this transaction to `phone` (E.164), if it is a user's; for any other phone everything but the
   * message is the same. That is also why the messages of the day are only looked at here, and taken when one is sent. None
   * is sent that could not be typed in. A message is taken in the unit that makes its password: where the database is lost, it
   * can be asked for again.
   */
  async send(
    transactionId: string,
    phone: string,
    visitor: Visitor,
    language: Language,
  ): Promise<Sending> {
    if (!this.isServed(phone)) return { outcome: 'country' };
    const closed = await this.closed(phone, visitor);
    if (closed) return closed;
    const { exceeded, retryAfterSeconds } = await this.limits.peekTotal();
    if (exceeded) return { outcome: 'wait', retryAfterSeconds };
    const user = await this.users.activeByPhone(phone);
    const password = newOneTimePassword();
    const challenge = this.newChallenge(transactionId, phone, password, user?.id ?? null);
    const message = { challenge, password, language };
    const take = await this.take(message, visitor);
    if (!('attempts' in take)) return { outcome: 'wait', ...take };
    this.delivery.deliver(message);
    return { outcome: 'sent' };
  }

  /** Takes a message and stores its password. One that may be committed all the same is delivered when it is. */
  private async take(message: PasswordMessage, visitor: Visitor): Promise<Take> {
    const { challenge } = message;
    const { transactionId, phone, createdAt } = challenge;
    let take: Take | undefined;
    try {
      return await this.transactions.run(async (tx) => {
        take = await this.limits.takeSend(tx, phone, visitor, () =>
          this.repository.isOpen(transactionId, phone, createdAt, tx),
        );
        if ('attempts' in take) await this.repository.replace(tx, challenge);
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

  /** Whether the last password that was sent to this phone for this request still works. */
  isOpen(transactionId: string, phone: string): Promise<boolean> {
    return this.repository.isOpen(transactionId, phone, this.clock.now());
  }

  /**
   * Verifies a password, within the limits of its phone and its challenge. Only a wrong password uses up a guess: any other
   * outcome refunds it. All of it is one transaction with `whenRight`, so an attempt that the database loses never happened.
   */
  async verify(attempt: Attempt, whenRight: WhenRight): Promise<Verification> {
    const { transactionId, visitor } = attempt;
    const open = await this.repository.findOpen(transactionId, this.clock.now());
    if (!open) return { outcome: 'closed' };
    const { phone } = open;
    const closed = await this.closed(phone, visitor);
    if (closed) return closed;
    return this.transactions.run(async (tx) => {
      const take = await this.limits.takeGuess(tx, phone, visitor.browserHash);
      if (!('attempts' in take)) return { outcome: 'guessed', ...take };
      const verification = await this.compare(tx, phone, attempt, whenRight);
      if (verification.outcome !== 'wrong') await this.limits.giveBack(tx, take);
      return verification;
    });
  }

  /** Counts the attempt before it compares: concurrent guesses cannot exceed the limit. */
  private async compare(
    tx: Transaction,
    phone: string,
    { transactionId, password, visitor }: Attempt,
    whenRight: WhenRight,
  ): Promise<Verification> {
    const now = this.clock.now();
    const challenge = await this.repository.countAttempt(tx, transactionId, phone, now);
    if (!challenge) return { outcome: 'closed' };
    const { userId, codeHash } = challenge;
    const right =
      digestsEqual(codeHash, this.hash(transactionId, phone, password)) && userId !== null;
    const retryAfterSeconds = await this.lock.judge(tx, challenge, right);
    if (retryAfterSeconds !== undefined) return { outcome: 'locked', retryAfterSeconds };
    if (!right) return { outcome: 'wrong' };
    const user = await this.users.active(userId, tx);
    if (!user || !(await this.repository.consume(tx, transactionId, now)))
      return { outcome: 'closed' };
    await this.remember(tx, phone, visitor, now);
    await whenRight(tx, user);
    return { outcome: 'right', user };
  }

  /** Makes the browser a known one, and ends the row of wrong passwords. */
  private async remember(
    tx: Transaction,
    phone: string,
    { browserHash }: Visitor,
    signedInAt: Date,
  ): Promise<void> {
    if (browserHash !== '') await this.browsers.remember(tx, { browserHash, phone, signedInAt });
    await this.lock.reset(tx, phone);
  }

  /** Why no password of this phone would be compared in this browser now, or undefined when one would. */
  private async closed(phone: string, { browserHash }: Visitor): Promise<ClosedPhone | undefined> {
    const lockedSeconds = await this.lock.secondsLeft(phone);
    if (lockedSeconds !== undefined) return { outcome: 'locked', retryAfterSeconds: lockedSeconds };
    const { exceeded, retryAfterSeconds } = await this.limits.peekGuess(phone, browserHash);
    return exceeded ? { outcome: 'guessed', retryAfterSeconds } : undefined;
  }

  private isServed(phone: string): boolean {
    const { countries } = this.config.otp;
    if (countries === undefined) return true;
    const country = countryOf(phone);
    return country !== undefined && countries.includes(country);
  }

  private newChallenge(
    transactionId: string,
    phone: string,
    password: string,
    userId: string | null,
  ): OtpChallenge {
    const now = this.clock.now();
    return {
      transactionId,
      phone,
      userId,
      codeHash: this.hash(transactionId, phone, password),
      attempts: 0,
      createdAt: now,
      expiresAt: later(now, this.config.otp.seconds * SECOND),
      consumedAt: null,
    };
  }

  private hash(transactionId: string, phone: string, password: string): string {
    return hmacSha256(this.config.otp.pepper, `${transactionId}|${phone}|${password}`);
  }
}
