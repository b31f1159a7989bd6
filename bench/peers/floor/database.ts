/*
 * The least that a server can do: Node's HTTP server (main.ts) and mysql2 (this file).
 */

import mysql, { type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2';
import type { PeerSettings } from '../settings.js';

export interface PostRow {
  id: string;
  content: string | null;
  tags: string;
  reachKm: number | null;
  visibility: string;
  createdAt: Date;
}

type Value = string | number | boolean | Date | null;
/** Runs a statement. @returns the number of affected rows */
type Run = (statement: string, values: readonly unknown[]) => Promise<number>;

/** A connection pool with a promise interface. */
export class Database {
  readonly pool: Pool;

  constructor({ databaseUrl, poolSize }: PeerSettings) {
    this.pool = mysql.createPool({ uri: databaseUrl, connectionLimit: poolSize, timezone: 'Z' });
  }

  rows<T>(statement: string, values: readonly unknown[]): Promise<T[]> {
    return new Promise((resolve, reject) => {
      this.pool.execute(statement, values as Value[], (error, rows) =>
        error ? reject(error) : resolve(rows as T[]),
      );
    });
  }

  /** Commits if `work` returns true, else rolls back. */
  async transaction(work: (run: Run) => Promise<boolean>): Promise<boolean> {
    const connection = await this.connection();
    const run: Run = (statement, values) =>
      new Promise((resolve, reject) => {
        connection.execute<ResultSetHeader>(statement, values as Value[], (error, result) =>
          error ? reject(error) : resolve(result.affectedRows),
        );
      });
    const control = (statement: string): Promise<void> =>
      new Promise((resolve, reject) => {
        connection.query(statement, (error) => (error ? reject(error) : resolve()));
      });
    try {
      await control('START TRANSACTION');
      const shouldCommit = await work(run);
      await control(shouldCommit ? 'COMMIT' : 'ROLLBACK');
      return shouldCommit;
    } catch (error) {
      await control('ROLLBACK');
      throw error;
    } finally {
      connection.release();
    }
  }

  private connection(): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      this.pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
    });
  }
}
