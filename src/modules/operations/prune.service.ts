import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import {
  type BatchSettings,
  countRows,
  deleteRows,
  type RowsByTable,
} from '../../platform/database/deletable-rows.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { UsageRollup } from '../quota/calls/usage-rollup.service.js';
import { Retention } from './retention.js';

interface PruneOptions extends Pick<BatchSettings, 'onBatch'> {
  /** When to stop, even if rows are left; the next run continues. */
  stopAt?: Date;
  /** Called before the expired calls of a day are aggregated. */
  onDay?: (day: string) => void;
}

/** Deletes expired rows. */
@Injectable()
export class Prune {
  constructor(
    private readonly retention: Retention,
    private readonly usage: UsageRollup,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts the rows that a run would delete now.
   * @param onTable called before rows of a table are counted
   */
  preview(onTable?: (table: string) => void): Promise<RowsByTable> {
    return countRows(this.retention.expired(this.clock.now()), onTable);
  }

  /** Deletes in batches. Idempotent and safe to run concurrently. */
  async run({ stopAt, onBatch, onDay }: PruneOptions = {}): Promise<RowsByTable> {
    const shouldStop = (): boolean => stopAt !== undefined && this.clock.now() >= stopAt;
    const settings = { shouldStop, onBatch };
    // Clears columns of rows that remain, so the result does not list them.
    const responses = this.retention.expiredResponses(this.clock.now());
    await deleteRows(this.transactions, [responses], settings);
    const callsBefore = await this.usage.rollUpExpiredCalls({ stopAt, onDay });
    const expired = this.retention.expired(this.clock.now(), callsBefore);
    return deleteRows(this.transactions, expired, settings);
  }
}
