import type { DataSource } from 'typeorm';
import { isOverdue } from '../common/time-limit.js';
import { Batch, type Asked } from './batch.js';
import { longestWaitOn, overdue } from './overdue.js';
import { filledUp, placesFor, readRows } from './statements.js';

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
