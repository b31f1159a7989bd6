import { Injectable } from '@nestjs/common';
import { Clock, DAY } from '../../../platform/clock.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { periodOf, rangeOf, type Period } from '../quota-period.js';
import { QuotaRepository } from '../quota.repository.js';
import { type EffectiveQuota, QuotaService } from '../quota.service.js';

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
export class QuotaReport {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly quota: QuotaService,
    private readonly clock: Clock,
  ) {}

  /**
   * A line for each of these apps, highest percentage first. A closed month shows its stored plans and limits, any other month
   * the current ones. Two statements, however many apps there are.
   * @param period the current month by default
   * @throws InvalidRequest if the month has not begun
   */
  async of(
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
