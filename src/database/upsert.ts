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
  const manager = entities(tx);
  const { columns, primaryColumns } = manager.dataSource.getMetadata(entity);
  const written = columns.filter(
    (column) => !column.isPrimary && rows.every((row) => column.propertyName in row),
  );
  await manager
    .createQueryBuilder()
    .insert()
    .into(entity)
    .values(rows)
    .orUpdate(
      written.map(({ databaseName }) => databaseName),
      primaryColumns.map(({ databaseName }) => databaseName),
    )
    .updateEntity(false)
    .execute();
}
