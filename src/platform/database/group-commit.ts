import { withDeadline } from '../deadline.js';
import { Batch, type PendingRequest } from './batch-loader.js';
import { isConflict, isDatabaseUnavailable, isTooSlow, UnknownCommitOutcome } from './errors.js';
import type { Transaction, TransactionRunner } from './transaction.js';

/*
 * Group commit: several writes of one kind in one transaction.
 *
 * A commit waits for the disk, and rows that many requests want are locked until it is done. Under load, writes of one kind that
 * are requested in the same turn of the event loop share statements, locks and the commit. Measured by switching it off: see
 * docs/decisions/0018. Delete it when the database does as well by itself.
 */

const MAX_ITEMS = 16;

/** How a kind of write is done. */
export interface WriteOfKind<I, O> {
  /** Does several items and returns their results in the same order. @throws if it cannot do all of them */
  batch: (tx: Transaction, items: readonly I[]) => Promise<readonly O[]>;
  /** Does one item. */
  single: (tx: Transaction, item: I) => Promise<O>;
  /** Items of one group may share a transaction; an item without a group never does. */
  groupOf: (item: I) => string | undefined;
  /** The row that an item locks first. Items of one transaction have different keys, and are done in the order of their keys. */
  keyOf: (item: I) => string;
}

/** The result of an item, or that it must be done alone: at once, or after its shared transaction failed. */
type Shared<O> = { result: O } | 'single' | 'retry';

export class GroupCommit<I, O> {
  private readonly batches: Batch<I, Shared<O>>;

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly write: WriteOfKind<I, O>,
  ) {
    this.batches = new Batch((pending) => this.share(pending));
  }

  /**
   * Commits the item, alone or with others. When a shared transaction fails, nothing of it has happened and each item is done
   * alone. None is repeated when the database is unavailable, or when the shared transaction may be committed.
   * @throws what the write throws for this item; errors of the database
   */
  async run(item: I): Promise<O> {
    const shared = await this.batches.add(item);
    if (typeof shared === 'object') return shared.result;
    const single = (): Promise<O> => this.transactions.run((tx) => this.write.single(tx, item));
    // A request does not pay for the time of a shared transaction that failed.
    return shared === 'single' ? single() : withDeadline(single);
  }

  private async share(pending: readonly PendingRequest<I, Shared<O>>[]): Promise<void> {
    const batches = this.batchesOf(pending);
    const shared = new Set(batches.flat());
    for (const one of pending) if (!shared.has(one)) one.answer('single');
    await Promise.all(batches.map((batch) => this.commit(batch)));
  }

  private async commit(batch: readonly PendingRequest<I, Shared<O>>[]): Promise<void> {
    const items = batch.map(({ item }) => item);
    try {
      const results = await this.transactions.runOnce((tx) => this.write.batch(tx, items));
      for (const [index, { answer }] of batch.entries()) answer({ result: results[index] as O });
    } catch (error) {
      for (const { answer, refuse } of batch) {
        if (mayRepeat(error)) answer('retry');
        else refuse(error);
      }
    }
  }

  /** The transactions of several items. Of items with the same key, only the first takes part. */
  private batchesOf(
    pending: readonly PendingRequest<I, Shared<O>>[],
  ): PendingRequest<I, Shared<O>>[][] {
    const { groupOf, keyOf } = this.write;
    const groups = new Map<string, Map<string, PendingRequest<I, Shared<O>>>>();
    for (const one of pending) {
      const name = groupOf(one.item);
      if (name === undefined) continue;
      const group = groups.get(name) ?? new Map<string, PendingRequest<I, Shared<O>>>();
      groups.set(name, group);
      const key = keyOf(one.item);
      if (!group.has(key)) group.set(key, one);
    }
    return [...groups.values()].flatMap(inKeyOrder).filter(({ length }) => length > 1);
  }
}

/** Whether the items of a shared transaction that failed with this error may be done alone. */
export function mayRepeat(error: unknown): boolean {
  if (error instanceof UnknownCommitOutcome) return false;
  return isConflict(error) || isTooSlow(error) || !isDatabaseUnavailable(error);
}

function inKeyOrder<T>(group: ReadonlyMap<string, T>): T[][] {
  const sorted = [...group]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, member]) => member);
  const count = Math.ceil(sorted.length / MAX_ITEMS);
  return Array.from({ length: count }, (_, at) =>
    sorted.slice(at * MAX_ITEMS, (at + 1) * MAX_ITEMS),
  );
}
