import { AsyncResource } from 'node:async_hooks';
import DataLoader from 'dataloader';
import type { DataSource } from 'typeorm';
import { isPastDeadline, withDeadline } from '../request-context.js';
import { timeoutOf, deadlineExceeded } from './mysql/timeouts.js';
import { padToPowerOfTwo, placeholdersFor, readRows } from './sql.js';

const MAX_ITEMS = 64;

/**
 * Combines the calls of one turn of the event loop: under load they come from many requests. No call waits for later ones.
 * @param work gets 1 to 64 items. Its results have the same order; if it throws, each call throws its error.
 */
export function batched<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
): (item: I) => Promise<O> {
  // The work belongs to no single request, so its log lines name none.
  const outside = new AsyncResource('Batch');
  const loader = new DataLoader<I, O>((items) => withDeadline(() => work(items)), {
    cache: false,
    maxBatchSize: MAX_ITEMS,
    batchScheduleFn: (run) => outside.runInAsyncScope(() => setImmediate(run)),
  });
  return (item) => loader.load(item);
}

type Key = readonly string[];

/**
 * Loads rows by key, batching the lookups of one turn of the event loop into one statement. There is no cache: each row is read
 * after it was requested. Callers with the same key share one object, which they must not change.
 */
export class BatchLoader<R extends object> {
  private readonly load: (key: Key) => Promise<R | undefined>;
  private readonly timeoutMs: number;

  /**
   * @param select a SELECT up to the conditions for the key. Its columns include the key.
   * @param key the columns of the key: their names in the result, each with its name in a condition
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly select: string,
    private readonly key: Readonly<Record<string, string>>,
  ) {
    this.load = batched((keys) => this.read(keys));
    this.timeoutMs = timeoutOf(dataSource.options);
  }

  /** Undefined if there is no such row. @throws QueryFailedError; ETIMEDOUT after the deadline */
  async find(...key: Key): Promise<R | undefined> {
    if (isPastDeadline(this.timeoutMs)) throw deadlineExceeded();
    return this.load(key);
  }

  private async read(keys: readonly Key[]): Promise<(R | undefined)[]> {
    const distinct = new Map(keys.map((key) => [nameOf(key), key]));
    const filled = padToPowerOfTwo([...distinct.values()]);
    const conditions = Object.values(this.key).map(
      (name) => `${name} IN ${placeholdersFor(filled)}`,
    );
    const values = Object.keys(this.key).flatMap((_, part) =>
      filled.map((key) => key[part] as string),
    );
    const statement = `${this.select} ${conditions.join(' AND ')}`;
    const rows = await readRows<R>(this.dataSource, statement, values);
    const found = new Map(rows.map((row) => [nameOf(this.keyOf(row)), row]));
    return keys.map((key) => found.get(nameOf(key)));
  }

  private keyOf(row: R): Key {
    return Object.keys(this.key).map((property) => row[property as keyof R] as string);
  }
}

/** At most the last part of a key may contain a space. */
function nameOf(key: Key): string {
  return key.join(' ');
}
