import { Injectable } from '@nestjs/common';
import { Clock, DAY, HOUR, MINUTE } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { DeletableRows } from '../../../platform/database/retention/deletable-rows.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import {
  SlidingWindowCounter,
  type Attempt,
  type RateLimitState,
} from '../rate-limit/sliding-window-counter.js';
import { type RateLimit, WINDOW_MS } from '../rate-limit/rate-limits.js';
import { RateLimitReporter } from '../rate-limit/rate-limit-reporter.js';
import type { Visitor } from '../rate-limit/request-keys.js';
import { SignInRepository } from './sign-in.repository.js';

/** Counted attempts, which can be refunded. */
interface CountedAttempts {
  attempts: readonly Attempt[];
  at: Date;
}

/** All attempts were counted, or none if a limit is exceeded. */
export type TakeResult = CountedAttempts | { retryAfterSeconds: number };

const MAX_DEVICE_MESSAGES = 1;
const MAX_DEVICE_GUESSES = 5;
/** The key of limits for all phones together. */
const GLOBAL_KEY = '';
/** Not a limit of messages: allows one report per hour that the daily total is reached. */
const TOTAL_REACHED_REPORT: Attempt = {
  limit: { name: 'otp-daily-total-alarm', limit: 1, windowMs: HOUR },
  key: GLOBAL_KEY,
};

/**
 * The limits of one-time passwords. A phone has limits that all visitors share, so a stranger can exhaust them. Each trusted
 * device has additional small limits of its own, so that a stranger cannot lock the user out.
 */
@Injectable()
export class OtpLimits {
  private readonly messages: readonly RateLimit[];
  private readonly messagesFromAddress: RateLimit;
  private readonly deviceMessages: RateLimit;
  private readonly guesses: RateLimit;
  private readonly deviceGuesses: RateLimit;
  private readonly total: Attempt;

  constructor(
    private readonly counter: SlidingWindowCounter,
    private readonly reporter: RateLimitReporter,
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
    this.deviceMessages = { name: 'otp-own-sends', limit: MAX_DEVICE_MESSAGES, windowMs };
    this.guesses = { name: 'otp-guesses', limit: rateLimits['phone-failures'], windowMs };
    this.deviceGuesses = { name: 'otp-own-guesses', limit: MAX_DEVICE_GUESSES, windowMs };
    this.total = {
      limit: { name: 'otp-daily-total', limit: otp.dailyTotal, windowMs: DAY },
      key: GLOBAL_KEY,
    };
  }

  /**
   * Counts a message to this phone.
   * @param hasPassword whether an earlier password of the sign-in is still valid. If so, a second click must not use up the limits
   * of the device.
   */
  takeMessage(
    tx: Transaction,
    phone: string,
    { address, browserHash }: Visitor,
    hasPassword: () => Promise<boolean>,
  ): Promise<TakeResult> {
    const fromAddress = { limit: this.messagesFromAddress, key: address };
    return this.takeSharedOrDevice(
      tx,
      [...this.messages.map((limit) => ({ limit, key: phone })), fromAddress],
      [{ limit: this.deviceMessages, key: deviceKey(browserHash, phone) }, fromAddress],
      async () =>
        !(await hasPassword()) && (await this.repository.isTrustedDevice(browserHash, phone, tx)),
    );
  }

  /** Counts a guess at a password of this phone. */
  takeGuess(tx: Transaction, phone: string, browserHash: string): Promise<TakeResult> {
    return this.takeSharedOrDevice(
      tx,
      [{ limit: this.guesses, key: phone }],
      [{ limit: this.deviceGuesses, key: deviceKey(browserHash, phone) }],
      () => this.repository.isTrustedDevice(browserHash, phone, tx),
    );
  }

  /** The state of the limit of guesses at a password of this phone, for this browser. */
  async peekGuess(phone: string, browserHash: string): Promise<RateLimitState> {
    const shared = await this.peek({ limit: this.guesses, key: phone });
    if (!shared.exceeded || !(await this.repository.isTrustedDevice(browserHash, phone)))
      return shared;
    const device = await this.counter.peek(this.deviceGuesses, deviceKey(browserHash, phone));
    return device.exceeded ? sooner(shared, device) : device;
  }

  /** The state of the daily limit of messages to all phones. */
  peekTotal(): Promise<RateLimitState> {
    return this.peek(this.total);
  }

  /** Counts a message against the daily limit of all phones. */
  takeTotal(): Promise<TakeResult> {
    return this.transactions.run((tx) => this.take(tx, [this.total]));
  }

  /** Whether this process should report that the daily limit is reached. Returns true at most once an hour, to one process. */
  async shouldReportTotal(): Promise<boolean> {
    const { exceeded } = await this.counter.peek(this.total.limit, this.total.key);
    if (!exceeded) return false;
    return (
      'attempts' in (await this.transactions.run((tx) => this.take(tx, [TOTAL_REACHED_REPORT])))
    );
  }

  async refund(tx: Transaction, { attempts, at }: CountedAttempts): Promise<void> {
    await this.counter.refund(tx, attempts, at);
  }

  /** The rows that count attempts of this phone and its trusted devices. */
  attemptsOf(phone: string): DeletableRows {
    return this.counter.attemptsOf(async () => {
      const devices = await this.repository.findTrustedDevices(phone);
      return [
        ...[...this.messages, this.guesses].map((limit) => ({ limit, key: phone })),
        ...devices.flatMap(({ browserHash }) =>
          [this.deviceMessages, this.deviceGuesses].map((limit) => ({
            limit,
            key: deviceKey(browserHash, phone),
          })),
        ),
      ];
    });
  }

  private async takeSharedOrDevice(
    tx: Transaction,
    shared: readonly Attempt[],
    device: readonly Attempt[],
    mayUseDeviceLimits: () => Promise<boolean>,
  ): Promise<TakeResult> {
    const result = await this.take(tx, shared);
    if ('attempts' in result || !(await mayUseDeviceLimits())) return result;
    const deviceResult = await this.take(tx, device);
    return 'attempts' in deviceResult ? deviceResult : sooner(result, deviceResult);
  }

  private async peek({ limit, key }: Attempt): Promise<RateLimitState> {
    const state = await this.counter.peek(limit, key);
    if (state.exceeded) this.reporter.countRejected(limit.name);
    return state;
  }

  private async take(tx: Transaction, attempts: readonly Attempt[]): Promise<TakeResult> {
    const at = this.clock.now();
    // A limit of 1 only spaces messages out. Every user reaches it, so it is not recorded.
    const exceeded = await this.counter.takeAll(tx, attempts, at, ({ name, limit }) =>
      limit === 1 ? Promise.resolve() : this.reporter.recordReached(tx, name),
    );
    if (!exceeded) return { attempts, at };
    if (exceeded.limit !== TOTAL_REACHED_REPORT.limit)
      this.reporter.countRejected(exceeded.limit.name);
    return { retryAfterSeconds: exceeded.retryAfterSeconds };
  }
}

function deviceKey(browserHash: string, phone: string): string {
  return `${browserHash}|${phone}`;
}

function sooner<T extends { retryAfterSeconds: number }>(left: T, right: T): T {
  return left.retryAfterSeconds <= right.retryAfterSeconds ? left : right;
}
