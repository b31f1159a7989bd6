import { Injectable } from '@nestjs/common';
import { Clock, addMilliseconds, secondsUntil } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { sha256 } from '../../../platform/secrets.js';
import type { RateLimit } from './rate-limits.js';
import { RateLimitRepository } from './rate-limit.repository.js';

/** An attempt that counts against a limit. */
export interface Attempt {
  limit: RateLimit;
  /** Identifies the origin or target of the attempt, such as an address or a phone number. */
  key: string;
}

export interface RateLimitState {
  /** Whether the limit allows no further attempt. */
  exceeded: boolean;
  /** The attempts in the window. */
  attempts: number;
  /** Seconds until the oldest attempt leaves the window; 0 if there is none. */
  retryAfterSeconds: number;
}

/** Slots per window. */
const SLOTS = 60;
const UNLIMITED: RateLimitState = { exceeded: false, attempts: 0, retryAfterSeconds: 0 };

/**
 * Counts attempts in sliding windows. All processes share the counts in the database. A slot that is partly outside the window
 * still counts, so a window is never too short.
 */
@Injectable()
export class SlidingWindowCounter {
  constructor(
    private readonly repository: RateLimitRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** Returns the state without counting an attempt. */
  peek(limit: RateLimit, key: string): Promise<RateLimitState> {
    return this.state(limit, keyHash(limit, key));
  }

  /**
   * Counts one attempt, even beyond the limit.
   * @param whenReached runs in the transaction that counts the last attempt that the limit allows
   */
  async add(
    limit: RateLimit,
    key: string,
    whenReached: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    if (limit.maxAttempts === 0) return;
    await this.transactions.run(async (tx) => {
      const { attempts } = await this.lock(tx, { limit, key });
      await this.repository.add(tx, keyHash(limit, key), slotOf(limit, this.clock.now()));
      if (attempts + 1 === limit.maxAttempts) await whenReached(tx);
    });
  }

  /**
   * Counts all attempts, or none if a limit is exceeded. Exact under concurrency.
   * @param at the time of the attempts; a later `refund` needs the same time
   * @param whenReached runs in the transaction, for each limit that these attempts reach
   * @returns the exceeded limit with the longest wait; undefined if the attempts were counted
   */
  async addAllIfAllowed(
    tx: Transaction,
    attempts: readonly Attempt[],
    at: Date,
    whenReached: (limit: RateLimit) => Promise<void>,
  ): Promise<(RateLimitState & { limit: RateLimit }) | undefined> {
    const limited = attempts.filter(({ limit }) => limit.maxAttempts > 0);
    const states: (RateLimitState & { limit: RateLimit })[] = [];
    for (const attempt of limited)
      states.push({ ...(await this.lock(tx, attempt)), limit: attempt.limit });
    const [longest] = states
      .filter(({ exceeded }) => exceeded)
      .toSorted((left, right) => right.retryAfterSeconds - left.retryAfterSeconds);
    if (longest) return longest;
    for (const [index, { limit, key }] of limited.entries()) {
      await this.repository.add(tx, keyHash(limit, key), slotOf(limit, at));
      if (states[index]?.attempts === limit.maxAttempts - 1) await whenReached(limit);
    }
    return undefined;
  }

  /**
   * Removes attempts that `addAllIfAllowed` counted at `at`. Updates the keys in the order of `attempts`, like `addAllIfAllowed`, so
   * that the two cannot deadlock.
   */
  async refund(tx: Transaction, attempts: readonly Attempt[], at: Date): Promise<void> {
    for (const { limit, key } of attempts)
      if (limit.maxAttempts > 0)
        await this.repository.remove(tx, keyHash(limit, key), slotOf(limit, at));
  }

  /** The seconds for which an attempt at `at` still counts. */
  secondsOf(limit: RateLimit, at: Date): number {
    const now = this.clock.now();
    const until = addMilliseconds(slotOf(limit, at), limit.windowMs + slotMs(limit));
    return until > now ? secondsUntil(until, now) : 0;
  }

  /** Locks the limit for this key until the end of the transaction, and returns its state. */
  private async lock(tx: Transaction, { limit, key }: Attempt): Promise<RateLimitState> {
    const hash = keyHash(limit, key);
    await this.repository.lock(tx, hash);
    return this.state(limit, hash, tx);
  }

  private async state(limit: RateLimit, hash: string, tx?: Transaction): Promise<RateLimitState> {
    if (limit.maxAttempts === 0) return UNLIMITED;
    const now = this.clock.now();
    const countedMs = limit.windowMs + slotMs(limit);
    // The last slot that is entirely outside the window.
    const afterSlot = slotOf(limit, addMilliseconds(now, -countedMs));
    const { hits: attempts, oldest } = await this.repository.count(hash, afterSlot, tx);
    return {
      exceeded: attempts >= limit.maxAttempts,
      attempts,
      retryAfterSeconds: oldest ? secondsUntil(addMilliseconds(oldest, countedMs), now) : 0,
    };
  }
}

function slotOf(limit: RateLimit, time: Date): Date {
  const lengthMs = slotMs(limit);
  return new Date(Math.floor(time.getTime() / lengthMs) * lengthMs);
}

function slotMs({ windowMs }: RateLimit): number {
  return Math.ceil(windowMs / SLOTS);
}

/** The hash under which the attempts of a key are counted. */
export function keyHash({ name }: RateLimit, key: string): string {
  return sha256(`${name}|${key}`);
}
