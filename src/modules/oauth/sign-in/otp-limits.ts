import { Injectable } from '@nestjs/common';
import { Clock, DAY, HOUR, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { ExpiredRows } from '../../../platform/database/retention/expired-rows.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import {
  SlidingWindowCounter,
  type Attempt,
  type RateLimitState,
} from '../rate-limit/sliding-window-counter.js';
import type { RateLimit } from '../rate-limit/rate-limits.js';
import { RateLimitReport } from '../rate-limit/rate-limit-report.js';
import type { Visitor } from '../rate-limit/request-keys.js';
import { TrustedDevicesRepository } from './sessions.repository.js';

/** The attempts that were counted, and when, so that they can be refunded. */
export interface Taken {
  attempts: readonly Attempt[];
  at: Date;
}

/** Either all attempts were counted, or none, because a limit is exceeded. */
export type Take = Taken | { retryAfterSeconds: number };

const EVERYBODY = '';
const OWN_SENDS = 1;
const OWN_GUESSES = 5;
const ALARM: Attempt = {
  limit: { name: 'otp-daily-total-alarm', limit: 1, windowMs: HOUR },
  key: EVERYBODY,
};

/**
 * The limits of one-time passwords. Those of a phone are shared by everybody who types its number, so a stranger can use them up.
 * A browser that signed in with the phone before then has small limits of its own, so the user is not locked out.
 */
@Injectable()
export class OtpLimits {
  private readonly sends: readonly RateLimit[];
  private readonly sendsFromAddress: RateLimit;
  private readonly ownSends: RateLimit;
  private readonly guesses: RateLimit;
  private readonly ownGuesses: RateLimit;
  /** Messages to all phones together. */
  private readonly total: Attempt;

  constructor(
    private readonly counter: SlidingWindowCounter,
    private readonly report: RateLimitReport,
    private readonly browsers: TrustedDevicesRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    { otp, rateLimits }: AppConfig,
  ) {
    const windowMs = rateLimits.windowSeconds * SECOND;
    const pause = { name: 'otp-pause', limit: 1, windowMs: otp.resendSeconds * SECOND };
    this.sends = [
      ...(otp.resendSeconds > 0 ? [pause] : []),
      { name: 'otp-hourly', limit: otp.phoneHourly, windowMs: HOUR },
      { name: 'otp-daily', limit: otp.phoneDaily, windowMs: DAY },
    ];
    this.sendsFromAddress = { name: 'otp-address', limit: otp.addressHourly, windowMs: HOUR };
    this.ownSends = { name: 'otp-own-sends', limit: OWN_SENDS, windowMs };
    this.guesses = { name: 'otp-guesses', limit: otp.phoneFailures, windowMs };
    this.ownGuesses = { name: 'otp-own-guesses', limit: OWN_GUESSES, windowMs };
    this.total = {
      limit: { name: 'otp-daily-total', limit: otp.dailyTotal, windowMs: DAY },
      key: EVERYBODY,
    };
  }

  /**
   * Counts a message to this phone, in the transaction that stores its password.
   * @param hasPassword whether the visitor has a password that still works: a second click uses none of the browser's own messages
   */
  async takeSend(
    tx: Transaction,
    phone: string,
    { address, browserHash }: Visitor,
    hasPassword: () => Promise<boolean>,
  ): Promise<Take> {
    const fromAddress = { limit: this.sendsFromAddress, key: address };
    const shared = await this.take(tx, [
      ...this.sends.map((limit) => ({ limit, key: phone })),
      fromAddress,
    ]);
    if ('attempts' in shared || (await hasPassword())) return shared;
    if (!(await this.browsers.isKnown(browserHash, phone, tx))) return shared;
    const own = await this.take(tx, [
      { limit: this.ownSends, key: ownKey(browserHash, phone) },
      fromAddress,
    ]);
    return 'attempts' in own ? own : sooner(shared, own);
  }

  /** The state of the guesses that this browser has at passwords of this phone. Counts nothing. */
  async peekGuess(phone: string, browserHash: string): Promise<RateLimitState> {
    const shared = await this.peek({ limit: this.guesses, key: phone });
    if (!shared.exceeded || !(await this.browsers.isKnown(browserHash, phone))) return shared;
    const own = await this.counter.peek(this.ownGuesses, ownKey(browserHash, phone));
    return own.exceeded ? sooner(shared, own) : own;
  }

  /** Counts a guess at a password of this phone, in the transaction that compares it. */
  async takeGuess(tx: Transaction, phone: string, browserHash: string): Promise<Take> {
    const shared = await this.take(tx, [{ limit: this.guesses, key: phone }]);
    if ('attempts' in shared || !(await this.browsers.isKnown(browserHash, phone, tx)))
      return shared;
    const own = await this.take(tx, [{ limit: this.ownGuesses, key: ownKey(browserHash, phone) }]);
    return 'attempts' in own ? own : sooner(shared, own);
  }

  /** The state of the day's messages. Counts nothing. */
  peekTotal(): Promise<RateLimitState> {
    return this.peek(this.total);
  }

  /** Counts one of the day's messages. */
  takeTotal(): Promise<Take> {
    return this.transactions.run((tx) => this.take(tx, [this.total]));
  }

  /** Whether the day's messages are used up and no process has reported it within the last hour. True for one process only. */
  async totalWasReached(): Promise<boolean> {
    const { exceeded } = await this.counter.peek(this.total.limit, this.total.key);
    return exceeded && 'attempts' in (await this.transactions.run((tx) => this.take(tx, [ALARM])));
  }

  /** All rows that count attempts of this phone, including those of browsers that signed in with it. */
  attemptsOf(phone: string): ExpiredRows {
    return this.counter.attemptsOf(async () => {
      const browsers = await this.browsers.findAll(phone);
      return [
        ...[...this.sends, this.guesses].map((limit) => ({ limit, key: phone })),
        ...browsers.flatMap((hash) =>
          [this.ownSends, this.ownGuesses].map((limit) => ({ limit, key: ownKey(hash, phone) })),
        ),
      ];
    });
  }

  async giveBack(tx: Transaction, { attempts, at }: Taken): Promise<void> {
    await this.counter.refund(tx, attempts, at);
  }

  private async peek({ limit, key }: Attempt): Promise<RateLimitState> {
    const state = await this.counter.peek(limit, key);
    if (state.exceeded) this.report.refused(limit.name);
    return state;
  }

  private async take(tx: Transaction, attempts: readonly Attempt[]): Promise<Take> {
    const at = this.clock.now();
    // A limit of one is a pause: everybody reaches it.
    const exceeded = await this.counter.takeAll(tx, attempts, at, ({ name, limit }) =>
      limit === 1 ? Promise.resolve() : this.report.reached(tx, name),
    );
    if (!exceeded) return { attempts, at };
    if (exceeded.limit !== ALARM.limit) this.report.refused(exceeded.limit.name);
    return { retryAfterSeconds: exceeded.retryAfterSeconds };
  }
}

function ownKey(browserHash: string, phone: string): string {
  return `${browserHash}|${phone}`;
}

function sooner<T extends { retryAfterSeconds: number }>(left: T, right: T): T {
  return left.retryAfterSeconds <= right.retryAfterSeconds ? left : right;
}
