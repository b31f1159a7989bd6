import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock, DAY, later } from '../../common/clock.js';
import type { ExpiredRows } from '../../database/expired-rows.js';
import { TransactionRunner } from '../../database/transaction.js';
import { Idempotency } from '../../idempotency/idempotency.service.js';
import { OAuthPruneService } from '../../modules/oauth/prune/oauth-prune.service.js';
import { hourOf, JobRunsRepository } from './job-runs.repository.js';

export const PRUNE = 'prune';

/** Few enough that nobody notices who waits for the locks, or on SQLite for the queue. */
const BATCH = 1000;
const PAUSE_MS = 50;
const RUNS_MS = 90 * DAY;

/** How many rows of each table. */
export type RowsByTable = Record<string, number>;

/** Deletes what has expired. Nothing depends on it but the size of the database. */
@Injectable()
export class Prune {
  constructor(
    private readonly oauth: OAuthPruneService,
    private readonly idempotency: Idempotency,
    private readonly runs: JobRunsRepository,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** What a run would delete now. */
  preview(): Promise<RowsByTable> {
    return this.byTable((rows) => rows.count());
  }

  /**
   * Deletes it, a batch at a time. Safe to run twice, late, never, or in two places at once.
   * @param until when to stop before all is done; the next run goes on
   */
  async run(until?: Date): Promise<RowsByTable> {
    await this.deleteAll(this.oauth.cleared(), until);
    return this.byTable((rows) => this.deleteAll(rows, until));
  }

  private async deleteAll(rows: ExpiredRows, until?: Date): Promise<number> {
    const isOver = (): boolean => until !== undefined && this.clock.now() >= until;
    let deleted = 0;
    while (!isOver()) {
      const keys = await rows.keys(BATCH);
      if (keys.length > 0) deleted += await this.transactions.run((tx) => rows.delete(tx, keys));
      if (keys.length < BATCH) break;
      await sleep(PAUSE_MS);
    }
    return deleted;
  }

  private async byTable(work: (rows: ExpiredRows) => Promise<number>): Promise<RowsByTable> {
    const counts: RowsByTable = {};
    const before = hourOf(later(this.clock.now(), -RUNS_MS));
    const expired = [
      ...this.oauth.expired(),
      this.idempotency.expired(),
      this.runs.before(PRUNE, before),
    ];
    for (const rows of expired) counts[rows.table] = (counts[rows.table] ?? 0) + (await work(rows));
    return counts;
  }
}

/** All of them together. */
export function totalOf(counts: RowsByTable): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
