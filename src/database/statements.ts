import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2';
import type { DataSource } from 'typeorm';
import { entities, type Transaction } from './transaction.js';

/*
 * The statements of the requests that come most often, as SQL: to write one with the query builder each time would take longer
 * than to run it. Their text never varies; what does are the values of their placeholders.
 */

export type Value = string | number | boolean | Date | null;

/**
 * The rows of a SELECT, which a server prepares once for each connection. Times are for `storedTime`, lists are JSON text.
 * @throws the driver's error
 */
export async function readRows<R>(
  dataSource: DataSource,
  select: string,
  values: readonly Value[],
): Promise<R[]> {
  if (isSqlite(dataSource)) return dataSource.query<R[]>(select, values.map(inSqlite));
  const { pool } = dataSource.driver as unknown as { pool: Pool };
  dataSource.logger.logQuery(select, [...values]);
  return new Promise((resolve, reject) => {
    pool.execute<R[] & RowDataPacket[]>(select, [...values], (error, rows) => {
      if (error) reject(error);
      else resolve(rows);
    });
  });
}

/**
 * Runs an INSERT or UPDATE.
 * @returns how many rows it inserted, or found to update
 * @throws the driver's error
 */
export async function writeRows(
  tx: Transaction,
  statement: string,
  values: readonly Value[],
): Promise<number> {
  const { dataSource, queryRunner } = entities(tx);
  if (!queryRunner) throw new Error('A transaction has a connection.');
  if (isSqlite(dataSource)) {
    const { affected } = await queryRunner.query(statement, values.map(inSqlite), true);
    return affected ?? 0;
  }
  const connection = (await queryRunner.connect()) as PoolConnection;
  dataSource.logger.logQuery(statement, [...values]);
  return new Promise((resolve, reject) => {
    connection.query<ResultSetHeader>(statement, [...values], (error, { affectedRows } = NONE) => {
      if (error) reject(error);
      else resolve(affectedRows);
    });
  });
}

/** Names the index to use, after a table's name; SQLite finds it by itself. */
export function useIndex(dataSource: DataSource, index: string): string {
  return isSqlite(dataSource) ? '' : `USE INDEX (${index})`;
}

/** What mysql2 answers together with an error. */
const NONE = { affectedRows: 0 } as ResultSetHeader;

function isSqlite({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

/** Its driver takes neither moments nor truth values. */
function inSqlite(value: Value): string | number | null {
  if (value instanceof Date) return value.toISOString().slice(0, -1).replace('T', ' ');
  return typeof value === 'boolean' ? Number(value) : value;
}
