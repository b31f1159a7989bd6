import type { DataSource, EntityTarget } from 'typeorm';
import { readQuery } from './sql.js';
import { entities, type Transaction } from './transaction.js';

export interface Discrepancy {
  id: string;
  stored: number;
  counted: number;
}

/** A column with a number of related rows, updated in the transactions that add and remove these rows. */
export interface CounterCache {
  /** Table and column, such as `users.post_count`. */
  readonly name: string;
  /** Rows whose counter is wrong, by id. Reads in batches, without locks. */
  discrepancies(): AsyncGenerator<Discrepancy>;
  /**
   * Recounts one row under its lock.
   * @returns the corrected discrepancy; undefined if there is none, or no such row
   */
  correct(tx: Transaction, id: string): Promise<Discrepancy | undefined>;
}

interface Owner {
  id: string;
}

const BATCH_SIZE = 200;

/**
 * The counter cache in one column of an entity.
 * @param options.entity the entity with the counter, with the alias `owner`; its primary key is `id`
 * @param options.column the counter property of `entity`
 * @param options.counted the entity whose rows are counted, with the alias `counted`
 * @param options.joinOn SQL that joins `counted` to `owner`, on the first columns of an index
 * @param options.countsIf SQL condition for the rows of `counted` that count; all by default. Not a part of `joinOn`, because a
 * server would choose another index and scan it for each owner.
 */
export function counterCacheOf<T extends Owner>(
  dataSource: DataSource,
  options: {
    entity: EntityTarget<T>;
    column: keyof T & string;
    counted: EntityTarget<object>;
    joinOn: string;
    countsIf?: string;
  },
): CounterCache {
  const { entity, column, counted, joinOn, countsIf } = options;
  const countSql = countsIf === undefined ? 'COUNT(*)' : `COUNT(CASE WHEN ${countsIf} THEN 1 END)`;
  const metadata = dataSource.getMetadata(entity);
  const columnName = metadata.findColumnWithPropertyName(column)?.databaseName ?? column;

  const select = (manager = dataSource.manager) =>
    manager
      .createQueryBuilder(entity, 'owner')
      .select('owner.id', 'id')
      .addSelect(`owner.${column}`, 'stored')
      .addSelect(
        (subquery) => subquery.select(countSql).from(counted, 'counted').where(joinOn),
        'counted',
      );

  return {
    name: `${metadata.tableName}.${columnName}`,
    async *discrepancies() {
      for (let last = ''; ;) {
        const page = select().where('owner.id > :last', { last }).orderBy('owner.id');
        const rows = await readQuery<Row>(page.limit(BATCH_SIZE));
        for (const row of rows) {
          const discrepancy = discrepancyOf(row);
          if (discrepancy) yield discrepancy;
        }
        if (rows.length < BATCH_SIZE) return;
        last = rows.at(-1)?.id ?? '';
      }
    },
    async correct(tx, id) {
      const manager = entities(tx);
      const setCounter = (value: string) =>
        manager
          .createQueryBuilder()
          .update(entity)
          .set({ [column]: () => value } as never)
          .where('id = :id', { id })
          .execute();
      // Locks the row with an update that changes nothing, which works on every engine.
      await setCounter(columnName);
      const [row] = await readQuery<Row>(select(manager).where('owner.id = :id', { id }));
      const discrepancy = row && discrepancyOf(row);
      if (discrepancy) await setCounter(String(discrepancy.counted));
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
