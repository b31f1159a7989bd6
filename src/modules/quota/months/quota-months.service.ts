import { Injectable } from '@nestjs/common';
import { Clock, DAY, later } from '../../../platform/clock.js';
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

/** An app's month. A null limit is unlimited. */
export interface ReportLine extends EffectiveQuota {
  clientId: string;
  name: string;
  used: number;
  remaining: number | null;
  /** Of the limit, rounded down; null without one. */
  percent: number | null;
  /** Posts at the end of the month at the current rate; of a past month, the posts published. */
  projected: number;
  period: Period;
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
   * Writes the apps' plan and limit into each earlier month, so that a report of October does not change with a plan of December.
   * Sums up the previous month. A closed month never changes, so this is safe to run twice, late, never, or concurrently.
   */
  async closeEarlier(): Promise<ClosedMonths> {
    const now = this.clock.now();
    const period = periodOf(now);
    let closed = 0;
    for (const earlier of await this.repository.findUnclosedPeriods(period))
      closed += await this.close(earlier, now);
    const last = periodOf(later(periodStart(now), -1));
    return {
      period,
      closed,
      previous: { period: last, ...(await this.repository.sumUsage(last)) },
    };
  }

  private async close(period: Period, closedAt: Date): Promise<number> {
    let closed = 0;
    for (;;) {
      const clientIds = await this.repository.findUnclosed(period, BATCH_SIZE);
      if (clientIds.length === 0) return closed;
      const before = closed;
      for (const { plan, limit, members } of await this.groupByQuota(clientIds)) {
        const values = { closedPlan: plan, closedLimit: limit, closedAt };
        closed += await this.transactions.run((tx) =>
          this.repository.close(tx, period, members, values),
        );
      }
      // Another process has closed them, and closes the others.
      if (closed === before) return closed;
    }
  }

  /** Most apps share a plan and its limit, so a few statements close them. */
  private async groupByQuota(
    clientIds: string[],
  ): Promise<Iterable<EffectiveQuota & { members: string[] }>> {
    const assignments = await this.repository.findAssignments(clientIds);
    const groups = new Map<string, EffectiveQuota & { members: string[] }>();
    for (const clientId of clientIds) {
      const quota = this.quota.effectiveQuota(assignments.get(clientId));
      const key = `${quota.plan} ${quota.limit}`;
      const group = groups.get(key) ?? { ...quota, members: [] };
      group.members.push(clientId);
      groups.set(key, group);
    }
    return groups.values();
  }

  /**
   * A line for each of these apps, highest percentage first. A closed month shows its stored plans and limits, any other month
   * the current ones. Two statements, however many apps there are.
   * @param period the current month by default
   * @throws InvalidRequest if the month has not begun
   */
  async report(
    apps: readonly { clientId: string; name: string }[],
    period: Period = periodOf(this.clock.now()),
  ): Promise<ReportLine[]> {
    const growth = this.projectedGrowth(period);
    const usage = await this.repository.findUsage(period);
    const assignments = await this.repository.findAssignments();
    const lines = apps.map(({ clientId, name }): ReportLine => {
      const month = usage.get(clientId);
      const quota = month?.closedAt
        ? { plan: month.closedPlan ?? '', limit: month.closedLimit }
        : this.quota.effectiveQuota(assignments.get(clientId));
      const used = month?.used ?? 0;
      return {
        clientId,
        name,
        ...quota,
        used,
        remaining: quota.limit === null ? null : Math.max(0, quota.limit - used),
        percent: percentOf(used, quota.limit),
        projected: Math.round(used * growth),
        period,
      };
    });
    return lines.toSorted(
      (one, other) => (other.percent ?? -1) - (one.percent ?? -1) || other.used - one.used,
    );
  }

  /** The length of the month relative to its elapsed part, of which at least a day counts. */
  private projectedGrowth(period: Period): number {
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
