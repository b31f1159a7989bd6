import { Injectable } from '@nestjs/common';
import { Clock, DAY, HOUR, addMilliseconds, floorTo } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import type { TimeRange } from '../../../platform/database/rows-in-pages.js';
import type { ApiUsageDaily } from '../quota.entities.js';
import { dayOf } from '../quota-period.js';
import { QuotaRepository, type UsageGroup, type UsageTotal } from '../quota.repository.js';

export interface RollupResult {
  /** The days with calls, such as `2026-11-21`, oldest first, each with its number of calls. */
  days: { day: string; calls: number }[];
  /** End of the counted time range, exclusive. */
  until: Date;
}

interface RollupOptions {
  /** Start of a day. */
  from?: Date;
  /** When to stop early; the next run continues. */
  stopAt?: Date;
  /** Called before a day is counted. */
  onDay?: (day: string) => void;
}

/** Calls before this time are past retention. It is the start of a UTC day, so that calls expire by whole days. */
export function callLogStart(now: Date, { retention }: Pick<AppConfig, 'retention'>): Date {
  return floorTo(addMilliseconds(now, -retention.callLog * DAY), DAY);
}

/**
 * Aggregates the call log by day, app, route and status.
 *
 * A call is stored shortly after it was made, or minutes later after a database outage. A day is therefore recounted until the
 * end of the next day. Calls that are stored even later are counted before they are pruned, or when an operator runs the roll-up
 * from their day.
 */
@Injectable()
export class UsageRollup {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Counts every day that may have changed since the last run, or every day since `from`, the start of a day. Idempotent and safe
   * to run concurrently, because totals are set and not incremented.
   */
  async run({ from, ...options }: RollupOptions = {}): Promise<RollupResult> {
    // Includes up to a day of the future, because the clock of another process may be ahead.
    const until = addMilliseconds(this.clock.now(), DAY);
    return this.rollUp(from ?? (await this.firstUnfinishedDay()), until, options);
  }

  /** Rolls up the calls past retention. @returns the end of those rolled up, which may be deleted */
  async rollUpExpiredCalls(now: Date, options: Omit<RollupOptions, 'from'> = {}): Promise<Date> {
    const end = callLogStart(now, this.config);
    return (await this.rollUp(new Date(0), end, options)).until;
  }

  private async rollUp(
    from: Date,
    to: Date,
    { stopAt, onDay }: Omit<RollupOptions, 'from'>,
  ): Promise<RollupResult> {
    const days: RollupResult['days'] = [];
    for await (const { from: start } of this.repository.partsWithCalls({ from, to }, DAY)) {
      if (stopAt && this.clock.now() >= stopAt) return { days, until: start };
      const day = dayOf(start);
      onDay?.(day);
      days.push({ day, calls: await this.rollUpDay(day, start) });
    }
    return { days, until: to };
  }

  /** @returns the number of calls */
  private async rollUpDay(day: string, start: Date): Promise<number> {
    const counted = new Map<string, ApiUsageDaily>();
    let calls = 0;
    const range = { from: start, to: addMilliseconds(start, DAY) };
    for await (const hour of this.repository.partsWithCalls(range, HOUR)) {
      for (const count of await this.repository.countCalls(hour)) {
        const { clientId, route, status, errorCode } = count;
        const total = counted.get(keyOf(count)) ?? {
          day,
          clientId,
          route,
          status,
          calls: 0,
          errors: null,
        };
        total.calls += count.calls;
        calls += count.calls;
        if (errorCode !== null) {
          total.errors ??= {};
          total.errors[errorCode] = (total.errors[errorCode] ?? 0) + count.calls;
        }
        counted.set(keyOf(count), total);
      }
    }
    await this.raiseTotals(day, counted);
    return calls;
  }

  /**
   * Writes only totals that are higher than the stored ones, because the stored calls of a day only become more until they are
   * pruned. Of two overlapping runs, the one that counted less may still write last; the next run corrects the total. Totals are
   * written in key order, so that concurrent runs do not deadlock.
   */
  private async raiseTotals(
    day: string,
    counted: ReadonlyMap<string, ApiUsageDaily>,
  ): Promise<void> {
    const totals = await this.repository.findTotals(day);
    const before = new Map(totals.map((total) => [keyOf(total), weightOf(total)]));
    const raised = [...counted]
      .filter(([key, total]) => weightOf(total) > (before.get(key) ?? 0))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, total]) => total);
    if (raised.length > 0)
      await this.transactions.run((tx) => this.repository.saveTotals(tx, raised));
  }

  /**
   * Sums the daily totals from the day of `from` to that before `to`. Days come oldest first, other groups by calls. Errors omits calls
   * without an error code.
   * @param clientId of all apps by default
   */
  async report(by: UsageGroup, range: TimeRange, clientId?: string): Promise<UsageTotal[]> {
    const totals = await this.repository.sumTotals(by, range, clientId);
    return totals.toSorted((one, other) =>
      by === 'day' ? (one.group < other.group ? -1 : 1) : other.calls - one.calls,
    );
  }

  private async firstUnfinishedDay(): Promise<Date> {
    const newest = await this.repository.findNewestDay();
    if (newest === null) return new Date(0);
    const newestDay = new Date(newest);
    const today = floorTo(this.clock.now(), DAY);
    return addMilliseconds(newestDay < today ? newestDay : today, -DAY);
  }
}

/** Also higher if the errors of the same calls are counted, which 1.1 did not do. */
function weightOf({ calls, errors }: ApiUsageDaily): number {
  return Object.values(errors ?? {}).reduce((sum, count) => sum + count, calls);
}

function keyOf({
  clientId,
  route,
  status,
}: Pick<ApiUsageDaily, 'clientId' | 'route' | 'status'>): string {
  return `${clientId} ${status} ${route}`;
}
