import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { newId } from '../../../platform/ids.js';
import { entities, TransactionRunner } from '../../../platform/database/transaction.js';
import { JobRun } from '../../../platform/lifecycle/job-run.entity.js';

/** Finds out by trying whether the database lets the service write. */
@Injectable()
export class WriteTrial {
  constructor(
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** Adds, changes and deletes a row, and takes it all back. @throws the driver's error when it may not */
  async run(): Promise<void> {
    const now = this.clock.now();
    const key = { job: newId('evt', now), period: 'trial' };
    const takenBack = new Error('The trial is over.');
    try {
      await this.transactions.run(async (tx) => {
        await entities(tx).insert(JobRun, { ...key, startedAt: now, finishedAt: null });
        await entities(tx).update(JobRun, key, { finishedAt: now });
        await entities(tx).delete(JobRun, key);
        throw takenBack;
      });
    } catch (error) {
      if (error !== takenBack) throw error;
    }
  }
}
