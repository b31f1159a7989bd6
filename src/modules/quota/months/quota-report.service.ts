import { Injectable } from '@nestjs/common';
import { Clock, DAY } from '../../../platform/clock.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { periodOf, rangeOf, type Period } from '../quota-period.js';
import { QuotaRepository } from '../quota.repository.js';
import { QuotaService, type Terms } from '../quota.service.js';

/** An app's month; null is unlimited. */
export interface ReportLine extends Terms {
  clientId: string;
  name: string;
  used: number;
  remaining: number | null;
  /** Of the limit, rounded down; null without one. */
  percent: number | null;
  /** What the month comes to if the app goes on like this; of a month that is over, what it came to. */
  projected: number;
  period: Period;
}

/** What all apps make of their quota. */
@Injectable()
export class QuotaReport {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly clock: Clock,
  ) {}

  /**
   * A line for each of these apps, who used most of its limit first. A month that was closed has the plans and limits of its
   * end; any other one those of now. Two statements, however many apps there are.
   * @param period the current month by default
   * @throws InvalidRequest when the month has not begun
   */
  async of(
    apps: readonly { clientId: string; name: string }[],
    period: Period = periodOf(this.clock.now()),
  ): Promise<ReportLine[]> {
    const perPost = this.projection(period);
    const usage = new Map(
      (await this.repository.findUsage(period)).map((row) => [row.clientId, row]),
    );
    const arrangements = await this.repository.findArrangements();
    const lines = apps.map(({ clientId, name }): ReportLine => {
      const month = usage.get(clientId);
      const terms = month?.closedAt
        ? { plan: month.closedPlan ?? '', limit: month.closedLimit }
        : this.quota.termsOf(arrangements.get(clientId) ?? null);
      const used = month?.used ?? 0;
      return {
        clientId,
        name,
        ...terms,
        used,
        remaining: terms.limit === null ? null : Math.max(0, terms.limit - used),
        percent: percentOf(used, terms.limit),
        projected: Math.round(used * perPost),
        period,
      };
    });
    return lines.toSorted(
      (one, other) => (other.percent ?? -1) - (one.percent ?? -1) || other.used - one.used,
    );
  }

  /** What a post so far is at the end of the month. The first day counts as a whole one: a few hours tell nothing. */
  private projection(period: Period): number {
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
