import { Injectable } from '@nestjs/common';
import { Clock, DAY, later, startOf } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { ExpiredRows } from '../../../platform/database/retention/expired-rows.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import type { ApiUsageDaily } from '../quota.entities.js';
import { CallsRepository } from './calls.repository.js';

export interface RolledUp {
  /** Days that have calls, such as `2026-11-21`, oldest first, and their number of calls. */
  days: { day: string; calls: number }[];
  /** The totals include every call between the start and this moment. */
  until: Date;
}

/** Calls before this moment are deleted. It is the start of a UTC day, so that no day is counted from a part of its calls. */
export function callLogStart(now: Date, { retention }: Pick<AppConfig, 'retention'>): Date {
  return startOf(later(now, -retention.callLog * DAY), DAY);
}

/**
 * Adds up the call log by day, app, route and status.
 *
 * A call is written a moment after it was made, or minutes later after a database outage. A day is therefore counted again until
 * the next day has ended. Later calls are counted when an operator names their day, and at the latest before they are pruned.
 */
@Injectable()
export class UsageRollup {
  constructor(
    private readonly repository: CallsRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Counts every day that may have changed since the last run, or every day since `from`, the start of a day. Safe to run twice,
   * late, never, or concurrently: totals are set, not incremented.
   * @param stopAt when to stop early; the next run continues
   */
  async run({ from, stopAt }: { from?: Date; stopAt?: Date } = {}): Promise<RolledUp> {
    // The clock of another process may be ahead.
    const until = later(this.clock.now(), DAY);
    return this.count(from ?? (await this.firstOpenDay()), until, stopAt);
  }

  /** The calls past retention. */
  expiredCalls(): ExpiredRows {
    return this.repository.before(callLogStart(this.clock.now(), this.config));
  }

  /** The calls past retention, after adding them to the totals. @param stopAt when to leave the rest to the next run */
  async countExpiredCalls(stopAt?: Date): Promise<ExpiredRows> {
    const end = callLogStart(this.clock.now(), this.config);
    const { until } = await this.count(new Date(0), end, stopAt);
    return this.repository.before(until);
  }

  private async count(from: Date, to: Date, stopAt: Date | undefined): Promise<RolledUp> {
    const days: RolledUp['days'] = [];
    let first = await this.repository.findFirst({ from, to });
    while (first) {
      const start = startOf(first, DAY);
      if (stopAt && this.clock.now() >= stopAt) return { days, until: start };
      days.push(await this.countDay(start));
      first = await this.repository.findFirst({ from: later(start, DAY), to });
    }
    return { days, until: to };
  }

  private async countDay(start: Date): Promise<{ day: string; calls: number }> {
    const day = start.toISOString().slice(0, 'yyyy-mm-dd'.length);
    const counted = new Map<string, ApiUsageDaily>();
    let calls = 0;
    for await (const hour of this.repository.hours({ from: start, to: later(start, DAY) })) {
      for (const count of await this.repository.countByRoute(hour)) {
        const total = counted.get(keyOf(count)) ?? { day, ...count, calls: 0 };
        total.calls += count.calls;
        calls += count.calls;
        counted.set(keyOf(count), total);
      }
    }
    await this.raiseTotals(day, counted);
    return { day, calls };
  }

  /**
   * Never lowers a total: calls are only added, until the day is pruned. Of two concurrent runs, the one that counted less may
   * write last; the next run corrects it. Totals are written in key order, so that concurrent runs do not deadlock.
   */
  private async raiseTotals(
    day: string,
    counted: ReadonlyMap<string, ApiUsageDaily>,
  ): Promise<void> {
    const totals = await this.repository.findTotals(day);
    const before = new Map(totals.map((total) => [keyOf(total), total.calls]));
    const raised = [...counted]
      .filter(([key, { calls }]) => calls > (before.get(key) ?? 0))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, total]) => total);
    if (raised.length > 0)
      await this.transactions.run((tx) => this.repository.saveTotals(tx, raised));
  }

  private async firstOpenDay(): Promise<Date> {
    const newest = await this.repository.findNewestDay();
    if (newest === null) return new Date(0);
    const counted = new Date(newest);
    const today = startOf(this.clock.now(), DAY);
    return later(counted < today ? counted : today, -DAY);
  }
}

function keyOf({ clientId, route, status }: Omit<ApiUsageDaily, 'day' | 'calls'>): string {
  return `${clientId} ${status} ${route}`;
}
