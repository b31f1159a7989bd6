import { Injectable } from '@nestjs/common';
import { Clock, DAY, HOUR, MINUTE } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { ExpiredRows } from '../../../platform/database/retention/expired-rows.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import {
  SlidingWindowCounter,
  type Attempt,
  type RateLimitState,
} from '../rate-limit/sliding-window-counter.js';
import { type RateLimit, WINDOW_MS } from '../rate-limit/rate-limits.js';
import { RateLimitReport } from '../rate-limit/rate-limit-report.js';
import type { Visitor } from '../rate-limit/request-keys.js';
import { SignInRepository } from './sign-in.repository.js';

/** Attempts that were counted, which can be refunded. */
interface Taken {
  attempts: readonly Attempt[];
  at: Date;
}

/** Either all attempts were counted, or none because a limit is exceeded. */
export type Take = Taken | { retryAfterSeconds: number };

const MAX_OWN_MESSAGES = 1;
const MAX_OWN_GUESSES = 5;
/** Counts all phones together. */
const GLOBAL_KEY = '';
const TOTAL_REPORT: Attempt = {
  limit: { name: 'otp-daily-total-alarm', limit: 1, windowMs: HOUR },
  key: GLOBAL_KEY,
};

/**
 * The limits of one-time passwords. All visitors that type a phone share its limits, so a stranger can use them up. A trusted
 * device has small limits of its own beside them, so that the user is not locked out.
 */
@Injectable()
export class OtpLimits {
  private readonly messages: readonly RateLimit[];
  private readonly messagesFromAddress: RateLimit;
  private readonly ownMessages: RateLimit;
  private readonly guesses: RateLimit;
  private readonly ownGuesses: RateLimit;
  private readonly total: Attempt;

  constructor(
    private readonly counter: SlidingWindowCounter,
    private readonly report: RateLimitReport,
    private readonly repository: SignInRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    { otp, rateLimits }: AppConfig,
  ) {
    const windowMs = WINDOW_MS;
    const messagesPer = (period: 'minute' | 'hour' | 'day'): number =>
      rateLimits[`phone-messages-per-${period}`];
    this.messages = [
      { name: 'otp-pause', limit: messagesPer('minute'), windowMs: MINUTE },
      { name: 'otp-hourly', limit: messagesPer('hour'), windowMs: HOUR },
      { name: 'otp-daily', limit: messagesPer('day'), windowMs: DAY },
    ];
    this.messagesFromAddress = {
      name: 'otp-address',
      limit: rateLimits['address-messages-per-hour'],
      windowMs: HOUR,
    };
    this.ownMessages = { name: 'otp-own-sends', limit: MAX_OWN_MESSAGES, windowMs };
    this.guesses = { name: 'otp-guesses', limit: rateLimits['phone-failures'], windowMs };
    this.ownGuesses = { name: 'otp-own-guesses', limit: MAX_OWN_GUESSES, windowMs };
    this.total = {
      limit: { name: 'otp-daily-total', limit: otp.dailyTotal, windowMs: DAY },
      key: GLOBAL_KEY,
    };
  }

  /**
   * Counts a message to this phone.
   * @param hasPassword whether the visitor has an open password: a second click must not use up the device's own messages
   */
  takeMessage(
    tx: Transaction,
    phone: string,
    { address, browserHash }: Visitor,
    hasPassword: () => Promise<boolean>,
  ): Promise<Take> {
    const fromAddress = { limit: this.messagesFromAddress, key: address };
    return this.takeSharedOrOwn(
      tx,
      [...this.messages.map((limit) => ({ limit, key: phone })), fromAddress],
      [{ limit: this.ownMessages, key: ownKey(browserHash, phone) }, fromAddress],
      async () =>
        !(await hasPassword()) && (await this.repository.isTrustedDevice(browserHash, phone, tx)),
    );
  }

  /** Counts a guess at a password of this phone. */
  takeGuess(tx: Transaction, phone: string, browserHash: string): Promise<Take> {
    return this.takeSharedOrOwn(
      tx,
      [{ limit: this.guesses, key: phone }],
      [{ limit: this.ownGuesses, key: ownKey(browserHash, phone) }],
      () => this.repository.isTrustedDevice(browserHash, phone, tx),
    );
  }

  /** The state of the guesses of this browser at passwords of this phone. */
  async peekGuess(phone: string, browserHash: string): Promise<RateLimitState> {
    const shared = await this.peek({ limit: this.guesses, key: phone });
    if (!shared.exceeded || !(await this.repository.isTrustedDevice(browserHash, phone)))
      return shared;
    const own = await this.counter.peek(this.ownGuesses, ownKey(browserHash, phone));
    return own.exceeded ? sooner(shared, own) : own;
  }

  /** The state of the day's messages to all phones. */
  peekTotal(): Promise<RateLimitState> {
    return this.peek(this.total);
  }

  /** Counts one of the day's messages to all phones. */
  takeTotal(): Promise<Take> {
    return this.transactions.run((tx) => this.take(tx, [this.total]));
  }

  /** Whether the day's messages are used up and no process has reported it in the last hour. True for one process only. */
  async shouldReportTotal(): Promise<boolean> {
    const { exceeded } = await this.counter.peek(this.total.limit, this.total.key);
    if (!exceeded) return false;
    return 'attempts' in (await this.transactions.run((tx) => this.take(tx, [TOTAL_REPORT])));
  }

  async refund(tx: Transaction, { attempts, at }: Taken): Promise<void> {
    await this.counter.refund(tx, attempts, at);
  }

  /** All rows that count attempts of this phone, including those of its trusted devices. */
  attemptsOf(phone: string): ExpiredRows {
    return this.counter.attemptsOf(async () => {
      const devices = await this.repository.findTrustedDevices(phone);
      return [
        ...[...this.messages, this.guesses].map((limit) => ({ limit, key: phone })),
        ...devices.flatMap(({ browserHash }) =>
          [this.ownMessages, this.ownGuesses].map((limit) => ({
            limit,
            key: ownKey(browserHash, phone),
          })),
        ),
      ];
    });
  }

  private async takeSharedOrOwn(
    tx: Transaction,
    shared: readonly Attempt[],
    own: readonly Attempt[],
    mayTakeOwn: () => Promise<boolean>,
  ): Promise<Take> {
    const take = await this.take(tx, shared);
    if ('attempts' in take || !(await mayTakeOwn())) return take;
    const ownTake = await this.take(tx, own);
    return 'attempts' in ownTake ? ownTake : sooner(take, ownTake);
  }

  private async peek({ limit, key }: Attempt): Promise<RateLimitState> {
    const state = await this.counter.peek(limit, key);
    if (state.exceeded) this.report.refused(limit.name);
    return state;
  }

  private async take(tx: Transaction, attempts: readonly Attempt[]): Promise<Take> {
    const at = this.clock.now();
    // A limit of one is a pause, which every user reaches.
    const exceeded = await this.counter.takeAll(tx, attempts, at, ({ name, limit }) =>
      limit === 1 ? Promise.resolve() : this.report.reached(tx, name),
    );
    if (!exceeded) return { attempts, at };
    if (exceeded.limit !== TOTAL_REPORT.limit) this.report.refused(exceeded.limit.name);
    return { retryAfterSeconds: exceeded.retryAfterSeconds };
  }
}

function ownKey(browserHash: string, phone: string): string {
  return `${browserHash}|${phone}`;
}

function sooner<T extends { retryAfterSeconds: number }>(left: T, right: T): T {
  return left.retryAfterSeconds <= right.retryAfterSeconds ? left : right;
}
