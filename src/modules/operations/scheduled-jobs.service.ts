import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import type { Change } from '../../platform/audit/audit-log.repository.js';
import { addMilliseconds, Clock } from '../../platform/clock.js';
import type { RowsByTable } from '../../platform/database/deletable-rows.js';
import { MAX_SKEW_MS } from '../../platform/lifecycle/clock-skew.js';
import {
  hourOf,
  type JobName,
  JobRunner,
  tenMinutesOf,
} from '../../platform/lifecycle/job-runner.service.js';
import { UsageRollup } from '../quota/calls/usage-rollup.service.js';
import { type ClosedMonths, QuotaMonths } from '../quota/months/quota-months.service.js';
import { Retention } from './retention.js';

/** The period of a run that starts at this time. */
const PERIOD_OF: Readonly<Record<JobName, (time: Date) => string>> = {
  prune: (time) => hourOf(time).name,
  'quota-reset': (time) => hourOf(time).name,
  'usage-rollup': (time) => tenMinutesOf(time).name,
};

/** The scheduled jobs. In each period, a job runs in one process only. */
@Injectable()
export class ScheduledJobs {
  constructor(
    private readonly retention: Retention,
    private readonly months: QuotaMonths,
    private readonly usage: UsageRollup,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
  ) {}

  @Cron('0 * * * *', { name: 'prune', timeZone: 'UTC' })
  prune(): Promise<void> {
    const { name: period, end } = hourOf(this.scheduledTime());
    return this.jobs.run({
      name: 'prune',
      period,
      work: () => this.retention.run({ stopAt: end }),
      report: deletedMessage,
      failureMessage:
        'Pruning failed, so expired rows remain. It is retried in the next hour; to retry now, run "prune".',
    });
  }

  /**
   * Closes earlier months; resets no counter. This is the quota reset at the start of a calendar month (product requirements,
   * section 8): the month is part of the counters' key. Runs every hour, because a publish can commit after the first run of a month.
   */
  @Cron('0 * * * *', { name: 'quota-reset', timeZone: 'UTC' })
  closeEarlierMonths(): Promise<void> {
    return this.jobs.run({
      name: 'quota-reset',
      period: hourOf(this.scheduledTime()).name,
      work: () => this.months.closeEarlier(),
      report: closedMessage,
      failureMessage:
        'The quota reset failed, but quotas are still enforced. It is retried in the next hour; to retry now, run "quota reset".',
    });
  }

  /** Aggregates the call log by day. */
  @Cron('*/10 * * * *', { name: 'usage-rollup', timeZone: 'UTC' })
  rollUpUsage(): Promise<void> {
    const { name: period, end } = tenMinutesOf(this.scheduledTime());
    return this.jobs.run({
      name: 'usage-rollup',
      period,
      work: () => this.usage.run({ stopAt: end }),
      failureMessage:
        'The usage roll-up failed, so totals are out of date. It is retried in ten minutes; to retry now, run "usage rollup".',
    });
  }

  /** Schedules follow the clock of the machine, which may be a little ahead of that of the database: the period has begun by then. */
  private scheduledTime(): Date {
    return addMilliseconds(this.clock.now(), MAX_SKEW_MS);
  }

  /** What the job would delete now, by table. @throws JobRefused if the clock is wrong */
  async previewPrune(onTable: (table: string) => void): Promise<RowsByTable> {
    await this.jobs.checkClock();
    return this.retention.preview(onTable);
  }

  /**
   * Runs a job for an operator, even if a process already ran it in this period, and writes an audit event.
   * @throws JobRefused if the clock is wrong
   */
  runNow<T>(name: JobName, change: Change, work: () => Promise<T>): Promise<T> {
    return this.jobs.runNow({ name, period: PERIOD_OF[name](this.clock.now()), work }, change);
  }
}

function deletedMessage(deleted: RowsByTable): string | undefined {
  const tables = Object.entries(deleted).filter(([, rows]) => rows > 0);
  if (tables.length === 0) return undefined;
  return `Deleted rows: ${tables.map(([table, rows]) => `${table} ${rows}`).join(', ')}.`;
}

/** Undefined if there was nothing to close, as in most hours. */
function closedMessage(months: ClosedMonths): string | undefined {
  return months.closed === 0 ? undefined : resetMessage(months);
}

export function resetMessage({ closed, previous }: ClosedMonths): string {
  return `Recorded plans and limits of earlier months in ${closed} rows. ${previous.period}: ${previous.posts} posts by ${previous.apps} apps.`;
}
