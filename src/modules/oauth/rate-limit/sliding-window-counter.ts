import { Injectable } from '@nestjs/common';
import { Clock, later, secondsUntil } from '../../../platform/clock.js';
import type { ExpiredRows } from '../../../platform/database/retention/expired-rows.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { sha256 } from '../../../platform/secrets.js';
import type { RateLimit } from './rate-limits.js';
import { RateLimitRepository } from './rate-limit.repository.js';

/** One attempt under a limit; `key` is what it is counted by. */
export interface Attempt {
  limit: RateLimit;
  key: string;
}

/** `retryAfterSeconds` is the time until the oldest counted attempt leaves the window. */
export interface RateLimitState {
  exceeded: boolean;
  attempts: number;
  retryAfterSeconds: number;
}

const SLOTS = 60;
const UNLIMITED: RateLimitState = { exceeded: false, attempts: 0, retryAfterSeconds: 0 };

/**
 * Counts attempts in rolling windows in the database: all processes share them, and they survive a restart. A window is divided
 * into 60 slots; the slot that is just leaving still counts, so no window is too short.
 */
@Injectable()
export class SlidingWindowCounter {
  constructor(
    private readonly repository: RateLimitRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** The state of a limit for this key; counts nothing. */
  peek(limit: RateLimit, key: string): Promise<RateLimitState> {
    return this.state(limit, keyHash(limit, key));
  }

  /**
   * Counts one attempt, also beyond the limit.
   * @param whenReached also happens in the transaction that counts the last attempt which the limit allows
   */
  async add(
    limit: RateLimit,
    key: string,
    whenReached: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    if (limit.limit === 0) return;
    await this.transactions.run(async (tx) => {
      const { attempts } = await this.lock(tx, { limit, key });
      await this.repository.add(tx, keyHash(limit, key), slotOf(limit, this.clock.now()));
      if (attempts + 1 === limit.limit) await whenReached(tx);
    });
  }

  /**
   * Counts one attempt under each limit, as a part of a larger transaction, unless one is exceeded; then none is counted, and the
   * one with the longest wait is returned. Exact under concurrency.
   * @param at the time of the attempts, by which `refund` finds them again
   * @param whenReached also happens in the transaction, for each limit that this attempt reaches
   */
  async takeAll(
    tx: Transaction,
    wanted: readonly Attempt[],
    at: Date,
    whenReached: (limit: RateLimit) => Promise<void>,
  ): Promise<(RateLimitState & { limit: RateLimit }) | undefined> {
    const limited = wanted.filter(({ limit }) => limit.limit > 0);
    const states: (RateLimitState & { limit: RateLimit })[] = [];
    for (const attempt of limited)
      states.push({ ...(await this.lock(tx, attempt)), limit: attempt.limit });
    const longest = states
      .filter(({ exceeded }) => exceeded)
      .toSorted((left, right) => right.retryAfterSeconds - left.retryAfterSeconds)[0];
    if (longest) return longest;
    for (const [index, { limit, key }] of limited.entries()) {
      await this.repository.add(tx, keyHash(limit, key), slotOf(limit, at));
      if (states[index]?.attempts === limit.limit - 1) await whenReached(limit);
    }
    return undefined;
  }

  /** Takes back what `takeAll` counted at this time. Locks in the order of `taken`, as that did. */
  async refund(tx: Transaction, taken: readonly Attempt[], at: Date): Promise<void> {
    for (const { limit, key } of taken)
      if (limit.limit > 0) await this.repository.remove(tx, keyHash(limit, key), slotOf(limit, at));
  }

  /** Every attempt of these keys, which are looked up when the rows are. */
  attemptsOf(wanted: () => Promise<Attempt[]>): ExpiredRows {
    return this.repository.ofKeys(async () =>
      (await wanted()).map(({ limit, key }) => keyHash(limit, key)),
    );
  }

  /** The state of the limit, which no other transaction changes until this one ends. */
  private async lock(tx: Transaction, { limit, key }: Attempt): Promise<RateLimitState> {
    const hash = keyHash(limit, key);
    await this.repository.lock(tx, hash);
    return this.state(limit, hash, tx);
  }

  private async state(limit: RateLimit, hash: string, tx?: Transaction): Promise<RateLimitState> {
    if (limit.limit === 0) return UNLIMITED;
    const now = this.clock.now();
    const reach = limit.windowMs + slotMs(limit);
    const since = slotOf(limit, later(now, -reach));
    const { hits: attempts, oldest } = await (tx
      ? this.repository.countIn(tx, hash, since)
      : this.repository.count(hash, since));
    return {
      exceeded: attempts >= limit.limit,
      attempts,
      retryAfterSeconds: oldest ? secondsUntil(later(oldest, reach), now) : 0,
    };
  }
}

function slotOf(limit: RateLimit, time: Date): Date {
  const length = slotMs(limit);
  return new Date(Math.floor(time.getTime() / length) * length);
}

function slotMs({ windowMs }: RateLimit): number {
  return Math.ceil(windowMs / SLOTS);
}

function keyHash({ name }: RateLimit, key: string): string {
  return sha256(`${name}|${key}`);
}
