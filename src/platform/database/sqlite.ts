import { createRequire } from 'node:module';
import type Sqlite from 'better-sqlite3';
import type { DataSource, QueryRunner } from 'typeorm';

/**
 * The SQLite driver for this version of Node: `better-sqlite3` 13 needs Node 22, and 12 aborts the process on Node 24.19 and later,
 * when a database or statement is garbage-collected. Without Node 20, only 13 is needed (decision 0023).
 */
export function sqliteDriver(): typeof import('better-sqlite3') {
  const [major] = process.versions.node.split('.');
  const name = Number(major) < 22 ? 'better-sqlite3' : 'better-sqlite3-13';
  return createRequire(import.meta.url)(name) as typeof import('better-sqlite3');
}

/** TypeORM's SQLite driver: one connection, and one query runner that counts transaction depth. */
interface SqliteDriver {
  databaseConnection: Sqlite.Database;
  queryRunner?: QueryRunner;
}

/**
 * Ends a failed transaction. If the disk is full at COMMIT, SQLite rolls back by itself and TypeORM's own rollback fails. TypeORM
 * would then run each later transaction as a savepoint of a transaction that never commits.
 */
export function discardFailedTransaction({ driver }: DataSource): void {
  const sqlite = driver as typeof driver & SqliteDriver;
  if (sqlite.databaseConnection.inTransaction) sqlite.databaseConnection.exec('ROLLBACK');
  if (sqlite.queryRunner?.isTransactionActive) sqlite.queryRunner = undefined;
}

/**
 * The timeout for the lock of SQLite's file. The wait blocks the event loop, so after one timeout, later transactions fail at once
 * until one writes.
 */
export class FileLockTimeout {
  /** `total_changes()` at the first timeout; undefined without one. */
  private changesBefore: number | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly timeoutMs: number,
  ) {}

  /** Call after a transaction that timed out. */
  onTimeout(): void {
    this.changesBefore ??= this.totalChanges;
    this.connection.pragma('busy_timeout = 0');
  }

  /** Call after a transaction that succeeded. If it only read, the file may still be locked. */
  onSuccess(): void {
    if (this.changesBefore === undefined || this.totalChanges === this.changesBefore) return;
    this.changesBefore = undefined;
    this.connection.pragma(`busy_timeout = ${this.timeoutMs}`);
  }

  private get totalChanges(): number {
    return this.connection.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0;
  }

  /** The driver's connection. TypeORM's `query` caches prepared statements, but a PRAGMA runs when it is prepared. */
  private get connection(): Sqlite.Database {
    const { driver } = this.dataSource;
    return (driver as typeof driver & { databaseConnection: Sqlite.Database }).databaseConnection;
  }
}
