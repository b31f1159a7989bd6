import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock } from '../../platform/clock.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { periodOf } from '../quota/quota-period.js';
import {
  type JobName,
  PRUNE,
  QUOTA_RESET,
  USAGE_ROLLUP,
} from '../../platform/lifecycle/job-names.js';
import { hourOf, tenMinutesOf } from '../../platform/lifecycle/job-runner.service.js';
import { JobRunsRepository } from '../../platform/lifecycle/job-runs.repository.js';

/** What a run at this time is for. */
const PERIODS: Readonly<Record<JobName, (time: Date) => string>> = {
  [PRUNE]: (time) => hourOf(time).name,
  [QUOTA_RESET]: periodOf,
  [USAGE_ROLLUP]: (time) => tenMinutesOf(time).name,
};

/** Runs jobs for an operator, or the operator's cron. */
@Injectable()
export class ManualJobs {
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
