import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DataSource,
  type EntityTarget,
  type FindOptionsWhere,
  In,
  type ObjectLiteral,
  type SelectQueryBuilder,
} from 'typeorm';
import { DAY } from '../clock.js';
import { inTimeRange, type LogRow, partsWithRows, type TimeRange } from './rows-in-pages.js';
import { entities, type Transaction, type TransactionRunner } from './transaction.js';

/** Rows per transaction. Small, so that requests wait only briefly for its locks, or for the queue of SQLite. */
const BATCH_SIZE = 1000;
const PAUSE_MS = 50;
/** SQLite rejects expressions nested deeper than 1,000, and TypeORM nests a list of compound keys once per key. */
const KEYS_PER_STATEMENT = 200;

/**
 * Rows of one table to delete, for retention or erasure. An index finds the rows. They are deleted by primary key, so that the
 * database locks no other rows.
 */
export interface DeletableRows {
  readonly table: string;
  count(): Promise<number>;
  /**
   * Finds up to 1,000 rows at a time. Each function deletes the rows found last, and returns the number of deleted rows; call it
   * before the next search.
   */
  batches(): AsyncGenerator<(tx: Transaction) => Promise<number>, void>;
}

export type RowsByTable = Record<string, number>;

/** @param onTable called before rows of a table are counted */
export async function countRows(
  rowSets: readonly DeletableRows[],
  onTable?: (table: string) => void,
): Promise<RowsByTable> {
  const counts: RowsByTable = {};
  for (const rows of rowSets) {
    onTable?.(rows.table);
    counts[rows.table] = (counts[rows.table] ?? 0) + (await rows.count());
  }
  return counts;
}

export interface BatchSettings {
  /** Called before every batch, which is not started if the result is true. */
  shouldStop?: () => boolean;
  /** Called after every batch with the number of rows deleted from the table so far. */
  onBatch?: (table: string, deletedSoFar: number) => void;
}

/**
 * Deletes one set of rows after the other, in batches, each in its own transaction, with a pause after each.
 * @returns the numbers of deleted rows
 */
export async function deleteRows(
  transactions: TransactionRunner,
  rowSets: readonly DeletableRows[],
  { shouldStop = () => false, onBatch }: BatchSettings = {},
): Promise<RowsByTable> {
  const counts: RowsByTable = {};
  for (const rows of rowSets) {
    let deleted = counts[rows.table] ?? 0;
    counts[rows.table] = deleted;
    if (shouldStop()) continue;
    for await (const remove of rows.batches()) {
      deleted += await transactions.run(remove);
      counts[rows.table] = deleted;
      onBatch?.(rows.table, deleted);
      await sleep(PAUSE_MS);
      if (shouldStop()) break;
    }
  }
  return counts;
}

interface Deletion<T> {
  /** Checked again by the statement that deletes the rows: those that no longer match are kept. */
  condition?: FindOptionsWhere<T>;
  /** Sets these columns to null instead, and keeps the rows, which must then no longer match. */
  clear?: readonly (keyof T & string)[];
  /** Deletes the rows with these primary keys, for rows that are counted elsewhere. */
  remove?: (tx: Transaction, keys: ObjectLiteral[]) => Promise<number>;
}

/** The rows that match `where`, whose first column is that by which the search reads an index. */
export function deletableRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  where: FindOptionsWhere<T>,
  deletion: Omit<Deletion<T>, 'condition'> = {},
): DeletableRows {
  const [indexColumn = ''] = Object.keys(where);
  return matchingRows(
    dataSource,
    entity,
    (query) => query.where(where).orderBy(`row.${indexColumn}`),
    { ...deletion, condition: where },
  );
}

/** @param find adds the conditions and the order to a query for the rows, whose alias is `row` */
export function matchingRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  find: (query: SelectQueryBuilder<T>) => SelectQueryBuilder<T>,
  { condition = {}, clear, remove }: Deletion<T> = {},
): DeletableRows {
  const { tableName, primaryColumns } = dataSource.getMetadata(entity);
  const key = primaryColumns.map(({ propertyName }) => propertyName);
  const query = (): SelectQueryBuilder<T> =>
    find(dataSource.manager.createQueryBuilder(entity, 'row'));

  async function removeByKey(tx: Transaction, keys: ObjectLiteral[]): Promise<number> {
    const set = clear && (Object.fromEntries(clear.map((name) => [name, null])) as object);
    let removed = 0;
    for (let from = 0; from < keys.length; from += KEYS_PER_STATEMENT) {
      const builder = entities(tx).createQueryBuilder();
      const write = set ? builder.update(entity).set(set) : builder.delete().from(entity);
      const { affected } = await write
        .whereInIds(keys.slice(from, from + KEYS_PER_STATEMENT))
        .andWhere(condition)
        .execute();
      removed += affected ?? 0;
    }
    return removed;
  }

  return {
    table: tableName,
    count: () => query().orderBy().getCount(),
    async *batches() {
      for (;;) {
        const columns = key.map((name) => `row.${name}`);
        const rows = await query().select(columns).limit(BATCH_SIZE).getMany();
        if (rows.length === 0) return;
        const keys = rows.map((row) => Object.fromEntries(key.map((name) => [name, row[name]])));
        yield (tx) => (remove ?? removeByKey)(tx, keys);
      }
    },
  };
}

interface ChildRows<T> extends Pick<Deletion<T>, 'remove'> {
  where?: FindOptionsWhere<T>;
}

/** The rows of `child` that belong to any of the parents and match `where`. Delete them before their parents. */
export function childRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  parents: () => AsyncIterable<readonly { id: string }[]>,
  child: EntityTarget<T>,
  foreignKey: keyof T & string,
  { where, remove }: ChildRows<T> = {},
): DeletableRows {
  const childrenOf = (page: readonly { id: string }[]): DeletableRows =>
    matchingRows(
      dataSource,
      child,
      (query) => query.where({ ...where, [foreignKey]: In(page.map(({ id }) => id)) }),
      { remove },
    );
  return {
    table: dataSource.getMetadata(child).tableName,
    async count() {
      let count = 0;
      for await (const page of parents()) count += await childrenOf(page).count();
      return count;
    },
    async *batches() {
      for await (const page of parents()) yield* childrenOf(page).batches();
    },
  };
}

/**
 * The rows of a log before a time. Deletes all rows up to the last one found, which is much cheaper than a list of keys, and safe
 * because the keys of log rows never change. Counts one day per statement, to keep statements short.
 */
export function logRowsBefore<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  before: Date,
): DeletableRows {
  const rowsIn = (range: TimeRange): SelectQueryBuilder<T> =>
    inTimeRange(dataSource.manager.createQueryBuilder(entity, 'log'), range);
  const start = new Date(0);
  return {
    table: dataSource.getMetadata(entity).tableName,
    async count() {
      let count = 0;
      for await (const day of partsWithRows(dataSource, entity, { from: start, to: before }, DAY))
        count += await rowsIn(day).getCount();
      return count;
    },
    async *batches() {
      // InnoDB scans deleted rows until they are purged, so each search starts where the last batch ended.
      for (let from = start; ;) {
        const rows = await rowsIn({ from, to: before })
          .select(['log.at', 'log.id'])
          .orderBy('log.at')
          .addOrderBy('log.id')
          .limit(BATCH_SIZE)
          .getMany();
        const last = rows.at(-1);
        if (!last) return;
        const { at, id } = last;
        yield async (tx) => {
          const deletion = entities(tx).createQueryBuilder().delete().from(entity);
          const upToLast = deletion.where('at <= :at AND (at < :at OR id <= :id)', { at, id });
          return (await upToLast.execute()).affected ?? 0;
        };
        from = at;
      }
    },
  };
}
