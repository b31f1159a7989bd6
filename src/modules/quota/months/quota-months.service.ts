import { Injectable } from '@nestjs/common';
import { Clock, DAY, addMilliseconds } from '../../../platform/clock.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { periodOf, periodStart, rangeOf, type Period } from '../quota-period.js';
import { QuotaRepository } from '../quota.repository.js';
import { type EffectiveQuota, QuotaService } from '../quota.service.js';

const BATCH_SIZE = 500;

export interface ClosedMonths {
  /** The current month. */
  period: Period;
  /** The number of rows of earlier months that were closed. */
  closed: number;
  previous: { period: Period; apps: number; posts: number };
}

/** The usage of an app in a month. A null limit means unlimited. */
export interface ReportLine {
  clientId: string;
  name: string;
  publisher: string | null;
  reference: string | null;
  /** Null for a past month in which the app did not publish, for which no plan and limit are recorded. */
  plan: string | null;
  limit: number | null;
  used: number;
  remaining: number | null;
  /** Percentage of the limit, rounded down; null if unlimited. With a limit of 0: 100 if `used` is above 0, else 0. */
  percent: number | null;
  /** Expected posts at the end of the month at the current rate, at most the limit. For a past month, equal to `used`. */
  projected: number;
  /** API calls of the month, of any route and status. Those of the last ten minutes may be missing. */
  calls: number;
  period: Period;
}

/** An app as far as the report shows it. */
export interface ReportedApp {
  clientId: string;
  name: string;
  publisher: string | null;
  reference: string | null;
  createdAt: Date;
  test: boolean;
}

@Injectable()
export class QuotaMonths {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Closes the earlier months: stores the plan and limit of each app, so that later plan changes do not alter the reports of
   * these months. Also returns the totals of the previous month. Idempotent and safe to run concurrently.
   */
  async closeEarlier(): Promise<ClosedMonths> {
    const now = this.clock.now();
    const period = periodOf(now);
    let closed = 0;
    for (const earlier of await this.repository.findUnclosedPeriods(period))
      closed += await this.close(earlier, now);
    const previous = periodOf(addMilliseconds(periodStart(now), -1));
    return {
      period,
      closed,
      previous: { period: previous, ...(await this.repository.sumUsage(previous)) },
    };
  }

  private async close(period: Period, closedAt: Date): Promise<number> {
    let closed = 0;
    for (;;) {
      const clientIds = await this.repository.findUnclosedClientIds(period, BATCH_SIZE);
      if (clientIds.length === 0) return closed;
      const closedBefore = closed;
      for (const { plan, limit, clientIds: group } of await this.groupByQuota(clientIds)) {
        const values = { closedPlan: plan, closedLimit: limit, closedAt };
        closed += await this.transactions.run((tx) =>
          this.repository.close(tx, period, group, values),
        );
      }
      // Another process has closed the month of these apps, and will close it for the rest.
      if (closed === closedBefore) return closed;
    }
  }

  /** Groups apps by plan and limit. Most apps share both, so few statements close a month. */
  private async groupByQuota(
    clientIds: string[],
  ): Promise<Iterable<EffectiveQuota & { clientIds: string[] }>> {
    const assignments = await this.repository.findAssignments(clientIds);
    const groups = new Map<string, EffectiveQuota & { clientIds: string[] }>();
    for (const clientId of clientIds) {
      const quota = this.quota.effectiveQuota(assignments.get(clientId));
      const key = `${quota.plan} ${quota.limit}`;
      const group = groups.get(key) ?? { ...quota, clientIds: [] };
      group.clientIds.push(clientId);
      groups.set(key, group);
    }
    return groups.values();
  }

  /**
   * Reports the usage of these apps, without test apps and those registered after the month, highest percentage first. A closed month
   * has the plans and limits stored when it was closed, any other month the current ones.
   * @param period the current month by default
   * @throws InvalidRequest if the month has not begun
   */
  async report(
    apps: readonly ReportedApp[],
    period: Period = periodOf(this.clock.now()),
  ): Promise<ReportLine[]> {
    const factor = this.projectionFactor(period);
    const usage = await this.repository.findUsage(period);
    const assignments = await this.repository.findAssignments();
    const { from, to } = rangeOf(period);
    const isPast = to <= this.clock.now();
    const totals = await this.repository.sumTotals('app', { from, to });
    const calls = new Map(totals.map((total) => [total.group, total.calls]));
    const existing = apps.filter(({ createdAt, test }) => createdAt < to && !test);
    const lines = existing.map(({ clientId, name, publisher, reference }): ReportLine => {
      const month = usage.get(clientId);
      const quota = month?.closedAt
        ? { plan: month.closedPlan, limit: month.closedLimit }
        : month || !isPast
          ? this.quota.effectiveQuota(assignments.get(clientId))
          : { plan: null, limit: null };
      const used = month?.used ?? 0;
      return {
        clientId,
        name,
        publisher,
        reference,
        ...quota,
        used,
        remaining: quota.limit === null ? null : Math.max(0, quota.limit - used),
        percent: percentOf(used, quota.limit),
        // Publishes above the limit are rejected.
        projected: Math.max(used, Math.min(Math.round(used * factor), quota.limit ?? Infinity)),
        calls: calls.get(clientId) ?? 0,
        period,
      };
    });
    return lines.toSorted(
      (one, other) => (other.percent ?? -1) - (one.percent ?? -1) || other.used - one.used,
    );
  }

  /** Length of the month divided by its elapsed time, which counts as at least one day. */
  private projectionFactor(period: Period): number {
    const { from, to } = rangeOf(period);
    const now = this.clock.now();
    if (now < from) throw new InvalidRequest(`The month ${period} has not begun.`);
    if (now >= to) return 1;
    const elapsed = Math.max(DAY, now.getTime() - from.getTime());
    return (to.getTime() - from.getTime()) / elapsed;
  }
}

function percentOf(used: number, limit: number | null): number | null {
  if (limit === null) return null;
  if (limit === 0) return used > 0 ? 100 : 0;
  return Math.floor((used * 100) / limit);
}
