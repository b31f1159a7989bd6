import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  QueryDeepPartialEntity,
  SelectQueryBuilder,
} from 'typeorm';
import { entities, type Transaction } from './transaction.js';

/** SQLite refuses an expression that is nested 1,000 deep, and a list of compound keys is nested once a key. */
const KEYS_PER_STATEMENT = 200;

/**
 * Rows of one table that are of no use any more. They are found by an index and deleted by their keys in batches: no engine
 * then locks more than it deletes, and all three understand it.
 */
export interface ExpiredRows {
  readonly table: string;
  count(): Promise<number>;
  /** The keys of at most `limit` of them. */
  keys(limit: number): Promise<ObjectLiteral[]>;
  /** Deletes those of `keys` that are still of no use; how many those were. */
  delete(tx: Transaction, keys: readonly ObjectLiteral[]): Promise<number>;
}

/** The rows for which `where` holds, walked in the order of `column`, which leads an index. */
export function expiredRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  where: FindOptionsWhere<T>,
  column: keyof T & string,
): ExpiredRows {
  return foundRows(
    dataSource,
    entity,
    (query) => query.where(where).orderBy(`${query.alias}.${column}`),
    where,
  );
}

/** The rows that `find` narrows a query down to; `still` is what must also hold when they are deleted. */
export function foundRows<T extends ObjectLiteral>(
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
export function clearedRows<T extends ObjectLiteral>(
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
