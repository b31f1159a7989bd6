import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { periodOf, previousPeriod, type Period } from '../quota-period.js';
import { QuotaRepository } from '../quota.repository.js';
import { QuotaService, type Terms } from '../quota.service.js';
import { QuotaMonthsRepository } from './quota-months.repository.js';

const AT_ONCE = 500;

/** What the change of the month found and did. */
export interface MonthChange {
  period: Period;
  /** Apps that got a row now; the others had one. */
  opened: number;
  /** Rows of earlier months whose plan and limit were written down now. */
  closed: number;
  previous: { period: Period; apps: number; posts: number };
}

/** Opens the months of apps and closes them. Counts are never set back: the month is part of their key. */
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
   * Opens the current month for these apps, writes down under which plan and limit each app ended the months before, and adds
   * up the last one. What is written down once stays, so running this twice or late changes nothing, and a month for which it
   * never ran is closed the next time.
   */
  async change(clientIds: string[]): Promise<MonthChange> {
    const now = this.clock.now();
    const period = periodOf(now);
    let opened = 0;
    for (let from = 0; from < clientIds.length; from += AT_ONCE)
      opened += await this.openMissing(clientIds.slice(from, from + AT_ONCE), period);
    let closed = 0;
    for (const earlier of await this.months.findUnclosedPeriods(period))
      closed += await this.close(earlier, now);
    const last = previousPeriod(now);
    const previous = { period: last, ...(await this.months.addUp(last)) };
    return { period, opened, closed, previous };
  }

  private async openMissing(clientIds: string[], period: Period): Promise<number> {
    const open = new Set(await this.months.findOpen(clientIds, period));
    const missing = clientIds.filter((clientId) => !open.has(clientId));
    if (missing.length > 0)
      await this.transactions.run((tx) => this.repository.open(tx, missing, period));
    return missing.length;
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
