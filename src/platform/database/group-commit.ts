import { isConflict, isDatabaseUnavailable, isTooSlow } from './errors.js';
import { limited } from '../deadline.js';
import { Batch, type Asked } from './batch-loader.js';
import { mayBeCommitted, type Transaction, type TransactionRunner } from './transaction.js';

/** Items of one transaction. */
const MOST_ITEMS = 16;

/**
 * What came of an item: what it was answered with together with others, or that it must be done alone, at once or after the unit
 * that it shared failed.
 */
type Shared<O> = { answer: O } | 'alone' | 'alone after all';

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
 * lock and one commit for all of them. All of an item commits or nothing of it: when the unit of several fails, be it that
 * something is refused about one of them or that one meets a lock, nothing of any has happened, and each is done alone. None is
 * done again when the database is away, or when the unit may be committed all the same.
 */
export class SharedUnits<I, O> {
  private readonly batch: Batch<I, Shared<O>>;

  constructor(
    private readonly transactions: TransactionRunner,
    private readonly work: SharedWork<I, O>,
  ) {
    this.batch = new Batch((asked) => this.share(asked));
  }

  /** @throws what the work throws for this item; the database's errors */
  async run(item: I): Promise<O> {
    const outcome = await this.batch.add(item);
    if (typeof outcome === 'object') return outcome.answer;
    const alone = (): Promise<O> => this.transactions.run((tx) => this.work.alone(tx, item));
    // What others waited for costs this one no time of its own.
    return outcome === 'alone' ? alone() : limited(alone);
  }

  private async share(asked: readonly Asked<I, Shared<O>>[]): Promise<void> {
    const lists = this.lists(asked);
    const shared = new Set(lists.flat());
    for (const one of asked) if (!shared.has(one)) one.answer('alone');
    await Promise.all(lists.map((some) => this.together(some)));
  }

  private async together(some: readonly Asked<I, Shared<O>>[]): Promise<void> {
    const items = some.map(({ item }) => item);
    try {
      const answers = await this.transactions.runOnce((tx) => this.work.together(tx, items));
      for (const [place, { answer }] of some.entries()) answer({ answer: answers[place] as O });
    } catch (error) {
      for (const { answer, refuse } of some) {
        if (mayBeRepeated(error)) answer('alone after all');
        else refuse(error);
      }
    }
  }

  /** What each transaction of several does, in the order of their keys. Who meets another with the same key is left out. */
  private lists(asked: readonly Asked<I, Shared<O>>[]): Asked<I, Shared<O>>[][] {
    const { groupOf, keyOf } = this.work;
    const groups = new Map<string, Map<string, Asked<I, Shared<O>>>>();
    for (const one of asked) {
      const name = groupOf(one.item);
      if (name === undefined) continue;
      const group = groups.get(name) ?? new Map<string, Asked<I, Shared<O>>>();
      groups.set(name, group);
      const key = keyOf(one.item);
      if (!group.has(key)) group.set(key, one);
    }
    return [...groups.values()].flatMap(slices).filter(({ length }) => length > 1);
  }
}

/** @param error what a unit of several failed with */
export function mayBeRepeated(error: unknown): boolean {
  if (mayBeCommitted(error)) return false;
  return isConflict(error) || isTooSlow(error) || !isDatabaseUnavailable(error);
}

function slices<T>(group: ReadonlyMap<string, T>): T[][] {
  const sorted = [...group]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, member]) => member);
  const count = Math.ceil(sorted.length / MOST_ITEMS);
  return Array.from({ length: count }, (_, at) =>
    sorted.slice(at * MOST_ITEMS, (at + 1) * MOST_ITEMS),
  );
}
