import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, LessThan, LessThanOrEqual, Not } from 'typeorm';
import { HOUR, later } from '../clock.js';
import { isDuplicateKey } from '../database/errors.js';
import { expiredRows, type ExpiredRows } from '../database/retention/expired-rows.js';
import { entities, TransactionRunner, type Transaction } from '../database/transaction.js';
import { upsert } from '../database/sql.js';
import { JobRun } from './job-run.entity.js';

/** No run takes so long: its process was killed, or lost the database. */
const GIVEN_UP_MS = HOUR;

@Injectable()
export class JobRunsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionRunner,
  ) {}

  /** True for exactly one caller per job and period: the row is the election. A run that was given up is held again. */
  async claim(job: string, period: string, startedAt: Date): Promise<boolean> {
    const run = await this.dataSource.manager.findOneBy(JobRun, { job, period });
    if (run) return run.finishedAt === null && this.takeOver(job, period, startedAt);
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

  /** Gives a claim back after a failure, so that another caller may have it; unless somebody has taken it over. */
  async release(job: string, period: string, startedAt: Date): Promise<void> {
    await this.transactions.run((tx) => entities(tx).delete(JobRun, { job, period, startedAt }));
  }

  async finish(job: string, period: string, startedAt: Date, finishedAt: Date): Promise<void> {
    await this.transactions.run((tx) =>
      entities(tx).update(JobRun, { job, period, startedAt }, { finishedAt }),
    );
  }

  /** Writes down a run that needed no election; for a period that has one, in its place. */
  async record(tx: Transaction, run: JobRun): Promise<void> {
    await upsert(tx, JobRun, run);
  }

  /** When the newest run of a job that ended did; null when none has. */
  async findLastFinish(job: string): Promise<Date | null> {
    const run = await this.dataSource.manager.findOne(JobRun, {
      where: { job, finishedAt: Not(IsNull()) },
      order: { period: 'DESC' },
    });
    return run?.finishedAt ?? null;
  }

  /** The runs of a job for earlier periods than this one. */
  before(job: string, period: string): ExpiredRows {
    return expiredRows(this.dataSource, JobRun, { job, period: LessThan(period) }, 'period');
  }

  private async takeOver(job: string, period: string, startedAt: Date): Promise<boolean> {
    const givenUp = LessThanOrEqual(later(startedAt, -GIVEN_UP_MS));
    const { affected } = await this.transactions.run((tx) =>
      entities(tx).update(
        JobRun,
        { job, period, finishedAt: IsNull(), startedAt: givenUp },
        { startedAt },
      ),
    );
    return affected === 1;
  }
}
