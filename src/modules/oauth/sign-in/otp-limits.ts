import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../../platform/config/app-config.js';
import { Clock, DAY, HOUR, MINUTE } from '../../../platform/clock.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { Metrics, registerStoredGauge } from '../../../platform/observability/metrics.js';
import { RateLimitReporter } from '../rate-limit/rate-limit-reporter.js';
import { NETWORK_FACTORS, type RateLimit, WINDOW_MS } from '../rate-limit/rate-limits.js';
import type { Visitor } from '../rate-limit/request-keys.js';
import {
  keyHash,
  SlidingWindowCounter,
  type Attempt,
  type RateLimitState,
} from '../rate-limit/sliding-window-counter.js';

/** Counted attempts, which can be refunded. */
interface CountedAttempts {
  attempts: readonly Attempt[];
  at: Date;
}

/** All attempts were counted, or none because a limit is exceeded. */
export type CountResult =
  { isCounted: true; counted: CountedAttempts } | { isCounted: false; retryAfterSeconds: number };

/** The phone number of a message or a guess, and whether the browser signed in with it before. */
export interface PhoneAccess {
  /** E.164. */
  phone: string;
  isTrusted: boolean;
}

/** The part of the daily total that is left to trusted devices, so that strangers cannot stop every sign-in. */
const RESERVED_FOR_TRUSTED_DEVICES = 0.2;
/** The parts of the daily total, in percent, that are reported. */
const REPORTED_PERCENTAGES = [100, 80, 50] as const;
/** The key of limits for all phones together. */
const GLOBAL_KEY = '';
/** The key under which messages to numbers without an account are counted. No limit depends on it. */
const DECOY_KEY = 'decoy';

/** The address of a visitor, or a network that contains it. */
type NetworkKey = 'address' | keyof typeof NETWORK_FACTORS;

/** A part of the daily total, in percent, that is used up. */
export type ReportedPercentage = (typeof REPORTED_PERCENTAGES)[number];

interface OtpRateLimits {
  /** Messages to a phone. */
  messages: readonly RateLimit[];
  messagesFromNetworks: Readonly<Record<NetworkKey, RateLimit>>;
  guesses: RateLimit;
  dailyTotal: RateLimit;
}

/** The names are part of the keys of stored counts, which processes of 1.0.0 share. A renamed limit would start at 0. */
export function otpLimits({ otp, rateLimits }: AppConfig): OtpRateLimits {
  const messagesPer = (period: 'minute' | 'hour' | 'day'): number =>
    rateLimits[`phone-messages-per-${period}`];
  const fromNetwork = (name: NetworkKey, factor: number): RateLimit => ({
    name: `otp-${name}`,
    maxAttempts: rateLimits['address-messages-per-hour'] * factor,
    windowMs: HOUR,
  });
  return {
    messages: [
      { name: 'otp-pause', maxAttempts: messagesPer('minute'), windowMs: MINUTE },
      { name: 'otp-hourly', maxAttempts: messagesPer('hour'), windowMs: HOUR },
      { name: 'otp-daily', maxAttempts: messagesPer('day'), windowMs: DAY },
    ],
    messagesFromNetworks: {
      address: fromNetwork('address', 1),
      network56: fromNetwork('network56', NETWORK_FACTORS.network56),
      network48: fromNetwork('network48', NETWORK_FACTORS.network48),
    },
    guesses: {
      name: 'otp-guesses',
      maxAttempts: rateLimits['phone-failures'],
      windowMs: WINDOW_MS,
    },
    dailyTotal: { name: 'otp-daily-total', maxAttempts: otp.dailyTotal, windowMs: DAY },
  };
}

/**
 * The limits of one-time passwords. All strangers share the limits of a phone number, so one of them can exhaust them. The trusted
 * devices of the number share limits of the same size of their own, so that no stranger can lock the user out.
 */
@Injectable()
export class OtpLimits {
  private readonly limits: OtpRateLimits;

  constructor(
    private readonly counter: SlidingWindowCounter,
    private readonly reporter: RateLimitReporter,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    { registry }: Metrics,
    config: AppConfig,
  ) {
    this.limits = otpLimits(config);
    if (config.otp.dailyTotal > 0) this.registerGauges(registry);
  }

  /** Counts a message to this phone, unless a limit is exceeded. The network of a trusted device does not count. */
  countMessage(tx: Transaction, access: PhoneAccess, visitor: Visitor): Promise<CountResult> {
    const toPhone = this.limits.messages.map((limit) => ({ limit, key: keyOf(access) }));
    const fromNetworks = (['address', 'network56', 'network48'] as const).map((name) => ({
      limit: this.limits.messagesFromNetworks[name],
      key: visitor[name],
    }));
    return this.count(tx, access.isTrusted ? toPhone : [...toPhone, ...fromNetworks]);
  }

  /** The seconds until a phone may get another message, if it got the last one at `at` and no longer limit is exceeded. */
  pauseAfter(at: Date): number {
    const [perMinute] = this.limits.messages;
    return perMinute?.maxAttempts === 1 ? this.counter.secondsOf(perMinute, at) : 0;
  }

  /** Counts a guess at a password of this phone, unless a limit is exceeded. */
  countGuess(tx: Transaction, access: PhoneAccess): Promise<CountResult> {
    return this.count(tx, [{ limit: this.limits.guesses, key: keyOf(access) }]);
  }

  /** The state of the limit of guesses at a password of this phone. */
  peekGuess(access: PhoneAccess): Promise<RateLimitState> {
    return this.peek({ limit: this.limits.guesses, key: keyOf(access) });
  }

  /** The state of the daily limit of messages to all phones. */
  peekDailyTotal(isTrusted: boolean): Promise<RateLimitState> {
    return this.peek({ limit: this.dailyTotalFor(isTrusted), key: GLOBAL_KEY });
  }

  /**
   * Counts a message against the daily limit of messages to all phones, unless it is exceeded.
   * @param isDecoy runs the same statements, but counts under a key on which no limit depends
   */
  countTowardsDailyTotal(isTrusted: boolean, isDecoy: boolean): Promise<CountResult> {
    const limit = this.dailyTotalFor(isTrusted);
    const decoy = { ...limit, maxAttempts: limit.maxAttempts === 0 ? 0 : Infinity };
    const attempt = isDecoy ? { limit: decoy, key: DECOY_KEY } : { limit, key: GLOBAL_KEY };
    return this.transactions.run((tx) => this.count(tx, [attempt]));
  }

  /**
   * Decides which process reports that 50, 80 or 100 percent of the daily limit are used up: one caller per hour and percentage
   * gets the percentage.
   */
  async claimDailyTotalReport(): Promise<ReportedPercentage | undefined> {
    const { attempts } = await this.counter.peek(this.limits.dailyTotal, GLOBAL_KEY);
    const { maxAttempts } = this.limits.dailyTotal;
    const percentage = REPORTED_PERCENTAGES.find(
      (percent) => maxAttempts > 0 && attempts * 100 >= maxAttempts * percent,
    );
    if (percentage === undefined) return undefined;
    const limit = { name: 'otp-daily-total-alarm', maxAttempts: 1, windowMs: HOUR };
    const exceeded = await this.transactions.run((tx) =>
      this.counter.addAllIfAllowed(tx, [{ limit, key: String(percentage) }], this.clock.now(), () =>
        Promise.resolve(),
      ),
    );
    return exceeded ? undefined : percentage;
  }

  async refund(tx: Transaction, { attempts, at }: CountedAttempts): Promise<void> {
    await this.counter.refund(tx, attempts, at);
  }

  /** Strangers may use up a part of the total. Both parts have the same name, so they share one count. */
  private dailyTotalFor(isTrusted: boolean): RateLimit {
    const { maxAttempts } = this.limits.dailyTotal;
    if (isTrusted || maxAttempts === 0) return this.limits.dailyTotal;
    const forStrangers = Math.ceil(maxAttempts * (1 - RESERVED_FOR_TRUSTED_DEVICES));
    return { ...this.limits.dailyTotal, maxAttempts: forStrangers };
  }

  private registerGauges(registry: Metrics['registry']): void {
    const limit = {
      name: 'otp_daily_total_limit',
      help: 'Messages that may be sent to all phones in 24 hours (OTP_DAILY_TOTAL).',
      labelNames: [],
    };
    const { maxAttempts } = this.limits.dailyTotal;
    registerStoredGauge(registry, limit, () =>
      Promise.resolve([{ labels: {}, value: maxAttempts }]),
    );
    const remaining = {
      name: 'otp_daily_total_remaining',
      help: 'Messages that may still be sent to all phones now. The last fifth of the limit is left to trusted devices.',
      labelNames: [],
    };
    registerStoredGauge(registry, remaining, async () => {
      const { attempts } = await this.counter.peek(this.limits.dailyTotal, GLOBAL_KEY);
      return [{ labels: {}, value: Math.max(0, maxAttempts - attempts) }];
    });
  }

  /** The state of a limit. The metric counts an exceeded limit. */
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
    this.reporter.countRejected(exceeded.limit.name);
    return { isCounted: false, retryAfterSeconds: exceeded.retryAfterSeconds };
  }
}

/** The hashes under which the messages to this phone, and the guesses at its passwords, are counted. */
export function attemptHashesOf(phone: string, config: AppConfig): string[] {
  const { messages, guesses } = otpLimits(config);
  const keys = [true, false].map((isTrusted) => keyOf({ phone, isTrusted }));
  return [...messages, guesses].flatMap((limit) => keys.map((key) => keyHash(limit, key)));
}

function keyOf({ phone, isTrusted }: PhoneAccess): string {
  return isTrusted ? `${phone}|trusted` : phone;
}
