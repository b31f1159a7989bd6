import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2';
import {
  type DataSource,
  type EntityMetadata,
  type EntityTarget,
  type FindManyOptions,
  type FindOptionsWhere,
  type ObjectLiteral,
  type ObjectType,
  type QueryDeepPartialEntity,
  QueryFailedError,
  type QueryRunner,
} from 'typeorm';
import { entities, Transaction } from './transaction.js';

/*
 * The statements of the requests that come most often, as SQL: to write one with the query builder each time would take longer
 * than to run it. Only their values vary, and the number of placeholders after IN.
 */

export type Value = string | number | boolean | Date | null;

/**
 * The rows of a SELECT, which a server prepares once for each connection, unless it is part of a transaction. Times are for
 * `storedTime`, lists are JSON text.
 * @throws QueryFailedError with the code of the driver's error
 */
export async function readRows<R>(
  source: DataSource | Transaction,
  select: string,
  values: readonly Value[],
): Promise<R[]> {
  if (source instanceof Transaction) return send<R[] & RowDataPacket[]>(source, select, values);
  if (isSqlite(source)) return source.query<R[]>(select, values.map(toSqliteValue));
  const { pool } = source.driver as unknown as { pool: Pool };
  source.logger.logQuery(select, [...values]);
  return query<R[]>(select, values, (answer) => {
    pool.execute<R[] & RowDataPacket[]>(select, [...values], answer);
  });
}

/**
 * Runs an INSERT or UPDATE.
 * @returns how many rows it inserted, or found to update
 * @throws QueryFailedError with the code of the driver's error
 */
export async function writeRows(
  tx: Transaction,
  statement: string,
  values: readonly Value[],
): Promise<number> {
  const manager = entities(tx);
  if (isSqlite(manager.dataSource)) {
    const { affected } = await runnerOf(tx).query(statement, values.map(toSqliteValue), true);
    return affected ?? 0;
  }
  return (await send<ResultSetHeader>(tx, statement, values)).affectedRows;
}

/** The places of these values behind IN: of at least one. */
export function placeholdersFor(values: readonly unknown[]): string {
  return `(${values.map(() => '?').join(', ')})`;
}

/** Repeats the first value until there are 1, 2, 4, 8 … values, so that few statements are prepared. */
export function padToPowerOfTwo<V>(values: readonly V[]): V[] {
  const count = 2 ** Math.ceil(Math.log2(values.length));
  return values.concat(Array<V>(count - values.length).fill(values[0] as V));
}

/** Names the index to use, after a table's name; SQLite finds it by itself. */
export function useIndex(dataSource: DataSource, index: string): string {
  return isSqlite(dataSource) ? '' : `USE INDEX (${index})`;
}

/** Runs a statement on the connection of the transaction. */
async function send<T extends RowDataPacket[] | ResultSetHeader>(
  tx: Transaction,
  statement: string,
  values: readonly Value[],
): Promise<T> {
  const { dataSource } = entities(tx);
  const runner = runnerOf(tx);
  if (isSqlite(dataSource)) return runner.query(statement, values.map(toSqliteValue)) as Promise<T>;
  const connection = (await runner.connect()) as PoolConnection;
  dataSource.logger.logQuery(statement, [...values]);
  return query<T>(statement, values, (answer) => {
    connection.query<T>(statement, [...values], answer);
  });
}

type Answer<T> = (error: Error | null, result: T) => void;

/** Wraps the driver's error in TypeORM's, which has the statement and a stack trace. */
async function query<T>(
  statement: string,
  values: readonly Value[],
  ask: (answer: Answer<T>) => void,
): Promise<T> {
  try {
    return await new Promise<T>((resolve, reject) => {
      ask((error, result) => {
        if (error) reject(error);
        else resolve(result);
      });
    });
  } catch (error) {
    throw new QueryFailedError(statement, [...values], error as Error);
  }
}

function runnerOf(tx: Transaction): QueryRunner {
  const { queryRunner } = entities(tx);
  if (!queryRunner) throw new Error('A transaction has a connection.');
  return queryRunner;
}

function isSqlite({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

/** Its driver takes neither moments nor truth values. */
function toSqliteValue(value: Value): string | number | null {
  if (value instanceof Date) return value.toISOString().slice(0, -1).replace('T', ' ');
  return typeof value === 'boolean' ? Number(value) : value;
}

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
  await writeRows(tx, insertStatement(part), valuesOf(part, row));
}

/** Written once for each entity of a data source. */
const inserts = new WeakMap<EntityMetadata, string>();

function insertOf(metadata: EntityMetadata): string {
  const known = inserts.get(metadata);
  if (known !== undefined) return known;
  const insert = insertStatement(metadata);
  inserts.set(metadata, insert);
  return insert;
}

type Columns = Pick<EntityMetadata, 'columns' | 'dataSource' | 'tableName'>;

function insertStatement({ columns, dataSource, tableName }: Columns): string {
  const columnNames = columns.map(({ databaseName }) => dataSource.driver.escape(databaseName));
  const table = dataSource.driver.escape(tableName);
  return `INSERT INTO ${table} (${columnNames.join(', ')}) VALUES ${placeholders({ columns })}`;
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

/**
 * Inserts `row`, or writes the columns that it names into the row that has its primary key; at least one is no part of that.
 * Either way the row is locked until the end of the transaction. One statement: an INSERT that is rejected as a
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

/** Inserts the rows whose primary key does not exist yet, by one statement. */
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

/** For an update that only locks: the value that the column has. `column` is SQL, not a property. */
export function unchanged(column: string): () => string {
  return () => column;
}

/** Deletes rows and returns them, for counters. Locks them first, so that only one of two callers gets a row. */
export async function deleteReturning<T extends { createdAt: Date }>(
  tx: Transaction,
  entity: ObjectType<T>,
  where: FindOptionsWhere<T>,
  select: FindManyOptions<T>['select'],
): Promise<T[]> {
  const manager = entities(tx);
  const lock = manager.createQueryBuilder().update(entity).where(where);
  await lock.set({ createdAt: unchanged('created_at') } as object).execute();
  const rows = await manager.find(entity, { select, where });
  await manager.delete(entity, where);
  return rows;
}
