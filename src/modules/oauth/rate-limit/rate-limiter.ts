import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock, HOUR } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { CallLimitStorage } from '../../../platform/http/call-limit-storage.js';
import { Metrics } from '../../../platform/observability/metrics.js';
import { sha256 } from '../../../platform/secrets.js';
import { lastExpiredSlot, secondsUntilExpiry, slotOf } from '../../../platform/sliding-window.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { RateLimitRepository } from './rate-limit.repository.js';
import { limitsByName, type RateLimit, type RateLimitName } from './rate-limits.js';

/** An attempt that counts against a limit. */
export interface Attempt {
  limit: RateLimit;
  /** Identifies the origin or target of the attempt, such as an address or a phone number. */
  key: string;
}

export interface RateLimitState {
  /** The attempts in the window. */
  count: number;
  /** Whether the limit allows no further attempt. */
  exceeded: boolean;
  /** Seconds until the oldest attempt leaves the window; 0 if there is none. */
  retryAfterSeconds: number;
}

/** What reached a limit, as audit details. `claimedClientId` is not authenticated; undefined if the app is unknown. */
export type AppDetails =
  { clientId: string; userId?: string; grantId?: string } | { claimedClientId?: string };

/** Counted attempts, which can be refunded. */
export interface CountedAttempts {
  attempts: readonly Attempt[];
  at: Date;
}

/** All attempts were counted, or none because a limit is exceeded. */
export type CountResult =
  { isCounted: true; counted: CountedAttempts } | { isCounted: false; retryAfterSeconds: number };

/**
 * Counts attempts in the database, for all processes together. Reports all limits, also those in memory: a metric counts rejected
 * requests, and the audit log records that a limit was reached.
 */
@Injectable()
export class RateLimiter {
  readonly limits: Readonly<Record<RateLimitName, RateLimit>>;
  private readonly logger = new Logger(RateLimiter.name);
  private readonly rejections: Counter<'limit'>;
  private readonly failures: CallLimitStorage;

  constructor(
    private readonly repository: RateLimitRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    config: AppConfig,
    metrics: Metrics,
  ) {
    this.limits = limitsByName(config.rateLimits);
    this.failures = new CallLimitStorage(clock);
    this.rejections = metrics.counter(
      'oauth_throttled_total',
      'Requests that exceeded a rate limit, by the name of the limit.',
      'limit',
    );
  }

  /** Returns the state of the limit, without counting an attempt. */
  async peek(attempt: Attempt): Promise<RateLimitState> {
    const [state] = await this.peekAll([attempt]);
    return state as RateLimitState;
  }

  /** Like `peek`, with one statement for all limits. */
  async peekAll<A extends Attempt>(
    attempts: readonly A[],
    tx?: Transaction,
  ): Promise<(A & RateLimitState)[]> {
    const now = this.clock.now();
    const windows = attempts.map(({ limit, key }) => ({
      hash: hashOf(limit, key),
      afterSlot: lastExpiredSlot(now, limit.windowMs),
    }));
    const counts = await this.repository.count(windows, tx);
    return attempts.map((attempt) => {
      const { max, windowMs } = attempt.limit;
      const { hits = 0, oldest } = counts.get(hashOf(attempt.limit, attempt.key)) ?? {};
      return {
        ...attempt,
        count: hits,
        exceeded: max > 0 && hits >= max,
        retryAfterSeconds: oldest ? secondsUntilExpiry(oldest, windowMs, now) : 0,
      };
    });
  }

  /** Counts the attempts, even beyond a limit. */
  async add(tx: Transaction, attempts: readonly Attempt[], app: AppDetails): Promise<void> {
    const at = this.clock.now();
    for (const state of await this.lock(tx, attempts)) {
      await this.store(tx, state, at);
      if (state.count + 1 === state.limit.max) await this.recordReached(tx, state.limit.name, app);
    }
  }

  /** Counts all attempts, or none if a limit is exceeded. Exact under concurrency. */
  async addAllIfAllowed(tx: Transaction, attempts: readonly Attempt[]): Promise<CountResult> {
    const at = this.clock.now();
    const states = await this.lock(tx, attempts);
    const [longest] = states
      .filter(({ exceeded }) => exceeded)
      .toSorted((left, right) => right.retryAfterSeconds - left.retryAfterSeconds);
    if (longest) {
      this.countRejected(longest.limit.name);
      return { isCounted: false, retryAfterSeconds: longest.retryAfterSeconds };
    }
    for (const state of states) {
      await this.store(tx, state, at);
      // Reaching a limit of 1 is not recorded, because the first attempt of every user reaches it.
      const { name, max } = state.limit;
      if (state.count + 1 === max && max > 1) await this.recordReached(tx, name);
    }
    return { isCounted: true, counted: { attempts: states, at } };
  }

  /** Updates the keys in the same order as `addAllIfAllowed`, so that the two cannot deadlock. */
  async refund(tx: Transaction, { attempts, at }: CountedAttempts): Promise<void> {
    for (const { limit, key } of attempts)
      await this.repository.remove(tx, hashOf(limit, key), slotOf(at, limit.windowMs));
  }

  /** Whether this is the first attempt in the window. Counts only that one, without reports. */
  async isFirst(tx: Transaction, attempt: Attempt): Promise<boolean> {
    const [state] = await this.lock(tx, [attempt]);
    if (state?.count !== 0) return false;
    await this.store(tx, attempt, this.clock.now());
    return true;
  }

  /**
   * Whether this process has seen no failure like this one within the last hour. The audit log gets only such failures, so that an attacker
   * cannot fill it. In memory, because each repeated failure would otherwise be a write.
   * @param key what failed, and the network from which it was tried
   */
  async isFirstFailure(key: string): Promise<boolean> {
    return !(await this.failures.increment(key, HOUR, 1)).isBlocked;
  }

  /** Counts a rejected request in the metric. */
  countRejected(limit: string): void {
    this.rejections.inc({ limit });
  }

  /**
   * Reports a call that a limit in memory counted: a rejection in the metric, the first call at the limit in the audit log. Does not fail if the audit log does, because the limit works without the event.
   * @returns the error if the limit is exceeded
   */
  async rejectionOf(
    { name, max }: RateLimit,
    state: { isBlocked: boolean; totalHits: number; timeToBlockExpire: number },
    app: () => AppDetails,
  ): Promise<TooManyAttempts | undefined> {
    if (state.isBlocked) {
      this.countRejected(name);
      return new TooManyAttempts(state.timeToBlockExpire);
    }
    if (state.totalHits !== max) return undefined;
    try {
      await this.transactions.run((tx) => this.recordReached(tx, name, app()));
    } catch (error) {
      this.logger.error(
        `Could not record in the audit log that the limit ${name} was reached.`,
        (error as Error).stack,
      );
    }
    return undefined;
  }

  private recordReached(tx: Transaction, limit: string, app: AppDetails = {}): Promise<void> {
    const change = { actor: 'service', reason: 'too many attempts' };
    return this.audit.record(tx, 'oauth.throttled', limit, change, { ...app });
  }

  /** Locks the keys of the attempts that have a limit until the end of the transaction, and returns their states. */
  private async lock(
    tx: Transaction,
    attempts: readonly Attempt[],
  ): Promise<(Attempt & RateLimitState)[]> {
    const limited = attempts.filter(({ limit }) => limit.max > 0);
    if (limited.length === 0) return [];
    await this.repository.lock(
      tx,
      limited.map(({ limit, key }) => hashOf(limit, key)),
    );
    return this.peekAll(limited, tx);
  }

  private store(tx: Transaction, { limit, key }: Attempt, at: Date): Promise<void> {
    return this.repository.add(tx, hashOf(limit, key), slotOf(at, limit.windowMs));
  }
}

/** Identifies the rows that count the attempts of a key. */
export function hashOf({ name }: Pick<RateLimit, 'name'>, key: string): string {
  return sha256(`${name}|${key}`);
}
