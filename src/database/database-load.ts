import { Injectable } from '@nestjs/common';
import type { Pool } from 'mysql2';
import { DataSource } from 'typeorm';
import { TransactionRunner } from './transaction.js';

/** Connections of this process to a server. */
export interface PoolLoad {
  used: number;
  free: number;
  limit: number;
  /** Who waits for a connection. */
  waiting: number;
}

/** What the pool keeps count by; missing in its types. */
type PoolLists = Record<
  '_allConnections' | '_freeConnections' | '_connectionQueue',
  { readonly length: number }
>;

/** How busy this process' way to the database is. */
@Injectable()
export class DatabaseLoad {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionRunner,
  ) {}

  /** Whether there is a pool. SQLite has one connection, before which units of work queue up. */
  get hasPool(): boolean {
    return this.dataSource.options.type !== 'better-sqlite3';
  }

  /** Of a server only. */
  pool(): PoolLoad {
    const { pool } = this.dataSource.driver as unknown as { pool: Pool & PoolLists };
    const { _allConnections: all, _freeConnections: free, _connectionQueue: queue } = pool;
    return {
      used: all.length - free.length,
      free: free.length,
      limit: pool.config.connectionLimit ?? 0,
      waiting: queue.length,
    };
  }

  /** Units of work that wait for their turn: none but on SQLite. */
  unitsWaiting(): number {
    return this.transactions.waiting;
  }
}
