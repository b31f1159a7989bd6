import type { EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import { writeRows, type Value } from './statements.js';
import { entities, type Transaction } from './transaction.js';

/** Inserts one row with every column. A column that it does not name is null. */
export async function insertRow<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  row: T,
): Promise<void> {
  await insertAll(tx, entity, [row]);
}

/**
 * Inserts rows, if any, each with every column, by one statement. For thousands of them: the query builder would take ten times the
 * time and the memory for as many parameters.
 */
export async function insertAll<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: readonly T[],
): Promise<void> {
  if (rows.length === 0) return;
  const metadata = entities(tx).dataSource.getMetadata(entity);
  const more = `, ${placeholders(metadata)}`.repeat(rows.length - 1);
  const values = rows.flatMap((row) => valuesOf(metadata, row));
  await writeRows(tx, insertOf(metadata) + more, values);
}

/** Written once for each entity of a data source. */
const inserts = new WeakMap<EntityMetadata, string>();

function insertOf(metadata: EntityMetadata): string {
  const known = inserts.get(metadata);
  if (known !== undefined) return known;
  const { columns, dataSource, tableName } = metadata;
  const names = columns.map(({ databaseName }) => dataSource.driver.escape(databaseName));
  const table = dataSource.driver.escape(tableName);
  const insert = `INSERT INTO ${table} (${names.join(', ')}) VALUES ${placeholders(metadata)}`;
  inserts.set(metadata, insert);
  return insert;
}

function placeholders({ columns }: EntityMetadata): string {
  return `(${columns.map(() => '?').join(', ')})`;
}

function valuesOf({ columns, dataSource }: EntityMetadata, row: ObjectLiteral): Value[] {
  return columns.map((column) => {
    const value: unknown = column.getEntityValue(row);
    return dataSource.driver.preparePersistentValue(value, column) ?? null;
  });
}
