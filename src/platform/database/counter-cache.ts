import type { DataSource, EntityTarget } from 'typeorm';
import { entities, type Transaction } from './transaction.js';

/** A row whose counter is not the number of rows that it counts. */
export interface Discrepancy {
  id: string;
  kept: number;
  counted: number;
}

/** A column that is kept equal to a number of other rows, in the transactions that add and remove them. */
export interface CounterCache {
  /** Table and column, such as `users.post_count`. */
  readonly name: string;
  /** Every row that is wrong, by id. Reads a bounded number of rows at a time, and takes no locks. */
  drifts(): AsyncGenerator<Discrepancy>;
  /**
   * Sets the counter of one row right. Whoever counts up or down meanwhile waits for the row, so nothing is lost.
   * @returns what was wrong, or undefined when it is right by now, or gone
   */
  correct(tx: Transaction, id: string): Promise<Discrepancy | undefined>;
}

interface Owner {
  id: string;
}

/** Few enough that a statement ends in time also where each of them counts many rows. */
const BATCH = 200;

/**
 * @param options.column the counter's property of `entity`, whose primary key is `id`
 * @param options.counted the entity whose rows are counted, as `counted`, by an index of the columns in `where`
 * @param options.where which of them belong to the row `owner`: the first columns of that index
 * @param options.counts which of those count; all, if not given. Not a part of the search: a server whose rows belong to few
 * owners would take any other index that tells it, and read the whole of it for each owner.
 */
export function keptCounter<T extends Owner>(
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
      .addSelect(`owner.${column}`, 'kept')
      .addSelect((rows) => rows.select(number).from(counted, 'counted').where(where), 'counted');

  return {
    name: `${metadata.tableName}.${columnName}`,
    async *drifts() {
      for (let last = ''; ;) {
        const rows = await found()
          .where('owner.id > :last', { last })
          .orderBy('owner.id')
          .limit(BATCH)
          .getRawMany<Row>();
        for (const row of rows) {
          const drift = driftOf(row);
          if (drift) yield drift;
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
      const drift = row && driftOf(row);
      if (drift) await change(String(drift.counted));
      return drift;
    },
  };
}

/** As it is read: some drivers answer counts as text. */
interface Row {
  id: string;
  kept: number | string;
  counted: number | string;
}

function driftOf({ id, kept, counted }: Row): Discrepancy | undefined {
  const drift = { id, kept: Number(kept), counted: Number(counted) };
  return drift.kept === drift.counted ? undefined : drift;
}
