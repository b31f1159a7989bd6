import { withDeadline } from '../request-context.js';
import { batched } from './batch-loader.js';
import {
  isConflict,
  isDatabaseUnavailable,
  isStatementTimeout,
  UnknownCommitOutcome,
} from './errors.js';
import type { Transaction, TransactionRunner } from './transaction.js';

/*
 * Group commit: several writes of the same kind in one transaction.
 *
 * A transaction holds its row locks until its commit is flushed to disk. Under load, writes of the same kind that arrive in one turn
 * of the event loop share statements, locks and the commit. docs/decisions/0018 has measurements with and without group commit.
 * Remove group commit when it no longer improves throughput.
 */

const MAX_ITEMS_PER_TRANSACTION = 16;

/** How to write items of one kind, in a batch and individually. */
export interface WriteOperation<I, O> {
  /** Writes several items and returns their results in the same order. @throws if any item fails */
  batch: (tx: Transaction, items: readonly I[]) => Promise<readonly O[]>;
  /** Writes one item. */
  single: (tx: Transaction, item: I) => Promise<O>;
  /** Items of one group may share a transaction. Items without a group are written individually. */
  groupOf: (item: I) => string | undefined;
  /** Id of the row that an item locks first. Items of a batch have different keys and are sorted by key, to avoid deadlocks. */
  keyOf: (item: I) => string;
}

/** The results of the batch that an item joined, and the index of the item in the batch; undefined if it joined none. */
type BatchEntry<O> = { results: Promise<readonly O[]>; index: number } | undefined;

export class GroupCommit<I, O> {
  private readonly join: (item: I) => Promise<BatchEntry<O>>;

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly write: WriteOperation<I, O>,
  ) {
    this.join = batched((items) => Promise.resolve(this.startBatches(items)));
  }

  /**
   * Commits the item, in a batch or individually. If a batch fails, each item is retried individually, unless the database is
   * unavailable or it is unknown whether the batch was committed.
   * @throws the errors of the write and of the database
   */
  async run(item: I): Promise<O> {
    const single = (): Promise<O> => this.transactions.run((tx) => this.write.single(tx, item));
    const entry = await this.join(item);
    if (!entry) return single();
    try {
      return (await entry.results)[entry.index] as O;
    } catch (error) {
      if (!isRetryable(error)) throw error;
      // The retry gets a new deadline, so the failed batch does not use up the request's time.
      return withDeadline(single);
    }
  }

  /** Starts the transactions of the batches. Of items with the same key, only the first joins a batch. */
  private startBatches(items: readonly I[]): BatchEntry<O>[] {
    const { groupOf, keyOf } = this.write;
    const groups = new Map<string, Map<string, I>>();
    for (const item of items) {
      const name = groupOf(item);
      if (name === undefined) continue;
      const group = groups.get(name) ?? new Map<string, I>();
      groups.set(name, group);
      const key = keyOf(item);
      if (!group.has(key)) group.set(key, item);
    }
    const entries = new Map<I, BatchEntry<O>>();
    for (const batch of [...groups.values()].flatMap(batchesOf)) {
      // `run` commits an item alone, with retries.
      if (batch.length === 1) continue;
      const results = this.transactions.runOnce((tx) => this.write.batch(tx, batch));
      for (const [index, item] of batch.entries()) entries.set(item, { results, index });
    }
    return items.map((item) => entries.get(item));
  }
}

/** Whether the items of a batch that failed with this error may be retried individually. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof UnknownCommitOutcome) return false;
  return isConflict(error) || isStatementTimeout(error) || !isDatabaseUnavailable(error);
}

/** Sorts by key and splits into batches. */
function batchesOf<T>(group: ReadonlyMap<string, T>): T[][] {
  const sorted = [...group]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, item]) => item);
  const count = Math.ceil(sorted.length / MAX_ITEMS_PER_TRANSACTION);
  return Array.from({ length: count }, (_, index) =>
    sorted.slice(index * MAX_ITEMS_PER_TRANSACTION, (index + 1) * MAX_ITEMS_PER_TRANSACTION),
  );
}
