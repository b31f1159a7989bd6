import { isConflict, isDatabaseUnavailable, isTooSlow } from '../common/database-faults.js';
import { Batch } from './batch.js';
import type { Transaction, TransactionRunner } from './transaction.js';

/** Items of one transaction. */
const MOST_ITEMS = 16;

/** A unit of work that may be done for several requests at once. */
export interface SharedWork<I, O> {
  /** Does each of several items, and answers them in their order. @throws when it cannot do all of them */
  together: (tx: Transaction, items: readonly I[]) => Promise<readonly O[]>;
  /** Does one, in the request that asked for it. */
  alone: (tx: Transaction, item: I) => Promise<O>;
  /** Only items of one group are done together; undefined for one that is always done alone. */
  groupOf: (item: I) => string | undefined;
  /** What an item locks first: no two that are done together may have it in common. */
  keyOf: (item: I) => string;
}

/**
 * Runs units of work of one kind, those that are asked for at the same time as one transaction: one statement of each sort, one
 * lock and one commit for all of them. All of an item commits or nothing of it: when something is refused about one of several,
 * or one of them meets a lock, nothing of any has happened, and each is done alone.
 */
export class SharedUnits<I, O> {
  private readonly batch: Batch<I, { answer: O } | 'alone'>;

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly work: SharedWork<I, O>,
  ) {
    this.batch = new Batch((items) => this.begin(items));
  }

  /** @throws what the work throws for this item; the database's errors */
  async run(item: I): Promise<O> {
    const outcome = await this.batch.add(item);
    if (outcome !== 'alone') return outcome.answer;
    return this.transactions.run((tx) => this.work.alone(tx, item));
  }

  private begin(items: readonly I[]): Promise<{ answer: O } | 'alone'>[] {
    const shared = new Map<I, Promise<{ answer: O } | 'alone'>>();
    for (const some of this.lists(items)) {
      const unit = this.together(some);
      for (const [place, item] of some.entries())
        shared.set(
          item,
          unit.then((answers) => (answers ? { answer: answers[place] as O } : 'alone')),
        );
    }
    return items.map((item) => shared.get(item) ?? Promise.resolve('alone'));
  }

  /** Undefined when they must be done alone. */
  private async together(items: readonly I[]): Promise<readonly O[] | undefined> {
    try {
      return await this.transactions.runOnce((tx) => this.work.together(tx, items));
    } catch (error) {
      if (isDatabaseUnavailable(error) && !isConflict(error) && !isTooSlow(error)) throw error;
      return undefined;
    }
  }

  /** The items of each transaction of several, in the order of their keys. Who meets another with the same key is left out. */
  private lists(items: readonly I[]): I[][] {
    const { groupOf, keyOf } = this.work;
    const groups = new Map<string, Map<string, I>>();
    for (const item of items) {
      const name = groupOf(item);
      if (name === undefined) continue;
      const group = groups.get(name) ?? new Map<string, I>();
      groups.set(name, group);
      if (!group.has(keyOf(item))) group.set(keyOf(item), item);
    }
    return [...groups.values()].flatMap(slices).filter(({ length }) => length > 1);
  }
}

function slices<I>(group: ReadonlyMap<string, I>): I[][] {
  const items = [...group]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, item]) => item);
  const count = Math.ceil(items.length / MOST_ITEMS);
  return Array.from({ length: count }, (_, at) =>
    items.slice(at * MOST_ITEMS, (at + 1) * MOST_ITEMS),
  );
}
