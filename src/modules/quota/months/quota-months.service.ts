import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { periodOf, previousPeriod, type Period } from '../quota-period.js';
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

/** Closes finished months, so that a report of October does not change with a plan of December. */
@Injectable()
export class QuotaMonths {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes the apps' plan and limit into each earlier month, and sums up the previous one. A closed month never changes, so this
   * is safe to run twice, late, never, or concurrently.
   */
  async closeEarlier(): Promise<ClosedMonths> {
    const now = this.clock.now();
    const period = periodOf(now);
    let closed = 0;
    for (const earlier of await this.repository.findUnclosedPeriods(period))
      closed += await this.close(earlier, now);
    const last = previousPeriod(now);
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
      for (const { plan, limit, members } of await this.groupByQuota(clientIds)) {
        const values = { closedPlan: plan, closedLimit: limit, closedAt };
        closed += await this.transactions.run((tx) =>
          this.repository.close(tx, period, members, values),
        );
      }
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
}
