import { Injectable } from '@nestjs/common';
import { DataSource, LessThan } from 'typeorm';
import { isDuplicateKey } from '../../common/database-faults.js';
import { expiredRows, type ExpiredRows } from '../../database/expired-rows.js';
import { entities, TransactionRunner } from '../../database/transaction.js';
import { JobRun } from '../job-run.entity.js';

/** The period of jobs that run every hour, such as `2026-11-21T09` in UTC: as text, it sorts by time. */
export function hourOf(time: Date): string {
  return time.toISOString().slice(0, 'yyyy-mm-ddThh'.length);
}

@Injectable()
export class JobRunsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionRunner,
  ) {}

  /** True for exactly one caller per job and period: the row is the election. */
  async claim(job: string, period: string, startedAt: Date): Promise<boolean> {
    if (await this.dataSource.manager.existsBy(JobRun, { job, period })) return false;
    try {
      await this.transactions.run((tx) =>
        entities(tx).insert(JobRun, { job, period, startedAt, finishedAt: null }),
      );
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Gives a claim back after a failure, so that another caller may have it. */
  async release(job: string, period: string): Promise<void> {
    await this.transactions.run((tx) => entities(tx).delete(JobRun, { job, period }));
  }

  async finish(job: string, period: string, finishedAt: Date): Promise<void> {
    await this.transactions.run((tx) =>
      entities(tx).update(JobRun, { job, period }, { finishedAt }),
    );
  }

  /** The runs of a job for earlier periods than this one. */
  before(job: string, period: string): ExpiredRows {
    return expiredRows(this.dataSource, JobRun, { job, period: LessThan(period) }, 'period');
  }
}
