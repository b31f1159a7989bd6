import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  QueryDeepPartialEntity,
  SelectQueryBuilder,
} from 'typeorm';
import { DAY, addMilliseconds } from '../../clock.js';
import { entities, type Transaction } from '../transaction.js';
import { rowsInPages } from './rows-in-pages.js';

/** SQLite rejects expressions nested deeper than 1,000, and TypeORM nests a list of compound keys once per key. */
const KEYS_PER_STATEMENT = 200;

/**
 * Rows of one table to delete, for retention or erasure. An index finds the rows. They are deleted by primary key, so that the database
 * locks no other rows.
 */
export interface DeletableRows {
  readonly table: string;
  count(): Promise<number>;
  /** The primary keys of up to `limit` rows. */
  keys(limit: number): Promise<ObjectLiteral[]>;
  /**
   * Deletes the rows with these keys. Rows that no longer match the condition given to `deletableRows`, `matchingRows` or
   * `rowsToClear` are kept.
   * @returns the number of deleted rows
   */
  delete(tx: Transaction, keys: readonly ObjectLiteral[]): Promise<number>;
}

export interface RowSelection<T> {
  where: FindOptionsWhere<T>;
  /** The column by which the search reads an index: its first column, or the first after those that `where` sets to one value. */
  indexColumn: keyof T & string;
}

/** The rows that match `where`. */
export function deletableRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  { where, indexColumn }: RowSelection<T>,
): DeletableRows {
  return matchingRows(
    dataSource,
    entity,
    (query) => query.where(where).orderBy(`${query.alias}.${indexColumn}`),
    where,
  );
}

/**
 * The rows that a query finds.
 * @param find adds the conditions and the order to the query
 * @param condition is checked again by the statement that deletes the rows
 */
export function matchingRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  find: (query: SelectQueryBuilder<T>) => SelectQueryBuilder<T>,
  condition: FindOptionsWhere<T> = {},
): DeletableRows {
  const { tableName, primaryColumns } = dataSource.getMetadata(entity);
  const query = (): SelectQueryBuilder<T> =>
    find(dataSource.manager.createQueryBuilder(entity, 'deletable'));
  return {
    table: tableName,
    count: () => query().orderBy().getCount(),
    keys: async (limit) => {
      const columns = primaryColumns.map(({ propertyName }) => `deletable.${propertyName}`);
      const rows = await query().select(columns).limit(limit).getMany();
      return rows.map((row) =>
        Object.fromEntries(primaryColumns.map(({ propertyName: key }) => [key, row[key]])),
      );
    },
    delete: (tx, keys) =>
      inChunks(keys, (chunk) =>
        entities(tx)
          .createQueryBuilder()
          .delete()
          .from(entity)
          .whereInIds(chunk)
          .andWhere(condition)
          .execute(),
      ),
  };
}

/** The rows that match `where`. `delete` keeps them and updates the columns in `set`, after which they must no longer match. */
export function rowsToClear<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  { where, indexColumn, set }: RowSelection<T> & { set: QueryDeepPartialEntity<T> },
): DeletableRows {
  return {
    ...deletableRows(dataSource, entity, { where, indexColumn }),
    delete: (tx, keys) =>
      inChunks(keys, (chunk) =>
        entities(tx)
          .createQueryBuilder()
          .update(entity)
          .set(set)
          .whereInIds(chunk)
          .andWhere(where)
          .execute(),
      ),
  };
}

async function inChunks(
  keys: readonly ObjectLiteral[],
  write: (chunk: ObjectLiteral[]) => Promise<{ affected?: number | null }>,
): Promise<number> {
  let written = 0;
  for (let from = 0; from < keys.length; from += KEYS_PER_STATEMENT)
    written += (await write(keys.slice(from, from + KEYS_PER_STATEMENT))).affected ?? 0;
  return written;
}

/** Rows of `child` whose parent matches any of `wheres`. */
export interface Children<P, C> {
  parent: EntityTarget<P>;
  wheres: readonly FindOptionsWhere<P>[];
  child: EntityTarget<C>;
  /** The column with the id of the parent. */
  foreignKey: keyof C & string;
}

/**
 * Rows to delete before their parents. `keys` walks the parents in pages and resumes at the current page. Call `keys` and `delete`
 * alternately until `keys` returns none.
 */
export function childRows<P extends { id: string }, C extends ObjectLiteral>(
  dataSource: DataSource,
  { parent, wheres, child, foreignKey }: Children<P, C>,
): DeletableRows {
  async function* parents(): AsyncGenerator<DeletableRows> {
    for (const where of wheres)
      for await (const page of rowsInPages<P>(dataSource, parent, { where, columns: ['id'] }))
        yield childrenOf(page.map(({ id }) => id));
  }
  const childrenOf = (ids: string[]): DeletableRows =>
    matchingRows(dataSource, child, (query) =>
      query.where(`${query.alias}.${foreignKey} IN (:...ids)`, { ids }),
    );
  const pages = parents();
  // Starts with an empty selection (no parent has an empty id), so that the first `keys` call moves on to the first page.
  let current = childrenOf(['']);
  return {
    ...current,
    count: async () => {
      let count = 0;
      for await (const children of parents()) count += await children.count();
      return count;
    },
    keys: async (limit) => {
      for (;;) {
        const keys = await current.keys(limit);
        if (keys.length > 0) return keys;
        const next = await pages.next();
        if (next.done === true) return [];
        current = next.value;
      }
    },
  };
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

/** The time of the first row in the range; null if there is none. */
export async function firstTimeIn<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  range: TimeRange,
): Promise<Date | null> {
  const query = dataSource.manager.createQueryBuilder(entity, 'log');
  const first = await inTimeRange(query, range)
    .select(['log.at', 'log.id'])
    .orderBy('log.at')
    .limit(1)
    .getOne();
  return first?.at ?? null;
}

/**
 * The rows before a time. `delete` deletes all rows up to the last key, which is much cheaper than a list of keys, and safe because
 * the keys of log rows never change. `count` counts one day per statement, to keep statements short.
 */
export function expiredLogRows<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  before: Date,
): DeletableRows {
  // InnoDB scans deleted rows until they are purged, so each search starts where the last batch ended.
  let from = new Date(0);
  const rows = matchingRows(dataSource, entity, (query) =>
    inTimeRange(query, { from, to: before }).orderBy('deletable.at').addOrderBy('deletable.id'),
  );
  return {
    ...rows,
    count: async () => {
      let count = 0;
      let start = await firstTimeIn(dataSource, entity, { from, to: before });
      while (start) {
        const dayAfter = addMilliseconds(start, DAY);
        const to = dayAfter < before ? dayAfter : before;
        const query = dataSource.manager.createQueryBuilder(entity, 'log');
        count += await inTimeRange(query, { from: start, to }).getCount();
        start = await firstTimeIn(dataSource, entity, { from: to, to: before });
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
