import type { EntityTarget, ObjectLiteral, QueryDeepPartialEntity } from 'typeorm';
import { entities, type Transaction } from './transaction.js';

/**
 * Inserts `row`, or writes the columns that it names into the row that has its primary key; at least one is no part of that.
 * Either way nobody else changes the row until this transaction ends. It is one statement: an INSERT that is refused as a
 * duplicate leaves a shared lock behind on MySQL and MariaDB, and two transactions with such a lock cannot both write.
 */
export async function upsert<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  row: QueryDeepPartialEntity<T>,
): Promise<void> {
  await upsertAll(tx, entity, [row]);
}

/** The same for at least one row, by one statement. All of them name the same columns. */
export async function upsertAll<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: QueryDeepPartialEntity<T>[],
): Promise<void> {
  const { columns } = entities(tx).dataSource.getMetadata(entity);
  const written = columns.filter(
    (column) => !column.isPrimary && rows.every((row) => column.propertyName in row),
  );
  await insertOrUpdate(tx, entity, rows, names(written));
}

/** Inserts those rows, at least one, whose primary key nobody has, and leaves the others as they are, by one statement. */
export async function insertMissing<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: QueryDeepPartialEntity<T>[],
): Promise<void> {
  const { primaryColumns } = entities(tx).dataSource.getMetadata(entity);
  await insertOrUpdate(tx, entity, rows, names(primaryColumns));
}

async function insertOrUpdate<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: QueryDeepPartialEntity<T>[],
  written: string[],
): Promise<void> {
  const manager = entities(tx);
  const { primaryColumns } = manager.dataSource.getMetadata(entity);
  await manager
    .createQueryBuilder()
    .insert()
    .into(entity)
    .values(rows)
    .orUpdate(written, names(primaryColumns))
    .updateEntity(false)
    .execute();
}

function names(columns: readonly { databaseName: string }[]): string[] {
  return columns.map(({ databaseName }) => databaseName);
}
