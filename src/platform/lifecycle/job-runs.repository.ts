import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, IsNull, MoreThan, Not } from 'typeorm';
import { Clock } from '../clock.js';
import { isDuplicateKey } from '../database/errors.js';
import { entities, TransactionRunner, type Transaction } from '../database/transaction.js';
import { upsert } from '../database/sql.js';
import { JobRun } from './job-run.entity.js';

@Injectable()
export class JobRunsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * True for the caller that inserts the row of the job and period. If its process is killed, the job runs again in the next period,
   * which is an hour away at most.
   */
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

  /** Deletes a claim after a failure, so that another process may run the job. */
  async release(job: string, period: string, startedAt: Date): Promise<void> {
    await this.transactions.run((tx) => entities(tx).delete(JobRun, { job, period, startedAt }));
  }

  async finish(job: string, period: string, startedAt: Date, finishedAt: Date): Promise<void> {
    await this.transactions.run((tx) =>
      entities(tx).update(JobRun, { job, period, startedAt }, { finishedAt }),
    );
  }

  /** Records a run without a claim, such as one by a command. Replaces the run of its period. */
  async record(tx: Transaction, run: JobRun): Promise<void> {
    await upsert(tx, JobRun, run);
  }

  /** The end of the run for the newest period that has finished; null if there is none. */
  async findLastFinish(job: string): Promise<Date | null> {
    const run = await this.dataSource.manager.findOne(JobRun, {
      where: { job, finishedAt: Not(IsNull()) },
      order: { period: 'DESC' },
    });
    return run?.finishedAt ?? null;
  }

  /** A run that started or finished after this time. */
  findAfter(time: Date): Promise<JobRun | null> {
    return this.dataSource.manager.findOne(JobRun, {
      where: runsAfter(time),
      order: { startedAt: 'DESC' },
    });
  }

  /** Deletes the runs that started or finished after this time. @returns their number */
  async deleteAfter(tx: Transaction, time: Date): Promise<number> {
    const { affected } = await entities(tx).delete(JobRun, runsAfter(time));
    return affected ?? 0;
  }

  /** Inserts, updates and deletes a row, then rolls back. @throws the driver's error if a write fails */
  async checkWritable(): Promise<void> {
    const now = this.clock.now();
    // No job has this name.
    const key = { job: randomUUID(), period: 'trial' };
    const rollback = new Error('Roll back.');
    try {
      await this.transactions.run(async (tx) => {
        await entities(tx).insert(JobRun, { ...key, startedAt: now, finishedAt: null });
        await entities(tx).update(JobRun, key, { finishedAt: now });
        await entities(tx).delete(JobRun, key);
        throw rollback;
      });
    } catch (error) {
      if (error !== rollback) throw error;
    }
  }
}

function runsAfter(time: Date): FindOptionsWhere<JobRun>[] {
  return [{ startedAt: MoreThan(time) }, { finishedAt: MoreThan(time) }];
}
