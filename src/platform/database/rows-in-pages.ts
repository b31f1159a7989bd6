import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';
import { addMilliseconds, DAY, floorTo } from '../clock.js';
import { firstIdAt, type IdPrefix, timeOf } from '../ids.js';
import type { ListPaging } from './list-page.js';

const PAGE_SIZE = 500;

interface PageOptions<T> {
  /** The columns to read; all by default. Must include those of `orderBy`. */
  columns?: readonly (keyof T & string)[];
  /** One or two columns that are unique together; the primary key by default. */
  orderBy?: readonly (keyof T & string)[];
}

/**
 * Yields the rows that match each of `wheres`, one after the other, in pages of 500.
 * Fast if an index has the columns of `where` that have one value, followed by those of `orderBy`.
 */
export async function* rowsInPages<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  wheres: Iterable<FindOptionsWhere<T>> | AsyncIterable<FindOptionsWhere<T>>,
  { columns, orderBy }: PageOptions<T> = {},
): AsyncGenerator<T[]> {
  const { primaryColumns } = dataSource.getMetadata(entity);
  const order = orderBy ?? primaryColumns.map(({ propertyName }) => propertyName);
  for await (const where of wheres) {
    let last: T | undefined;
    do {
      const query = dataSource.manager
        .createQueryBuilder(entity, 'page')
        .where(where)
        .take(PAGE_SIZE);
      if (columns) query.select(columns.map((name) => `page.${name}`));
      for (const name of order) query.addOrderBy(`page.${name}`);
      if (last) startAfter(query, order, last);
      const page = await query.getMany();
      if (page.length > 0) yield page;
      last = page[PAGE_SIZE - 1];
    } while (last);
  }
}

function startAfter<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  [first, second]: readonly string[],
  last: T,
): void {
  if (first === undefined) return;
  if (second === undefined) query.andWhere(`page.${first} > :first`, { first: last[first] });
  else
    query
      .andWhere(`page.${first} >= :first`, { first: last[first] })
      .andWhere(`(page.${first} > :first OR page.${second} > :second)`, { second: last[second] });
}

/** A row of an append-only table with the primary key (`at`, `id`). */
export interface LogRow {
  at: Date;
  id: string;
}

export interface TimeRange {
  /** Inclusive. */
  from: Date;
  /** Exclusive. */
  to: Date;
}

export function inTimeRange<T extends LogRow>(
  query: SelectQueryBuilder<T>,
  { from, to }: TimeRange,
): SelectQueryBuilder<T> {
  const at = `${query.alias}.at`;
  return query.where(`${at} >= :from AND ${at} < :to`, { from, to });
}

/**
 * The first rows of a time range, newest first. Each statement reads a day, so that none exceeds the query timeout, even if few rows
 * match.
 * @param find the query for a part of the range, newest first
 */
export async function newestRows<T extends ObjectLiteral>(
  { from, to }: TimeRange,
  limit: number,
  find: (part: TimeRange) => SelectQueryBuilder<T>,
): Promise<T[]> {
  const rows: T[] = [];
  for (let end = to; end > from && rows.length < limit;) {
    const dayBefore = addMilliseconds(end, -DAY);
    const start = dayBefore > from ? dayBefore : from;
    const part = find({ from: start, to: end }).limit(limit - rows.length);
    rows.push(...(await part.getMany()));
    end = start;
  }
  return rows;
}

/** Rows with the columns of posts and comments. Their ids sort by time. */
interface Item {
  id: string;
  userId: string;
  clientId: string | null;
}

/** Items must match all given members. The range is of the time in their ids. */
export interface ItemSearch {
  range: TimeRange;
  userId?: string;
  clientId?: string;
}

/**
 * Items, deleted or not, newest first, and one more if there are more.
 * @param index the index that begins with the user
 */
export function newestItems<T extends Item>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  { prefix, index }: { prefix: IdPrefix; index: string },
  { range: { from, to }, userId, clientId }: ItemSearch,
  { limit, before }: ListPaging,
): Promise<T[]> {
  const find = (part: TimeRange): SelectQueryBuilder<T> => {
    const query = dataSource.manager.createQueryBuilder(entity, 'item');
    // By user, an index finds all rows. It has no app, so the rows of an app are found by time.
    query.useIndex(userId === undefined ? 'PRIMARY' : index);
    query.where('item.id >= :first AND item.id < :end', {
      first: firstIdAt(prefix, part.from),
      end: firstIdAt(prefix, part.to),
    });
    if (before !== undefined) query.andWhere('item.id < :before', { before });
    if (userId !== undefined) query.andWhere('item.userId = :userId', { userId });
    if (clientId !== undefined) query.andWhere('item.clientId = :clientId', { clientId });
    return query.orderBy('item.id', 'DESC');
  };
  const last = before === undefined ? to : addMilliseconds(timeOf(before), 1);
  const range = { from, to: last < to ? last : to };
  if (userId === undefined) return newestRows(range, limit + 1, find);
  return find(range)
    .limit(limit + 1)
    .getMany();
}

/** The log rows of a request, oldest first. The request id has no index, so only the given time range is searched. */
export function rowsOfRequest<T extends LogRow & { requestId: string | null }>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  requestId: string,
  range: TimeRange,
): Promise<T[]> {
  return inTimeRange(dataSource.manager.createQueryBuilder(entity, 'log'), range)
    .andWhere('log.requestId = :requestId', { requestId })
    .orderBy('log.at')
    .addOrderBy('log.id')
    .getMany();
}

/**
 * The parts of the time range that contain rows, oldest first. A statement for one part stays below the query timeout, however long
 * the log is. Yields to the event loop between parts, because the SQLite driver blocks the process.
 * @param unitMs the length of a part, such as `HOUR`. Parts begin at multiples of it in UTC.
 */
export async function* partsWithRows<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  { from, to }: TimeRange,
  unitMs: number,
): AsyncGenerator<TimeRange> {
  for (let start = from; ;) {
    const query = dataSource.manager.createQueryBuilder(entity, 'log');
    const first = await inTimeRange(query, { from: start, to })
      .select(['log.at', 'log.id'])
      .orderBy('log.at')
      .limit(1)
      .getOne();
    if (!first) return;
    const part = floorTo(first.at, unitMs);
    const next = addMilliseconds(part, unitMs);
    yield { from: part < from ? from : part, to: next > to ? to : next };
    await nextTurn();
    start = next;
  }
}
