import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { periodOf, previousPeriod, type Period } from '../quota-period.js';
import { QuotaRepository } from '../quota.repository.js';
import { QuotaService, type Terms } from '../quota.service.js';
import { QuotaMonthsRepository } from './quota-months.repository.js';

const AT_ONCE = 500;

export interface ClosedMonths {
  /** The current month. */
  period: Period;
  /** Rows of earlier months whose plan and limit were written now. */
  closed: number;
  previous: { period: Period; apps: number; posts: number };
}

/** Closes finished months, so that a report of October does not change with a plan of December. */
@Injectable()
export class QuotaMonths {
  constructor(
    private readonly months: QuotaMonthsRepository,
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes into each earlier month under which plan and limit its apps ended it, and adds up the last one. A closed month never
   * changes, so this is safe to run twice, late, never, or concurrently.
   */
  async closeEarlier(): Promise<ClosedMonths> {
    const now = this.clock.now();
    const period = periodOf(now);
    let closed = 0;
    for (const earlier of await this.months.findUnclosedPeriods(period))
      closed += await this.close(earlier, now);
    const last = previousPeriod(now);
    return { period, closed, previous: { period: last, ...(await this.months.addUp(last)) } };
  }

  private async close(period: Period, now: Date): Promise<number> {
    let closed = 0;
    let clientIds = await this.months.findUnclosed(period, '', AT_ONCE);
    while (clientIds.length > 0) {
      for (const { terms, under } of await this.byTerms(clientIds)) {
        const closing = { closedPlan: terms.plan, closedLimit: terms.limit, closedAt: now };
        closed += await this.transactions.run((tx) =>
          this.months.close(tx, period, under, closing),
        );
      }
      clientIds = await this.months.findUnclosed(period, clientIds.at(-1) ?? '', AT_ONCE);
    }
    return closed;
  }

  /** Most apps share a plan and its limit, so a few statements close them. */
  private async byTerms(clientIds: string[]): Promise<{ terms: Terms; under: string[] }[]> {
    const arrangements = await this.repository.findArrangements(clientIds);
    const groups = new Map<string, { terms: Terms; under: string[] }>();
    for (const clientId of clientIds) {
      const terms = this.quota.termsOf(arrangements.get(clientId) ?? null);
      const key = `${terms.plan} ${terms.limit}`;
      const group = groups.get(key) ?? { terms, under: [] };
      group.under.push(clientId);
      groups.set(key, group);
    }
    return [...groups.values()];
  }
}
