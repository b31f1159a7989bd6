import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2';
import { QueryFailedError, type DataSource, type QueryRunner } from 'typeorm';
import { entities, Transaction } from './transaction.js';

/*
 * The statements of the requests that come most often, as SQL: to write one with the query builder each time would take longer
 * than to run it. What varies are the values of their placeholders, and how many there are behind an IN.
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
  if (isSqlite(source)) return source.query<R[]>(select, values.map(inSqlite));
  const { pool } = source.driver as unknown as { pool: Pool };
  source.logger.logQuery(select, [...values]);
  return answered<R[]>(select, values, (answer) => {
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
    const { affected } = await runnerOf(tx).query(statement, values.map(inSqlite), true);
    return affected ?? 0;
  }
  return (await send<ResultSetHeader>(tx, statement, values)).affectedRows;
}

/** The places of these values behind IN: of at least one. */
export function placesFor(values: readonly unknown[]): string {
  return `(${values.map(() => '?').join(', ')})`;
}

/** A statement is prepared for 1, 2, 4, 8 … values only: the first is repeated until there are so many. */
export function filledUp<V>(values: readonly V[]): V[] {
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
  if (isSqlite(dataSource)) return runner.query(statement, values.map(inSqlite)) as Promise<T>;
  const connection = (await runner.connect()) as PoolConnection;
  dataSource.logger.logQuery(statement, [...values]);
  return answered<T>(statement, values, (answer) => {
    connection.query<T>(statement, [...values], answer);
  });
}

type Answer<T> = (error: Error | null, result: T) => void;

/** What the driver answers. Its error knows neither the statement nor who sent it: TypeORM's has both. */
async function answered<T>(
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
function inSqlite(value: Value): string | number | null {
  if (value instanceof Date) return value.toISOString().slice(0, -1).replace('T', ' ');
  return typeof value === 'boolean' ? Number(value) : value;
}
