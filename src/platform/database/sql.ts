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
import type { RawTime } from './columns.js';
import { entities, Transaction } from './transaction.js';

/*
 * Raw SQL for the most frequent requests: the query builder would take longer to build a statement than the database to run it. Only
 * the values and the number of placeholders after IN vary.
 */

export type Value = string | number | boolean | Date | null;

/** Constraint for the type of a row, `R extends RawRow<R>`: the types that all drivers return. Booleans are numbers, lists JSON text. */
export type RawRow<R> = Record<keyof R, string | number | RawTime | null>;

/**
 * Runs a SELECT. Outside of a transaction, MySQL and MariaDB prepare it once per connection.
 * @throws QueryFailedError with the code of the driver's error
 */
export async function readRows<R extends RawRow<R>>(
  source: DataSource | Transaction,
  select: string,
  values: readonly Value[],
): Promise<R[]> {
  if (source instanceof Transaction) return send<R[] & RowDataPacket[]>(source, select, values);
  if (isSqlite(source)) return source.query<R[]>(select, values.map(toSqliteValue));
  const { pool } = source.driver as unknown as { pool: Pool };
  source.logger.logQuery(select, [...values]);
  return query<R[]>(select, values, (callback) => {
    pool.execute<R[] & RowDataPacket[]>(select, [...values], callback);
  });
}

/** A row of `selectFrom`. */
export type RawEntity<T> = { [K in keyof T]: string | number | RawTime | null };

/** `SELECT … FROM … WHERE` with all columns of an entity. A condition follows. Convert the rows with `entityOf`. */
export function selectFrom(dataSource: DataSource, entity: EntityTarget<ObjectLiteral>): string {
  const { columns, tableName } = dataSource.getMetadata(entity);
  const names = columns.map(
    ({ databaseName, propertyName }) => `${databaseName} AS ${propertyName}`,
  );
  return `SELECT ${names.join(', ')} FROM ${tableName} WHERE`;
}

/** Converts times, booleans and JSON as TypeORM does. */
export function entityOf<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  row: RawEntity<T>,
): T {
  const { columns } = dataSource.getMetadata(entity);
  const values = columns.map((column): [string, unknown] => {
    const value: unknown = dataSource.driver.prepareHydratedValue(row[column.propertyName], column);
    return [column.propertyName, value];
  });
  return Object.fromEntries(values) as T;
}

/** Runs a SELECT of the query builder with expressions, such as sums, instead of an entity. */
export function readQuery<R extends RawRow<R>>(builder: {
  getRawMany<T>(): Promise<T[]>;
}): Promise<R[]> {
  // The rule bans the method because it returns rows of any type that the caller names. RawRow allows only types that drivers return.
  // oxlint-disable-next-line no-restricted-properties
  return builder.getRawMany<R>();
}

/**
 * Runs an INSERT or UPDATE.
 * @returns the number of inserted rows, or of rows that the UPDATE matched
 * @throws QueryFailedError with the code of the driver's error
 */
export async function writeRows(
  tx: Transaction,
  statement: string,
  values: readonly Value[],
): Promise<number> {
  const manager = entities(tx);
  if (isSqlite(manager.dataSource)) {
    const withAffected = true;
    const { affected } = await runnerOf(tx).query(
      statement,
      values.map(toSqliteValue),
      withAffected,
    );
    return affected ?? 0;
  }
  return (await send<ResultSetHeader>(tx, statement, values)).affectedRows;
}

/** Runs a SELECT of rows of this table, which has the column `id`, and locks them until the end of the transaction. */
export async function lockRows<R extends RawRow<R>>(
  tx: Transaction,
  table: string,
  select: string,
  values: readonly Value[],
): Promise<R[]> {
  if (!isSqlite(entities(tx).dataSource)) return readRows<R>(tx, `${select} FOR UPDATE`, values);
  // SQLite locks its file at the first write, even if that matches no row.
  await writeRows(tx, `UPDATE ${table} SET id = id WHERE id = ''`, []);
  return readRows<R>(tx, select, values);
}

/** `(?, ?, …)` with one placeholder per value, for IN and VALUES. There must be at least one value. */
export function placeholdersFor(values: readonly unknown[]): string {
  return `(${values.map(() => '?').join(', ')})`;
}

/** A condition for rows that belong to certain users, and its values. With `id IN`, every engine finds them by the primary key. */
export function whereOwn(
  rows: readonly { id: string; userId: string }[],
): [condition: string, values: string[]] {
  const ids = rows.map(({ id }) => id);
  const pairs = rows.map(() => '(?, ?)').join(', ');
  return [
    `id IN ${placeholdersFor(ids)} AND (id, user_id) IN (${pairs})`,
    [...ids, ...rows.flatMap(({ id, userId }) => [id, userId])],
  ];
}

/** Repeats the first value until there are 1, 2, 4, 8 … values, to limit the number of prepared statements. */
export function padToPowerOfTwo<V>(values: readonly V[]): V[] {
  const count = 2 ** Math.ceil(Math.log2(values.length));
  return values.concat(Array<V>(count - values.length).fill(values[0] as V));
}

/** An index hint to append to a table name; empty on SQLite, which needs none. */
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
  return query<T>(statement, values, (callback) => {
    connection.query<T>(statement, [...values], callback);
  });
}

type Callback<T> = (error: Error | null, result: T) => void;

/** Converts a driver call to a promise. Wraps errors in TypeORM's, which have the statement and a stack trace. */
async function query<T>(
  statement: string,
  values: readonly Value[],
  run: (callback: Callback<T>) => void,
): Promise<T> {
  try {
    return await new Promise<T>((resolve, reject) => {
      run((error, result) => {
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
  if (!queryRunner) throw new Error('The transaction has no query runner.');
  return queryRunner;
}

function isSqlite({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

/** SQLite's driver accepts neither dates nor booleans. */
function toSqliteValue(value: Value): string | number | null {
  if (value instanceof Date) return value.toISOString().slice(0, -1).replace('T', ' ');
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Inserts one row. Missing columns are null. */
export async function insertRow<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  row: T,
): Promise<void> {
  await insertAll(tx, entity, [row]);
}

/**
 * Inserts rows with one statement. Does nothing without rows. For thousands of rows, the query builder would take ten times as much
 * time and memory.
 */
export async function insertAll<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: readonly T[],
): Promise<void> {
  if (rows.length === 0) return;
  const insert = insertOf(entities(tx).dataSource.getMetadata(entity));
  const moreRows = `, ${placeholdersFor(insert.columns)}`.repeat(rows.length - 1);
  const values = rows.flatMap((row) => valuesOf(insert, row));
  await writeRows(tx, insert.statement + moreRows, values);
}

/** Inserts one row with the columns that exist, because the schema may be older than this version. */
export async function insertOnAnySchema<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  row: T,
): Promise<void> {
  const { dataSource, queryRunner } = entities(tx);
  const metadata = dataSource.getMetadata(entity);
  const table = await queryRunner?.getTable(metadata.tableName);
  const existing = metadata.columns.filter(({ databaseName }) =>
    table?.findColumnByName(databaseName),
  );
  const insert = insertInto(metadata, existing);
  await writeRows(tx, insert.statement, valuesOf(insert, row));
}

/** An INSERT of one row, and the columns that it sets. */
interface Insert {
  statement: string;
  columns: EntityMetadata['columns'];
}

const inserts = new WeakMap<EntityMetadata, Insert>();

/** Cached. Omits columns with `insert: false`. */
function insertOf(metadata: EntityMetadata): Insert {
  const cached = inserts.get(metadata);
  if (cached !== undefined) return cached;
  const columns = metadata.columns.filter(({ isInsert }) => isInsert);
  const insert = insertInto(metadata, columns);
  inserts.set(metadata, insert);
  return insert;
}

function insertInto(
  { dataSource, tableName }: EntityMetadata,
  columns: EntityMetadata['columns'],
): Insert {
  const escape = (name: string): string => dataSource.driver.escape(name);
  const escapedNames = columns.map(({ databaseName }) => escape(databaseName));
  const statement = `INSERT INTO ${escape(tableName)} (${escapedNames.join(', ')}) VALUES ${placeholdersFor(columns)}`;
  return { statement, columns };
}

function valuesOf({ columns }: Insert, row: ObjectLiteral): Value[] {
  return columns.map((column) => {
    const value: unknown = column.getEntityValue(row);
    const { driver } = column.entityMetadata.dataSource;
    return driver.preparePersistentValue(value, column) ?? null;
  });
}

/**
 * Inserts `row`, or updates the existing row with the same primary key. Locks the row until the end of the transaction. `row` must have
 * at least one column outside of the key.
 * Uses one statement, because on MySQL and MariaDB a rejected INSERT leaves a shared lock: two transactions with such a lock
 * deadlock when they write.
 */
export async function upsert<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  row: QueryDeepPartialEntity<T>,
): Promise<void> {
  await upsertAll(tx, entity, [row]);
}

/** Upserts at least one row with one statement. All rows must have the same columns. */
export async function upsertAll<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: QueryDeepPartialEntity<T>[],
): Promise<void> {
  const { columns } = entities(tx).dataSource.getMetadata(entity);
  const updated = columns.filter(
    (column) => !column.isPrimary && rows.every((row) => column.propertyName in row),
  );
  await insertOrUpdate(tx, entity, rows, columnNames(updated));
}

/** Inserts the rows whose primary key does not exist, with one statement. */
export async function insertMissing<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: QueryDeepPartialEntity<T>[],
): Promise<void> {
  const { primaryColumns } = entities(tx).dataSource.getMetadata(entity);
  // Sets the key of an existing row to its own value.
  await insertOrUpdate(tx, entity, rows, columnNames(primaryColumns));
}

async function insertOrUpdate<T extends ObjectLiteral>(
  tx: Transaction,
  entity: EntityTarget<T>,
  rows: QueryDeepPartialEntity<T>[],
  updatedColumns: string[],
): Promise<void> {
  const manager = entities(tx);
  const { primaryColumns } = manager.dataSource.getMetadata(entity);
  await manager
    .createQueryBuilder()
    .insert()
    .into(entity)
    .values(rows)
    .orUpdate(updatedColumns, columnNames(primaryColumns))
    .updateEntity(false)
    .execute();
}

function columnNames(columns: readonly { databaseName: string }[]): string[] {
  return columns.map(({ databaseName }) => databaseName);
}

/** Sets a column to its own value, for an update that only locks. `column` is SQL, not a property. */
export function unchanged(column: string): () => string {
  return () => column;
}

/**
 * Deletes rows and returns them, so that the caller can update counters. Locks them first, so that concurrent callers never get the
 * same row.
 */
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
