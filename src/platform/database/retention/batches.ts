import { setTimeout as sleep } from 'node:timers/promises';
import type { DeletableRows } from './deletion-queries.js';
import type { TransactionRunner } from '../transaction.js';

/** Rows per transaction. Small, so that requests wait only briefly for its locks, or for the queue of SQLite. */
const BATCH_SIZE = 1000;
const PAUSE_MS = 50;

export type RowsByTable = Record<string, number>;

export interface BatchSettings {
  /** Called before every batch, which is not started if the result is true. */
  shouldStop?: () => boolean;
  /** Called after every batch with the number of rows deleted from the table so far. */
  onBatch?: (table: string, deletedSoFar: number) => void;
}

/** Deletes rows in batches, each in its own transaction, with a pause after each. @returns the number of deleted rows */
export async function deleteInBatches(
  transactions: TransactionRunner,
  rows: DeletableRows,
  { shouldStop = () => false, onBatch }: BatchSettings = {},
): Promise<number> {
  let deleted = 0;
  while (!shouldStop()) {
    const keys = await rows.keys(BATCH_SIZE);
    if (keys.length === 0) break;
    deleted += await transactions.run((tx) => rows.delete(tx, keys));
    onBatch?.(rows.table, deleted);
    await sleep(PAUSE_MS);
  }
  return deleted;
}

/** Calls `work` for one set of rows after the other, and sums the results by table. */
export async function sumByTable(
  rowSets: Iterable<DeletableRows> | AsyncIterable<DeletableRows>,
  work: (rows: DeletableRows) => Promise<number>,
): Promise<RowsByTable> {
  const counts: RowsByTable = {};
  for await (const rows of rowSets)
    counts[rows.table] = (counts[rows.table] ?? 0) + (await work(rows));
  return counts;
}

export function totalOf(counts: RowsByTable): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
