import { AsyncResource } from 'node:async_hooks';
import DataLoader from 'dataloader';
import type { DataSource } from 'typeorm';
import { isPastDeadline, withDeadline } from '../request-context.js';
import { databaseTimeoutOf, deadlineExceededError } from './mysql/timeouts.js';
import { padToPowerOfTwo, placeholdersFor, type RawRow, readRows } from './sql.js';

const MAX_BATCH_SIZE = 64;

/**
 * Batches the calls of one turn of the event loop.
 * @param work receives 1 to 64 items and returns their results in the same order. If it throws, each call throws its error.
 */
export function batched<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
): (item: I) => Promise<O> {
  // Captures the context of startup: a batch belongs to no single request, so its log lines have no request id.
  const outsideOfRequests = new AsyncResource('Batch');
  const loader = new DataLoader<I, O>((items) => withDeadline(() => work(items)), {
    cache: false,
    maxBatchSize: MAX_BATCH_SIZE,
    batchScheduleFn: (run) => outsideOfRequests.runInAsyncScope(() => setImmediate(run)),
  });
  return (item) => loader.load(item);
}

type Key = readonly string[];

/**
 * Loads rows by key, batching the lookups of one turn of the event loop into one statement. Does not cache: each row is read after
 * the call. Callers with the same key share one object, so they must not change it.
 */
export class BatchLoader<R extends RawRow<R>> {
  private readonly load: (key: Key) => Promise<R | undefined>;
  private readonly timeoutMs: number;

  /**
   * @param select a SELECT up to the conditions on the key. It must select the key columns.
   * @param key maps the name of each key column in the result to its SQL name in a condition
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly select: string,
    private readonly key: Readonly<Record<string, string>>,
  ) {
    this.load = batched((keys) => this.read(keys));
    this.timeoutMs = databaseTimeoutOf(dataSource.options);
  }

  /** Undefined if the row does not exist. @throws QueryFailedError; ETIMEDOUT after the deadline */
  async find(...key: Key): Promise<R | undefined> {
    if (isPastDeadline(this.timeoutMs)) throw deadlineExceededError();
    return this.load(key);
  }

  private async read(keys: readonly Key[]): Promise<(R | undefined)[]> {
    const distinct = new Map(keys.map((key) => [mapKeyOf(key), key]));
    const padded = padToPowerOfTwo([...distinct.values()]);
    const conditions = Object.values(this.key).map(
      (name) => `${name} IN ${placeholdersFor(padded)}`,
    );
    const values = Object.keys(this.key).flatMap((_, part) =>
      padded.map((key) => key[part] as string),
    );
    const statement = `${this.select} ${conditions.join(' AND ')}`;
    const rows = await readRows<R>(this.dataSource, statement, values);
    const found = new Map(rows.map((row) => [mapKeyOf(this.keyOf(row)), row]));
    return keys.map((key) => found.get(mapKeyOf(key)));
  }

  private keyOf(row: R): Key {
    return Object.keys(this.key).map((property) => row[property as keyof R] as string);
  }
}

/** Unique as long as only the last part can contain spaces. */
function mapKeyOf(key: Key): string {
  return key.join(' ');
}
