import { Injectable } from '@nestjs/common';
import { Clock, later, SECOND } from '../../../common/clock.js';
import { countryOf } from '../../../common/phone-country.js';
import { digestsEqual, hmacSha256 } from '../../../common/secrets.js';
import { AppConfig } from '../../../config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../database/transaction.js';
import type { Language } from '../../../pages/language.js';
import { UsersService } from '../../users/users.service.js';
import type { Visitor } from '../throttle/trackers.js';
import { KnownBrowsersRepository } from './known-browsers.repository.js';
import { newOneTimePassword } from './one-time-password.js';
import { OtpBudgets } from './otp-budgets.js';
import type { OtpChallenge } from './otp-challenge.entity.js';
import { OtpChallengesRepository } from './otp-challenges.repository.js';
import { OtpDelivery } from './otp-delivery.js';
import { PhoneLock } from './phone-lock.js';

/** A challenge that was met, and the browser that met it. */
export type MetChallenge = Pick<OtpChallenge, 'transactionId' | 'phone' | 'codeHash'> &
  Pick<Visitor, 'browserHash'>;

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
  | { outcome: 'right'; userId: string; challenge: MetChallenge }
  | { outcome: 'wrong' | 'closed' }
  | ClosedPhone;

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
    private readonly budgets: OtpBudgets,
    private readonly lock: PhoneLock,
    private readonly browsers: KnownBrowsersRepository,
    private readonly delivery: OtpDelivery,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sends a new password for this transaction to `phone` (E.164), if it is a user's; for any other phone everything but the
   * message is the same. That is also why the messages of the day are only looked at here, and taken when one is sent. None
   * is sent that could not be typed in.
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
    const { spent, retryAfterSeconds } = await this.budgets.peekTotal();
    if (spent) return { outcome: 'wait', retryAfterSeconds };
    const take = await this.budgets.takeSend(phone, visitor, () =>
      this.isOpen(transactionId, phone),
    );
    if (!('hits' in take)) return { outcome: 'wait', ...take };
    const user = await this.users.activeByPhone(phone);
    const password = newOneTimePassword();
    const challenge = this.newChallenge(transactionId, phone, password, user?.id ?? null);
    await this.transactions.run((tx) => this.repository.replace(tx, challenge));
    this.delivery.deliver(challenge, password, language, take);
    return { outcome: 'sent' };
  }

  /** Whether the last password that was sent to this phone for this request still works. */
  isOpen(transactionId: string, phone: string): Promise<boolean> {
    return this.repository.isOpen(transactionId, phone, this.clock.now());
  }

  /**
   * Tries a password, within what the lock and the budgets of its phone and the challenge allow. What one of them refuses
   * takes nothing from the others, and only a wrong password uses up a budget. A right one is not spent yet.
   */
  async verify(
    transactionId: string,
    password: string,
    { browserHash }: Visitor,
  ): Promise<Verification> {
    const open = await this.repository.findOpen(transactionId, this.clock.now());
    if (!open) return { outcome: 'closed' };
    const locked = await this.locked(open.phone);
    if (locked) return locked;
    const take = await this.budgets.takeGuess(open.phone, browserHash);
    if (!('hits' in take)) return { outcome: 'guessed', ...take };
    const verification = await this.compare(open, password, browserHash);
    if (verification.outcome === 'right' || verification.outcome === 'closed')
      await this.budgets.giveBack(take);
    return verification;
  }

  /**
   * Spends a right password in the unit that signs in, which makes the browser a known one and ends the row of wrong ones.
   * False when another attempt was first.
   */
  async spend(tx: Transaction, challenge: MetChallenge): Promise<boolean> {
    const now = this.clock.now();
    if (!(await this.repository.consume(tx, challenge, now))) return false;
    const { browserHash, phone } = challenge;
    if (browserHash !== '')
      await this.browsers.remember(tx, { browserHash, phone, signedInAt: now });
    await this.lock.reset(tx, phone);
    return true;
  }

  /** Counts the attempt before it compares. Of the challenge that was open, at the phone whose budgets were asked. */
  private async compare(
    { transactionId, phone }: OtpChallenge,
    password: string,
    browserHash: string,
  ): Promise<Verification> {
    const now = this.clock.now();
    const challenge = await this.transactions.run((tx) =>
      this.repository.countAttempt(tx, transactionId, phone, now),
    );
    if (!challenge) return { outcome: 'closed' };
    const { userId, codeHash } = challenge;
    const equal = digestsEqual(codeHash, this.hash(transactionId, phone, password));
    const right = equal && userId !== null;
    const retryAfterSeconds = await this.lock.judge(challenge, right);
    if (retryAfterSeconds !== undefined) return { outcome: 'locked', retryAfterSeconds };
    return right
      ? { outcome: 'right', userId, challenge: { transactionId, phone, codeHash, browserHash } }
      : { outcome: 'wrong' };
  }

  /** Why no password of this phone would be compared in this browser now, or undefined when one would. */
  private async closed(phone: string, { browserHash }: Visitor): Promise<ClosedPhone | undefined> {
    const locked = await this.locked(phone);
    if (locked) return locked;
    const { spent, retryAfterSeconds } = await this.budgets.peekGuess(phone, browserHash);
    return spent ? { outcome: 'guessed', retryAfterSeconds } : undefined;
  }

  private async locked(phone: string): Promise<ClosedPhone | undefined> {
    const retryAfterSeconds = await this.lock.secondsLeft(phone);
    return retryAfterSeconds === undefined ? undefined : { outcome: 'locked', retryAfterSeconds };
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
