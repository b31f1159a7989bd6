import { Injectable } from '@nestjs/common';
import { Clock, DAY, later, startOf } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import type { ApiUsageDaily } from '../quota.entities.js';
import { CallsRepository } from './calls.repository.js';
import { UsageDaysRepository } from './usage-days.repository.js';

/** What a roll-up counted. */
export interface RolledUp {
  /** Days that hold calls, such as `2026-11-21`, oldest first, and how many those are. */
  days: { day: string; calls: number }[];
  /** Every call that was made before this moment, and after the start, is in the totals. */
  until: Date;
}

/**
 * Adds the call log up by day, app, route and status.
 *
 * A call is written a moment after it was made, and minutes after when the database was away. So a day is counted again until
 * the next one is over: what is written within a day counts by itself. What comes later counts once somebody names its day, and
 * in any case before it is pruned.
 */
@Injectable()
export class UsageRollup {
  constructor(
    private readonly calls: CallsRepository,
    private readonly totals: UsageDaysRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts every day that may have changed since the last time, or from `from` on, which is the start of a day. Safe to run
   * twice, late, never, or in two places at once: totals are set, not added to.
   * @param stopAt when to stop before all is done; the next run goes on there
   */
  async run({ from, stopAt }: { from?: Date; stopAt?: Date } = {}): Promise<RolledUp> {
    // Another process may be a little ahead.
    const until = later(this.clock.now(), DAY);
    return this.count(from ?? (await this.firstOpenDay()), until, stopAt);
  }

  /** Counts what is about to be pruned: all calls before `end`, the start of a day. */
  runBefore(end: Date, stopAt?: Date): Promise<RolledUp> {
    return this.count(new Date(0), end, stopAt);
  }

  private async count(from: Date, to: Date, stopAt: Date | undefined): Promise<RolledUp> {
    const days: RolledUp['days'] = [];
    let first = await this.calls.findFirst({ from, to });
    while (first) {
      const start = startOf(first, DAY);
      if (stopAt && this.clock.now() >= stopAt) return { days, until: start };
      days.push(await this.countDay(start));
      first = await this.calls.findFirst({ from: later(start, DAY), to });
    }
    return { days, until: to };
  }

  private async countDay(start: Date): Promise<{ day: string; calls: number }> {
    const day = dayOf(start);
    const counted = new Map<string, ApiUsageDaily>();
    for await (const hour of this.calls.hours({ from: start, to: later(start, DAY) })) {
      for (const { calls, ...key } of await this.calls.countByRoute(hour)) {
        const total = counted.get(keyOf(key)) ?? { day, ...key, calls: 0 };
        total.calls += calls;
        counted.set(keyOf(key), total);
      }
    }
    await this.raise(day, counted);
    return { day, calls: [...counted.values()].reduce((sum, { calls }) => sum + calls, 0) };
  }

  /**
   * A total that is higher stays: calls are only ever added, until the day is pruned, which takes nothing from its totals. Of two
   * runs at the same moment the one that counted less may write last; the next run raises it again. They are written in the
   * order of their keys, so that two runs do not wait for each other in a circle.
   */
  private async raise(day: string, counted: ReadonlyMap<string, ApiUsageDaily>): Promise<void> {
    const before = new Map<string, number>();
    for (const total of await this.totals.findDay(day)) before.set(keyOf(total), total.calls);
    const raised = [...counted]
      .filter(([key, { calls }]) => calls > (before.get(key) ?? 0))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, total]) => total);
    if (raised.length > 0) await this.transactions.run((tx) => this.totals.save(tx, raised));
  }

  private async firstOpenDay(): Promise<Date> {
    const newest = await this.totals.findNewest();
    if (newest === null) return new Date(0);
    const counted = new Date(newest);
    const today = startOf(this.clock.now(), DAY);
    return later(counted < today ? counted : today, -DAY);
  }
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 'yyyy-mm-dd'.length);
}

function keyOf({ clientId, route, status }: Omit<ApiUsageDaily, 'day' | 'calls'>): string {
  return `${clientId} ${status} ${route}`;
}
