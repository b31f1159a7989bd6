import { AsyncResource } from 'node:async_hooks';
import type { DataSource } from 'typeorm';
import { beginWaiting, isOverdue, limited } from '../deadline.js';
import { longestWaitOn, overdue } from './mysql/timeouts.js';
import { filledUp, placesFor, readRows } from './sql.js';

/** An item, and how whoever asked for it is told. */
export interface Asked<I, O> {
  item: I;
  answer: (answer: O) => void;
  refuse: (error: unknown) => void;
}

/** Items that are done together at most. */
const MOST_ITEMS = 64;

const LEFT_OUT = new Error('The work of a batch left an item without an answer.');

/**
 * Does together what is asked for at the same time: all of one turn of the event loop, which under load is what many requests
 * ask for, and otherwise one. Nobody waits for others who may come.
 */
export class Batch<I, O> {
  private waiting: Asked<I, O>[] = [];
  /** The work is part of no single request, so what it logs names none. */
  private readonly outside = new AsyncResource('Batch');

  /** @param work answers or refuses each of 1 to 64 items; when it fails, those that are left are refused with its error */
  constructor(private readonly work: (asked: readonly Asked<I, O>[]) => Promise<unknown>) {}

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
    for (let from = 0; from < waiting.length; from += MOST_ITEMS) {
      const some = waiting.slice(from, from + MOST_ITEMS);
      void this.outside.runInAsyncScope(() => limited(() => this.run(some)));
    }
  };

  private async run(some: readonly Asked<I, O>[]): Promise<void> {
    let failure: unknown = LEFT_OUT;
    try {
      await this.work(some);
    } catch (error) {
      failure = error;
    }
    // Who was answered does not hear of it.
    for (const { refuse } of some) refuse(failure);
  }
}

type Key = readonly string[];

/**
 * Finds rows by a key of one or more columns, those that are asked for at the same time by one statement. Nothing is kept:
 * each answer is read after it was asked for. Who asks for the same key gets the same object, which nobody may change.
 */
export class RowsByKey<R extends object> {
  private readonly batch: Batch<Key, R | undefined>;
  private readonly longestMs: number;

  /**
   * @param select a SELECT as far as the conditions for its key, which it reads, too
   * @param key the columns of the key by what the SELECT calls them, each with its name in a condition
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly select: string,
    private readonly key: Readonly<Record<string, string>>,
  ) {
    this.batch = new Batch((asked) => this.findAll(asked));
    this.longestMs = longestWaitOn(dataSource.options);
  }

  /** Undefined when there is none. @throws QueryFailedError; ETIMEDOUT for work that had its time */
  async find(...key: Key): Promise<R | undefined> {
    if (isOverdue(this.longestMs)) throw overdue();
    return this.batch.add(key);
  }

  private async findAll(asked: readonly Asked<Key, R | undefined>[]): Promise<void> {
    const wanted = new Map(asked.map(({ item }) => [nameOf(item), item]));
    const found = await this.read([...wanted.values()]);
    for (const { item, answer } of asked) answer(found.get(nameOf(item)));
  }

  private async read(keys: readonly Key[]): Promise<ReadonlyMap<string, R>> {
    const filled = filledUp(keys);
    const conditions = Object.values(this.key).map((name) => `${name} IN ${placesFor(filled)}`);
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

/** Of the parts of a key, at most the last may hold a space. */
function nameOf(key: Key): string {
  return key.join(' ');
}
