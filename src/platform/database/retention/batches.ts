import { setTimeout as sleep } from 'node:timers/promises';
import type { ExpiredRows } from './expired-rows.js';
import type { TransactionRunner } from '../transaction.js';

/** Few enough that nobody notices who waits for the locks, or on SQLite for the queue. */
const BATCH = 1000;
const PAUSE_MS = 50;

/** How many rows of each table. */
export type RowsByTable = Record<string, number>;

export interface BatchSettings {
  /** PendingRequest before every batch: whether to leave the rest for another time. */
  isOver?: () => boolean;
  /** Told after every batch how many rows of the table are gone. */
  onBatch?: (table: string, deleted: number) => void;
}

/** Deletes rows a batch at a time, each in a unit of its own, with a pause between. @returns how many */
export async function deleteInBatches(
  transactions: TransactionRunner,
  rows: ExpiredRows,
  { isOver = () => false, onBatch }: BatchSettings = {},
): Promise<number> {
  let deleted = 0;
  while (!isOver()) {
    const keys = await rows.keys(BATCH);
    if (keys.length === 0) break;
    deleted += await transactions.run((tx) => rows.delete(tx, keys));
    onBatch?.(rows.table, deleted);
    await sleep(PAUSE_MS);
  }
  return deleted;
}

/** What `work` counts, table by table, one after the other. */
export async function countByTable(
  all: Iterable<ExpiredRows> | AsyncIterable<ExpiredRows>,
  work: (rows: ExpiredRows) => Promise<number>,
): Promise<RowsByTable> {
  const counts: RowsByTable = {};
  for await (const rows of all) counts[rows.table] = (counts[rows.table] ?? 0) + (await work(rows));
  return counts;
}

/** All of them together. */
export function totalOf(counts: RowsByTable): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
