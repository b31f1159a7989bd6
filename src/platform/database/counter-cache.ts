import type { DataSource, EntityTarget } from 'typeorm';
import { entities, type Transaction } from './transaction.js';

export interface Discrepancy {
  id: string;
  stored: number;
  counted: number;
}

/** A column with the number of other rows, updated in the transactions that add and remove them. */
export interface CounterCache {
  /** Table and column, such as `users.post_count`. */
  readonly name: string;
  /** Rows whose counter is wrong, by id. Reads a bounded number of rows at a time, without locks. */
  discrepancies(): AsyncGenerator<Discrepancy>;
  /**
   * Recounts one row under its lock.
   * @returns the discrepancy, or undefined when there is none, or no row
   */
  correct(tx: Transaction, id: string): Promise<Discrepancy | undefined>;
}

interface Owner {
  id: string;
}

const BATCH = 200;

/**
 * @param options.column the counter's property of `entity`, whose primary key is `id`
 * @param options.counted the entity whose rows are counted, as `counted`, by an index of the columns in `where`
 * @param options.where which of them belong to the row `owner`: the first columns of that index
 * @param options.counts which of those count; all, if not given. Not a part of `where`: a server would choose another index for
 * it, and read the whole of it for each owner.
 */
export function counterCacheOf<T extends Owner>(
  dataSource: DataSource,
  options: {
    entity: EntityTarget<T>;
    column: keyof T & string;
    counted: EntityTarget<object>;
    where: string;
    counts?: string;
  },
): CounterCache {
  const { entity, column, counted, where, counts } = options;
  const number = counts === undefined ? 'COUNT(*)' : `COUNT(CASE WHEN ${counts} THEN 1 END)`;
  const metadata = dataSource.getMetadata(entity);
  const columnName = metadata.findColumnWithPropertyName(column)?.databaseName ?? column;

  const found = (manager = dataSource.manager) =>
    manager
      .createQueryBuilder(entity, 'owner')
      .select('owner.id', 'id')
      .addSelect(`owner.${column}`, 'stored')
      .addSelect((rows) => rows.select(number).from(counted, 'counted').where(where), 'counted');

  return {
    name: `${metadata.tableName}.${columnName}`,
    async *discrepancies() {
      for (let last = ''; ;) {
        const rows = await found()
          .where('owner.id > :last', { last })
          .orderBy('owner.id')
          .limit(BATCH)
          .getRawMany<Row>();
        for (const row of rows) {
          const discrepancy = discrepancyOf(row);
          if (discrepancy) yield discrepancy;
        }
        if (rows.length < BATCH) return;
        last = rows.at(-1)?.id ?? '';
      }
    },
    async correct(tx, id) {
      const manager = entities(tx);
      const change = (value: string) =>
        manager
          .createQueryBuilder()
          .update(entity)
          .set({ [column]: () => value } as never)
          .where('id = :id', { id })
          .execute();
      // A write that changes nothing is the lock that every engine has, and it must come first.
      await change(columnName);
      const row = await found(manager).where('owner.id = :id', { id }).getRawOne<Row>();
      const discrepancy = row && discrepancyOf(row);
      if (discrepancy) await change(String(discrepancy.counted));
      return discrepancy;
    },
  };
}

/** Some drivers return counts as text. */
interface Row {
  id: string;
  stored: number | string;
  counted: number | string;
}

function discrepancyOf({ id, stored, counted }: Row): Discrepancy | undefined {
  const discrepancy = { id, stored: Number(stored), counted: Number(counted) };
  return discrepancy.stored === discrepancy.counted ? undefined : discrepancy;
}
