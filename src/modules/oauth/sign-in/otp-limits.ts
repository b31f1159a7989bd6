import { Injectable } from '@nestjs/common';
import { Clock, DAY, HOUR, MINUTE } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { DeletableRows } from '../../../platform/database/retention/deletion-queries.js';
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

/** All attempts were counted, or none because a limit is exceeded. */
export type CountResult =
  { isCounted: true; counted: CountedAttempts } | { isCounted: false; retryAfterSeconds: number };

/** Additional messages that a trusted device can request within 15 minutes. */
const MAX_DEVICE_MESSAGES = 1;
/** Additional guesses that a trusted device can make within 15 minutes. */
const MAX_DEVICE_GUESSES = 5;
/** The key of limits for all phones together. */
const GLOBAL_KEY = '';
/** Not a limit of messages: limits the report that the daily total is reached to one per hour. */
const TOTAL_REACHED_REPORT: Attempt = {
  limit: { name: 'otp-daily-total-alarm', maxAttempts: 1, windowMs: HOUR },
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
  /** A message to any phone, under the daily limit of all phones. */
  private readonly messageToAnyPhone: Attempt;

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
      { name: 'otp-pause', maxAttempts: messagesPer('minute'), windowMs: MINUTE },
      { name: 'otp-hourly', maxAttempts: messagesPer('hour'), windowMs: HOUR },
      { name: 'otp-daily', maxAttempts: messagesPer('day'), windowMs: DAY },
    ];
    this.messagesFromAddress = {
      name: 'otp-address',
      maxAttempts: rateLimits['address-messages-per-hour'],
      windowMs: HOUR,
    };
    this.deviceMessages = { name: 'otp-own-sends', maxAttempts: MAX_DEVICE_MESSAGES, windowMs };
    this.guesses = { name: 'otp-guesses', maxAttempts: rateLimits['phone-failures'], windowMs };
    this.deviceGuesses = { name: 'otp-own-guesses', maxAttempts: MAX_DEVICE_GUESSES, windowMs };
    this.messageToAnyPhone = {
      limit: { name: 'otp-daily-total', maxAttempts: otp.dailyTotal, windowMs: DAY },
      key: GLOBAL_KEY,
    };
  }

  /**
   * Counts a message to this phone, unless a limit is exceeded.
   * @param hasEarlierPassword whether an earlier password of the sign-in is still valid. If so, asking for another message must not use up the
   * limits of the device.
   */
  countMessage(
    tx: Transaction,
    phone: string,
    { address, browserHash }: Visitor,
    hasEarlierPassword: () => Promise<boolean>,
  ): Promise<CountResult> {
    const fromAddress = { limit: this.messagesFromAddress, key: address };
    return this.countSharedOrDevice(
      tx,
      [...this.messages.map((limit) => ({ limit, key: phone })), fromAddress],
      [{ limit: this.deviceMessages, key: deviceKey(browserHash, phone) }, fromAddress],
      async () =>
        !(await hasEarlierPassword()) &&
        (await this.repository.isTrustedDevice(browserHash, phone, tx)),
    );
  }

  /** Counts a guess at a password of this phone, unless a limit is exceeded. */
  countGuess(tx: Transaction, phone: string, browserHash: string): Promise<CountResult> {
    return this.countSharedOrDevice(
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
    return device.exceeded ? withShorterWait(shared, device) : device;
  }

  /** The state of the daily limit of messages to all phones. */
  peekDailyTotal(): Promise<RateLimitState> {
    return this.peek(this.messageToAnyPhone);
  }

  /** Counts a message against the daily limit of messages to all phones, unless it is exceeded. */
  countTowardsDailyTotal(): Promise<CountResult> {
    return this.transactions.run((tx) => this.count(tx, [this.messageToAnyPhone]));
  }

  /**
   * Decides which process reports that the daily limit is reached. If it is reached, returns true to one caller per hour, which must
   * then report it.
   */
  async claimDailyTotalReport(): Promise<boolean> {
    const { limit, key } = this.messageToAnyPhone;
    const { exceeded } = await this.counter.peek(limit, key);
    if (!exceeded) return false;
    const { isCounted } = await this.transactions.run((tx) =>
      this.count(tx, [TOTAL_REACHED_REPORT]),
    );
    return isCounted;
  }

  async refund(tx: Transaction, { attempts, at }: CountedAttempts): Promise<void> {
    await this.counter.refund(tx, attempts, at);
  }

  /** The rows that count attempts of this phone and its trusted devices. */
  attemptsOf(phone: string): DeletableRows {
    return this.counter.rowsOf(async () => {
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

  /** Counts the attempts under the shared limits. If one is exceeded, counts them under the limits of the device, if it may. */
  private async countSharedOrDevice(
    tx: Transaction,
    shared: readonly Attempt[],
    device: readonly Attempt[],
    mayUseDeviceLimits: () => Promise<boolean>,
  ): Promise<CountResult> {
    const sharedResult = await this.count(tx, shared);
    if (sharedResult.isCounted || !(await mayUseDeviceLimits())) return sharedResult;
    const deviceResult = await this.count(tx, device);
    return deviceResult.isCounted ? deviceResult : withShorterWait(sharedResult, deviceResult);
  }

  /** The state of a limit. The metric counts an exceeded limit, even if a trusted device may continue under its own limits. */
  private async peek({ limit, key }: Attempt): Promise<RateLimitState> {
    const state = await this.counter.peek(limit, key);
    if (state.exceeded) this.reporter.countRejected(limit.name);
    return state;
  }

  private async count(tx: Transaction, attempts: readonly Attempt[]): Promise<CountResult> {
    const at = this.clock.now();
    // Reaching a limit of 1 is not recorded, because the first attempt of every user reaches it.
    const exceeded = await this.counter.addAllIfAllowed(tx, attempts, at, (limit) =>
      limit.maxAttempts === 1 ? Promise.resolve() : this.reporter.recordReached(tx, limit.name),
    );
    if (!exceeded) return { isCounted: true, counted: { attempts, at } };
    if (exceeded.limit !== TOTAL_REACHED_REPORT.limit)
      this.reporter.countRejected(exceeded.limit.name);
    return { isCounted: false, retryAfterSeconds: exceeded.retryAfterSeconds };
  }
}

function deviceKey(browserHash: string, phone: string): string {
  return `${browserHash}|${phone}`;
}

function withShorterWait<T extends { retryAfterSeconds: number }>(left: T, right: T): T {
  return left.retryAfterSeconds <= right.retryAfterSeconds ? left : right;
}
