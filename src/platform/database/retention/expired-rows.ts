import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  QueryDeepPartialEntity,
  SelectQueryBuilder,
} from 'typeorm';
import { DAY, later } from '../../clock.js';
import { entities, type Transaction } from '../transaction.js';
import { rowsInPages } from './rows-in-pages.js';

/** SQLite refuses an expression that is nested 1,000 deep, and a list of compound keys is nested once a key. */
const KEYS_PER_STATEMENT = 200;

/**
 * Rows of one table to delete. They are found by an index and deleted by their keys in batches, so that no engine locks more than
 * it deletes.
 */
export interface ExpiredRows {
  readonly table: string;
  count(): Promise<number>;
  /** The keys of at most `limit` of them. */
  keys(limit: number): Promise<ObjectLiteral[]>;
  /** Deletes those of `keys` that still match. @returns the number of rows */
  delete(tx: Transaction, keys: readonly ObjectLiteral[]): Promise<number>;
}

/** The rows for which `where` holds, walked in the order of `column`, which leads an index. */
export function expiredRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  where: FindOptionsWhere<T>,
  column: keyof T & string,
): ExpiredRows {
  return matchingRows(
    dataSource,
    entity,
    (query) => query.where(where).orderBy(`${query.alias}.${column}`),
    where,
  );
}

/** The rows that `find` narrows a query down to; `still` is what must also hold when they are deleted. */
export function matchingRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  find: (query: SelectQueryBuilder<T>) => SelectQueryBuilder<T>,
  still: FindOptionsWhere<T> = {},
): ExpiredRows {
  const { tableName, primaryColumns } = dataSource.getMetadata(entity);
  const query = (): SelectQueryBuilder<T> =>
    find(dataSource.manager.createQueryBuilder(entity, 'expired'));
  return {
    table: tableName,
    count: () => query().orderBy().getCount(),
    keys: async (limit) => {
      const columns = primaryColumns.map(({ propertyName }) => `expired.${propertyName}`);
      const rows = await query().select(columns).limit(limit).getMany();
      return rows.map((row) =>
        Object.fromEntries(primaryColumns.map(({ propertyName: key }) => [key, row[key]])),
      );
    },
    delete: (tx, keys) =>
      byKeys(keys, (some) =>
        entities(tx)
          .createQueryBuilder()
          .delete()
          .from(entity)
          .whereInIds(some)
          .andWhere(still)
          .execute(),
      ),
  };
}

/** The rows for which `where` holds, which stay: `delete` only writes `values`, after which `where` holds no more. */
export function rowsToClear<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  where: FindOptionsWhere<T>,
  column: keyof T & string,
  values: QueryDeepPartialEntity<T>,
): ExpiredRows {
  return {
    ...expiredRows(dataSource, entity, where, column),
    delete: (tx, keys) =>
      byKeys(keys, (some) =>
        entities(tx)
          .createQueryBuilder()
          .update(entity)
          .set(values)
          .whereInIds(some)
          .andWhere(where)
          .execute(),
      ),
  };
}

async function byKeys(
  keys: readonly ObjectLiteral[],
  write: (some: ObjectLiteral[]) => Promise<{ affected?: number | null }>,
): Promise<number> {
  let written = 0;
  for (let from = 0; from < keys.length; from += KEYS_PER_STATEMENT)
    written += (await write(keys.slice(from, from + KEYS_PER_STATEMENT))).affected ?? 0;
  return written;
}

/** Rows by the rows that they belong to: `link` is the column that has the id of a parent for which one of `wheres` holds. */
export interface Children<P, C> {
  parent: EntityTarget<P>;
  wheres: readonly FindOptionsWhere<P>[];
  child: EntityTarget<C>;
  link: keyof C & string;
}

/**
 * Rows to be deleted before those that they belong to. They are found some parents at a time, so that what takes many batches
 * does not begin at the first parent each time: ask for keys, and delete their rows, until there are none.
 */
export function childRows<P extends { id: string }, C extends ObjectLiteral>(
  dataSource: DataSource,
  { parent, wheres, child, link }: Children<P, C>,
): ExpiredRows {
  async function* parents(): AsyncGenerator<ExpiredRows> {
    for (const where of wheres)
      for await (const page of rowsInPages<P>(dataSource, parent, where, ['id']))
        yield childrenOf(page.map(({ id }) => id));
  }
  const childrenOf = (ids: string[]): ExpiredRows =>
    matchingRows(dataSource, child, (query) =>
      query.where(`${query.alias}.${link} IN (:...ids)`, { ids }),
    );
  const walk = parents();
  let some = childrenOf(['']);
  return {
    ...some,
    count: async () => {
      let count = 0;
      for await (const children of parents()) count += await children.count();
      return count;
    },
    keys: async (limit) => {
      for (;;) {
        const keys = await some.keys(limit);
        if (keys.length > 0) return keys;
        const next = await walk.next();
        if (next.done === true) return [];
        some = next.value;
      }
    },
  };
}

/** A row of a table that is only added to. Time and id are its primary key, in this order. */
export interface LogRow {
  at: Date;
  id: string;
}

/** From its first moment until before its last. */
export interface TimeRange {
  from: Date;
  to: Date;
}

/** Narrows a query down to the rows of a span. */
export function inTimeRange<T extends LogRow>(
  query: SelectQueryBuilder<T>,
  { from, to }: TimeRange,
): SelectQueryBuilder<T> {
  const at = `${query.alias}.at`;
  return query.where(`${at} >= :from AND ${at} < :to`, { from, to });
}

/** The time of the first row within `span`; null when there is none. */
export async function firstTimeIn<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  span: TimeRange,
): Promise<Date | null> {
  const query = dataSource.manager.createQueryBuilder(entity, 'log');
  const first = await inTimeRange(query, span)
    .select(['log.at', 'log.id'])
    .orderBy('log.at')
    .limit(1)
    .getOne();
  return first?.at ?? null;
}

/**
 * The rows before a time. They are deleted from the oldest key to the last one that was found, since nothing else changes them:
 * that is far cheaper than naming each. They are counted a day at a time, so that no statement takes long.
 */
export function expiredLogRows<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  before: Date,
): ExpiredRows {
  // A server passes over what it has deleted and not yet swept away, so each search begins where the last batch ended.
  let from = new Date(0);
  const rows = matchingRows(dataSource, entity, (query) =>
    inTimeRange(query, { from, to: before }).orderBy('expired.at').addOrderBy('expired.id'),
  );
  return {
    ...rows,
    count: async () => {
      let count = 0;
      let first = await firstTimeIn(dataSource, entity, { from, to: before });
      while (first) {
        const dayAfter = later(first, DAY);
        const to = dayAfter < before ? dayAfter : before;
        const query = dataSource.manager.createQueryBuilder(entity, 'log');
        count += await inTimeRange(query, { from: first, to }).getCount();
        first = await firstTimeIn(dataSource, entity, { from: to, to: before });
      }
      return count;
    },
    delete: async (tx, keys) => {
      const last = keys.at(-1);
      if (!last) return 0;
      const { affected } = await entities(tx)
        .createQueryBuilder()
        .delete()
        .from(entity)
        .where('at <= :at AND (at < :at OR id <= :id)', last)
        .execute();
      from = last.at as Date;
      return affected ?? 0;
    },
  };
}
