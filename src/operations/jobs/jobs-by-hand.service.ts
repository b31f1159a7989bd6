import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../audit/audit-log.repository.js';
import { Clock } from '../../common/clock.js';
import { TransactionRunner } from '../../database/transaction.js';
import { periodOf } from '../../modules/quota/period.js';
import { PRUNE, QUOTA_RESET, USAGE_ROLLUP, type JobName } from './job-names.js';
import { hourOf, tenMinutesOf } from './job-periods.js';
import { JobRunsRepository } from './job-runs.repository.js';

/** What a run at this time is for. */
const PERIODS: Readonly<Record<JobName, (time: Date) => string>> = {
  [PRUNE]: (time) => hourOf(time).name,
  [QUOTA_RESET]: periodOf,
  [USAGE_ROLLUP]: (time) => tenMinutesOf(time).name,
};

/** Runs jobs for an operator, or the operator's cron. */
@Injectable()
export class JobsByHand {
  constructor(
    private readonly runs: JobRunsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** Runs `work` at once, whether a process did or does; then it counts as a run of the job, and the audit log has it. */
  async run<T>(job: JobName, change: Change, work: () => Promise<T>): Promise<T> {
    const startedAt = this.clock.now();
    const outcome = await work();
    const finishedAt = this.clock.now();
    const period = PERIODS[job](startedAt);
    await this.transactions.run(async (tx) => {
      await this.runs.record(tx, { job, period, startedAt, finishedAt });
      await this.audit.record(tx, 'job.run', job, change, { period });
    });
    return outcome;
  }
}
