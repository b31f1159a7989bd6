import { AsyncResource } from 'node:async_hooks';
import type { DataSource } from 'typeorm';
import { beginWaiting, isPastDeadline, withDeadline } from '../deadline.js';
import { timeoutOf, deadlineExceeded } from './mysql/timeouts.js';
import { padToPowerOfTwo, placeholdersFor, readRows } from './sql.js';

/** An item, and the functions that settle its promise. */
export interface PendingRequest<I, O> {
  item: I;
  answer: (answer: O) => void;
  refuse: (error: unknown) => void;
}

/** Items of one batch. */
const MAX_ITEMS = 64;

const LEFT_OUT = new Error('A batch did not settle an item.');

/**
 * Combines the items that are added in one turn of the event loop. Under load they come from many requests; otherwise there is
 * one. No item waits for later ones.
 */
export class Batch<I, O> {
  private waiting: PendingRequest<I, O>[] = [];
  /** The work belongs to no single request, so its log lines name none. */
  private readonly outside = new AsyncResource('Batch');

  /** @param work settles each of 1 to 64 items. If it throws, the items that are not settled are rejected with its error. */
  constructor(
    private readonly work: (asked: readonly PendingRequest<I, O>[]) => Promise<unknown>,
  ) {}

  add(item: I): Promise<O> {
    const end = beginWaiting();
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(this.begin);
      const answer = (answered: O): void => {
        end();
        resolve(answered);
      };
      const refuse = (error: unknown): void => {
        end();
        reject(error);
      };
      this.waiting.push({ item, answer, refuse });
    });
  }

  private readonly begin = (): void => {
    const { waiting } = this;
    this.waiting = [];
    for (let from = 0; from < waiting.length; from += MAX_ITEMS) {
      const some = waiting.slice(from, from + MAX_ITEMS);
      void this.outside.runInAsyncScope(() => withDeadline(() => this.run(some)));
    }
  };

  private async run(some: readonly PendingRequest<I, O>[]): Promise<void> {
    let failure: unknown = LEFT_OUT;
    try {
      await this.work(some);
    } catch (error) {
      failure = error;
    }
    // No effect on settled promises.
    for (const { refuse } of some) refuse(failure);
  }
}

type Key = readonly string[];

/**
 * Loads rows by key, batching the lookups of one turn of the event loop into one statement. There is no cache: each row is read
 * after it was requested. Callers with the same key share one object, which they must not change.
 */
export class BatchLoader<R extends object> {
  private readonly batch: Batch<Key, R | undefined>;
  private readonly longestMs: number;

  /**
   * @param select a SELECT up to the conditions for the key. Its columns include the key.
   * @param key the columns of the key: their names in the result, each with its name in a condition
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly select: string,
    private readonly key: Readonly<Record<string, string>>,
  ) {
    this.batch = new Batch((asked) => this.findAll(asked));
    this.longestMs = timeoutOf(dataSource.options);
  }

  /** Undefined if there is no such row. @throws QueryFailedError; ETIMEDOUT after the deadline */
  async find(...key: Key): Promise<R | undefined> {
    if (isPastDeadline(this.longestMs)) throw deadlineExceeded();
    return this.batch.add(key);
  }

  private async findAll(asked: readonly PendingRequest<Key, R | undefined>[]): Promise<void> {
    const wanted = new Map(asked.map(({ item }) => [nameOf(item), item]));
    const found = await this.read([...wanted.values()]);
    for (const { item, answer } of asked) answer(found.get(nameOf(item)));
  }

  private async read(keys: readonly Key[]): Promise<ReadonlyMap<string, R>> {
    const filled = padToPowerOfTwo(keys);
    const conditions = Object.values(this.key).map(
      (name) => `${name} IN ${placeholdersFor(filled)}`,
    );
    const values = Object.keys(this.key).flatMap((_, part) =>
      filled.map((key) => key[part] as string),
    );
    const statement = `${this.select} ${conditions.join(' AND ')}`;
    const rows = await readRows<R>(this.dataSource, statement, values);
    return new Map(rows.map((row) => [nameOf(this.keyOf(row)), row]));
  }

  private keyOf(row: R): Key {
    return Object.keys(this.key).map((property) => row[property as keyof R] as string);
  }
}

/** At most the last part of a key may contain a space. */
function nameOf(key: Key): string {
  return key.join(' ');
}
