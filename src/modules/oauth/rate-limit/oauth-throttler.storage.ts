import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Request } from 'express';
import { BudgetKeeper } from './rate-limiter.js';
import { RouteBudgets, type ThrottledRoutes } from './rate-limits.js';
import type { Standing } from './sliding-window-counter.js';
import { Trackers } from './trackers.js';

type StorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The throttler's storage in our database. Budgets of failures are only looked at here: `FailureCounter` fills them. */
@Injectable()
export class OAuthThrottlerStorage implements ThrottlerStorage {
  constructor(
    private readonly budgets: RouteBudgets,
    private readonly trackers: Trackers,
    private readonly keeper: BudgetKeeper,
  ) {}

  /** What all budgets of its route count a request under, as the one text that the throttler passes on to `increment`. */
  keyOf(request: Request): string {
    const { throttledRoutes: routes } = request;
    const keys = this.budgets.of(routes).map(({ by }) => this.trackers.of(request, by));
    return JSON.stringify([routes, ...keys]);
  }

  /**
   * Looks at all budgets of a route at the same time. Unless one of them is spent, those of calls count this one.
   */
  async increment(key: string): Promise<StorageRecord> {
    const [routes, ...keys] = JSON.parse(key) as [ThrottledRoutes, ...string[]];
    const asked = this.budgets
      .of(routes)
      .map((budget, place) => ({ budget, key: keys[place] as string }));
    const standings = await Promise.all(
      asked.map((each) => this.keeper.peek(each.budget, each.key)),
    );
    for (const calls of asked.filter(({ budget }) => budget.counts === 'calls'))
      if (!standings.some(isSpent)) standings.push(await this.keeper.take(calls.budget, calls.key));
    const spent = standings.find(isSpent);
    return {
      totalHits: Math.max(0, ...standings.map(({ hits }) => hits)),
      timeToExpire: spent?.retryAfterSeconds ?? 0,
      isBlocked: spent !== undefined,
      timeToBlockExpire: spent?.retryAfterSeconds ?? 0,
    };
  }
}

function isSpent({ spent }: Standing): boolean {
  return spent;
}
