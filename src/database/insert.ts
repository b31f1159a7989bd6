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

/** Inserts one row with the columns that its table has, of which that of an older version may lack some. */
export async function insertOnAnySchema<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  row: T,
): Promise<void> {
  const { dataSource, queryRunner } = entities(tx);
  const metadata = dataSource.getMetadata(entity);
  const table = await queryRunner?.getTable(metadata.tableName);
  const columns = metadata.columns.filter(({ databaseName }) =>
    table?.findColumnByName(databaseName),
  );
  const part = { dataSource, tableName: metadata.tableName, columns };
  await writeRows(tx, written(part), valuesOf(part, row));
}

/** Written once for each entity of a data source. */
const inserts = new WeakMap<EntityMetadata, string>();

function insertOf(metadata: EntityMetadata): string {
  const known = inserts.get(metadata);
  if (known !== undefined) return known;
  const insert = written(metadata);
  inserts.set(metadata, insert);
  return insert;
}

type Columns = Pick<EntityMetadata, 'columns' | 'dataSource' | 'tableName'>;

function written({ columns, dataSource, tableName }: Columns): string {
  const names = columns.map(({ databaseName }) => dataSource.driver.escape(databaseName));
  const table = dataSource.driver.escape(tableName);
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES ${placeholders({ columns })}`;
}

function placeholders({ columns }: Pick<Columns, 'columns'>): string {
  return `(${columns.map(() => '?').join(', ')})`;
}

function valuesOf(
  { columns, dataSource }: Omit<Columns, 'tableName'>,
  row: ObjectLiteral,
): Value[] {
  return columns.map((column) => {
    const value: unknown = column.getEntityValue(row);
    return dataSource.driver.preparePersistentValue(value, column) ?? null;
  });
}
