import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import { readQuery } from './sql.js';
import { entities, type Transaction } from './transaction.js';

/** A column with a number of related rows, updated in the transactions that add and remove these rows. */
export interface CounterCache {
  /** The entity with the counter, with the alias `owner`. Its primary key is `id`. */
  entity: EntityTarget<{ id: string }>;
  /** The counter property of `entity`. */
  column: string;
  /** The entity whose rows are counted, with the alias `counted`. */
  counted: EntityTarget<object>;
  /** SQL that joins `counted` to `owner`, on the first columns of an index. */
  joinOn: string;
  /**
   * SQL condition for the rows of `counted` that count; all by default. Not a part of `joinOn`, because a server would choose another
   * index and scan it for each owner.
   */
  countsIf?: string;
}

export interface Discrepancy {
  id: string;
  stored: number;
  counted: number;
}

const BATCH_SIZE = 200;

/** Compares counter caches with the rows that they count. */
@Injectable()
export class CounterCaches {
  constructor(private readonly dataSource: DataSource) {}

  /** Table and column, such as `users.post_count`. */
  nameOf(counter: CounterCache): string {
    return `${this.dataSource.getMetadata(counter.entity).tableName}.${this.columnName(counter)}`;
  }

  /** Rows whose counter is wrong, by id. Reads in batches, without locks. */
  async *discrepancies(counter: CounterCache): AsyncGenerator<Discrepancy> {
    for (let last = ''; ;) {
      const page = this.select(counter).where('owner.id > :last', { last }).orderBy('owner.id');
      const rows = await readQuery<Row>(page.limit(BATCH_SIZE));
      for (const row of rows) {
        const discrepancy = discrepancyOf(row);
        if (discrepancy) yield discrepancy;
      }
      if (rows.length < BATCH_SIZE) return;
      last = rows.at(-1)?.id ?? '';
    }
  }

  /**
   * Recounts one row under its lock.
   * @returns the corrected discrepancy; undefined if there is none, or no such row
   */
  async correct(
    tx: Transaction,
    counter: CounterCache,
    id: string,
  ): Promise<Discrepancy | undefined> {
    const manager = entities(tx);
    const setCounter = (value: string) =>
      manager
        .createQueryBuilder()
        .update(counter.entity)
        .set({ [counter.column]: () => value })
        .where('id = :id', { id })
        .execute();
    // Locks the row with an update that changes nothing, which works on every engine.
    await setCounter(this.columnName(counter));
    const [row] = await readQuery<Row>(
      this.select(counter, manager).where('owner.id = :id', { id }),
    );
    const discrepancy = row && discrepancyOf(row);
    if (discrepancy) await setCounter(String(discrepancy.counted));
    return discrepancy;
  }

  private columnName({ entity, column }: CounterCache): string {
    const found = this.dataSource.getMetadata(entity).findColumnWithPropertyName(column);
    if (!found) throw new Error(`The entity of the counter has no property ${column}.`);
    return found.databaseName;
  }

  private select(
    { entity, column, counted, joinOn, countsIf }: CounterCache,
    manager = this.dataSource.manager,
  ) {
    const count = countsIf === undefined ? 'COUNT(*)' : `COUNT(CASE WHEN ${countsIf} THEN 1 END)`;
    return manager
      .createQueryBuilder(entity, 'owner')
      .select('owner.id', 'id')
      .addSelect(`owner.${column}`, 'stored')
      .addSelect((query) => query.select(count).from(counted, 'counted').where(joinOn), 'counted');
  }
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
