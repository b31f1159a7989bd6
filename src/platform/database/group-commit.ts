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

type NonEmpty<I> = readonly [I, ...I[]];

/** How to write items of one kind. */
export interface WriteOperation<I, O> {
  /** Writes one item or several, and returns their results in the same order. If it throws for several, each is written alone. */
  write: (tx: Transaction, items: NonEmpty<I>) => Promise<readonly O[]>;
  /** Items of one group may share a transaction. Items without a group are written alone. */
  groupOf: (item: I) => string | undefined;
  /** Id of the row that an item locks first. Items of a batch have different keys and are sorted by key, to avoid deadlocks. */
  keyOf: (item: I) => string;
}

export class GroupCommit<I, O> {
  private readonly join: (item: I) => Promise<{ result: Promise<O> } | undefined>;
  /** Keys of the items that are being written: another item with such a key would make its batch wait for the lock. */
  private readonly running = new Set<string>();

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly operation: WriteOperation<I, O>,
  ) {
    this.join = batched((items) => Promise.resolve(this.startBatches(items)));
  }

  /**
   * Commits the item, in a batch or alone. If a batch fails, each item is retried alone, unless the database is unavailable or it is
   * unknown whether the batch was committed.
   * @throws the errors of the write and of the database
   */
  async run(item: I): Promise<O> {
    const alone = async (): Promise<O> => {
      const run = this.transactions.run.bind(this.transactions);
      const [result] = await this.write([item], run);
      return result as O;
    };
    const shared = await this.join(item);
    if (!shared) return alone();
    try {
      return await shared.result;
    } catch (error) {
      if (!isRetryable(error)) throw error;
      // The retry gets a new deadline, so the failed batch does not use up the request's time.
      return withDeadline(alone);
    }
  }

  /** Starts the transactions of the batches. Returns undefined for the items to write alone. */
  private startBatches(items: readonly I[]): ({ result: Promise<O> } | undefined)[] {
    const groups = new Map<string, Map<string, I>>();
    for (const item of items) {
      const name = this.operation.groupOf(item);
      const key = this.operation.keyOf(item);
      if (name === undefined || this.running.has(key)) continue;
      const group = groups.get(name) ?? new Map<string, I>();
      groups.set(name, group);
      if (!group.has(key)) group.set(key, item);
    }
    const runOnce = this.transactions.runOnce.bind(this.transactions);
    const shared = new Map<I, { result: Promise<O> }>();
    for (const batch of [...groups.values()].flatMap(batchesOf)) {
      const [first, ...others] = batch;
      if (first === undefined || others.length === 0) continue;
      const results = this.write([first, ...others], runOnce);
      for (const [index, item] of batch.entries())
        shared.set(item, { result: results.then((all) => all[index] as O) });
    }
    return items.map((item) => shared.get(item));
  }

  private async write(items: NonEmpty<I>, run: TransactionRunner['run']): Promise<readonly O[]> {
    const keys = items.map((item) => this.operation.keyOf(item));
    for (const key of keys) this.running.add(key);
    try {
      return await run((tx) => this.operation.write(tx, items));
    } finally {
      for (const key of keys) this.running.delete(key);
    }
  }
}

/** Whether the items of a batch that failed with this error may be retried alone. */
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
