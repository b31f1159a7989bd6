import { Injectable } from '@nestjs/common';
import { Clock, later, secondsUntil } from '../../../platform/clock.js';
import { sha256 } from '../../../platform/secrets.js';
import type { ExpiredRows } from '../../../platform/database/retention/expired-rows.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { ThrottleRepository } from './rate-limit.repository.js';

/** A limit of hits per rolling window; a limit of 0 is no limit. */
export interface Budget {
  name: string;
  limit: number;
  windowMs: number;
}

/** A hit that a budget takes: `key` is whom or what it is counted for. */
export interface Hit {
  budget: Budget;
  key: string;
}

/** How a budget stands: `retryAfterSeconds` until the oldest counted hit leaves the window. */
export interface Standing {
  spent: boolean;
  hits: number;
  retryAfterSeconds: number;
}

/** What else happens in the unit that counts the hit by which a budget is spent. */
export type WhenSpent = (tx: Transaction) => Promise<void>;

const SLOTS = 60;
const UNLIMITED: Standing = { spent: false, hits: 0, retryAfterSeconds: 0 };

/**
 * Counts hits over rolling windows in the database, so that all processes share them and a restart forgets nothing.
 * A window is cut into 60 slots; the slot that is just leaving still counts, so no window is counted short.
 */
@Injectable()
export class RollingCounter {
  constructor(
    private readonly repository: ThrottleRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** How the budget stands for this key, without counting anything. */
  peek(budget: Budget, key: string): Promise<Standing> {
    return this.standing(budget, keyHash(budget, key));
  }

  /** Counts one hit, also in a budget that is spent. */
  async hit(budget: Budget, key: string, whenSpent: WhenSpent): Promise<void> {
    if (budget.limit === 0) return;
    const hit = { budget, key };
    await this.transactions.run(async (tx) =>
      this.add(tx, hit, await this.lock(tx, hit), whenSpent),
    );
  }

  /**
   * Counts one hit unless the budget is spent. Exact under concurrency. Peek first: those who are refused anyway are not to queue
   * for the lock, each with a connection.
   * @returns how the budget stood before
   */
  async take(budget: Budget, key: string, whenSpent: WhenSpent): Promise<Standing> {
    if (budget.limit === 0) return UNLIMITED;
    const hit = { budget, key };
    return this.transactions.run(async (tx) => {
      const standing = await this.lock(tx, hit);
      if (!standing.spent) await this.add(tx, hit, standing, whenSpent);
      return standing;
    });
  }

  /**
   * Counts one hit in each budget, as a part of a larger unit, unless one of them is spent; then none is counted, and the one with
   * the longest wait is told with its budget. Exact under concurrency.
   * @param at the moment of the hits, by which `refund` finds them again
   * @param whenSpent what else happens in the unit for each budget that its hit spends
   */
  async takeAll(
    tx: Transaction,
    wanted: readonly Hit[],
    at: Date,
    whenSpent: (budget: Budget) => Promise<void>,
  ): Promise<(Standing & { budget: Budget }) | undefined> {
    const limited = wanted.filter(({ budget }) => budget.limit > 0);
    const standings: (Standing & { budget: Budget })[] = [];
    for (const hit of limited)
      standings.push({ ...(await this.lock(tx, hit)), budget: hit.budget });
    const longest = standings
      .filter(({ spent }) => spent)
      .toSorted((left, right) => right.retryAfterSeconds - left.retryAfterSeconds)[0];
    if (longest) return longest;
    for (const [index, { budget, key }] of limited.entries()) {
      await this.repository.add(tx, keyHash(budget, key), slotOf(budget, at));
      if (standings[index]?.hits === budget.limit - 1) await whenSpent(budget);
    }
    return undefined;
  }

  /** Takes back the hits that `takeAll` counted at this moment. Locks in the order of `taken`, as that did. */
  async refund(tx: Transaction, taken: readonly Hit[], at: Date): Promise<void> {
    for (const { budget, key } of taken)
      if (budget.limit > 0)
        await this.repository.remove(tx, keyHash(budget, key), slotOf(budget, at));
  }

  /** Every hit that was counted for the keys of `wanted`, which is asked when the rows are. */
  hitsOf(wanted: () => Promise<Hit[]>): ExpiredRows {
    return this.repository.ofKeys(async () =>
      (await wanted()).map(({ budget, key }) => keyHash(budget, key)),
    );
  }

  /** How the budget stands, which nobody else changes until this transaction ends. */
  private async lock(tx: Transaction, { budget, key }: Hit): Promise<Standing> {
    const hash = keyHash(budget, key);
    await this.repository.lock(tx, hash);
    return this.standing(budget, hash, tx);
  }

  private async add(
    tx: Transaction,
    { budget, key }: Hit,
    { hits }: Standing,
    whenSpent: WhenSpent,
  ): Promise<void> {
    await this.repository.add(tx, keyHash(budget, key), slotOf(budget, this.clock.now()));
    if (hits + 1 === budget.limit) await whenSpent(tx);
  }

  private async standing(budget: Budget, hash: string, tx?: Transaction): Promise<Standing> {
    if (budget.limit === 0) return UNLIMITED;
    const now = this.clock.now();
    const reach = budget.windowMs + slotMs(budget);
    const since = slotOf(budget, later(now, -reach));
    const { hits, oldest } = await (tx
      ? this.repository.countIn(tx, hash, since)
      : this.repository.count(hash, since));
    return {
      spent: hits >= budget.limit,
      hits,
      retryAfterSeconds: oldest ? secondsUntil(later(oldest, reach), now) : 0,
    };
  }
}

function slotOf(budget: Budget, time: Date): Date {
  const length = slotMs(budget);
  return new Date(Math.floor(time.getTime() / length) * length);
}

function slotMs({ windowMs }: Budget): number {
  return Math.ceil(windowMs / SLOTS);
}

function keyHash({ name }: Budget, key: string): string {
  return sha256(`${name}|${key}`);
}
