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
 * Group commit: several writes of one kind in one transaction.
 *
 * A commit waits for the disk, and rows that many requests want are locked until it is done. Under load, writes of one kind that
 * are requested in the same turn of the event loop share statements, locks and the commit. Measured by switching it off: see
 * docs/decisions/0018. Delete it when the database does as well by itself.
 */

const MAX_ITEMS = 16;

/** How a kind of write is done. */
export interface WriteOperation<I, O> {
  /** Does several items and returns their results in the same order. @throws if it cannot do all of them */
  batch: (tx: Transaction, items: readonly I[]) => Promise<readonly O[]>;
  /** Does one item. */
  single: (tx: Transaction, item: I) => Promise<O>;
  /** Items of one group may share a transaction; an item without a group never does. */
  groupOf: (item: I) => string | undefined;
  /** The row that an item locks first. Items of one transaction have different keys, and are done in the order of their keys. */
  keyOf: (item: I) => string;
}

/** The shared transaction of an item with the item's place in it; undefined if it has none of its own. */
type Shared<O> = { results: Promise<readonly O[]>; place: number } | undefined;

export class GroupCommit<I, O> {
  private readonly share: (item: I) => Promise<Shared<O>>;

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly write: WriteOperation<I, O>,
  ) {
    this.share = batched((items) => Promise.resolve(this.begin(items)));
  }

  /**
   * Commits the item, alone or with others. When a shared transaction fails, nothing of it has happened and each item is done
   * alone. None is repeated when the database is unavailable, or when the shared transaction may be committed.
   * @throws what the write throws for this item; errors of the database
   */
  async run(item: I): Promise<O> {
    const single = (): Promise<O> => this.transactions.run((tx) => this.write.single(tx, item));
    const shared = await this.share(item);
    if (!shared) return single();
    try {
      return (await shared.results)[shared.place] as O;
    } catch (error) {
      if (!isRetryable(error)) throw error;
      // A request does not pay for the time of a shared transaction that failed.
      return withDeadline(single);
    }
  }

  /** Begins the transactions of several items. Of items with the same key, only the first takes part. */
  private begin(items: readonly I[]): Shared<O>[] {
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
    const shared = new Map<I, Shared<O>>();
    for (const batch of [...groups.values()].flatMap(inKeyOrder)) {
      if (batch.length === 1) continue;
      const results = this.transactions.runOnce((tx) => this.write.batch(tx, batch));
      for (const [place, item] of batch.entries()) shared.set(item, { results, place });
    }
    return items.map((item) => shared.get(item));
  }
}

/** Whether the items of a shared transaction that failed with this error may be done alone. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof UnknownCommitOutcome) return false;
  return isConflict(error) || isStatementTimeout(error) || !isDatabaseUnavailable(error);
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
