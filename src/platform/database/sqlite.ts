import type Sqlite from 'better-sqlite3';
import type { DataSource, QueryRunner } from 'typeorm';

/** TypeORM's driver for SQLite has one connection and one query runner, which counts the depth of its transactions. */
interface OneConnection {
  databaseConnection: Sqlite.Database;
  queryRunner?: QueryRunner;
}

/**
 * Ends the transaction of work that failed. When the disk is full at COMMIT, SQLite rolls back by itself and TypeORM's rollback
 * fails, so that TypeORM would make each later transaction a savepoint of one that never commits.
 */
export function discardFailedTransaction({ driver }: DataSource): void {
  const one = driver as typeof driver & OneConnection;
  if (one.databaseConnection.inTransaction) one.databaseConnection.exec('ROLLBACK');
  if (one.queryRunner?.isTransactionActive) one.queryRunner = undefined;
}

/**
 * The wait while another process has locked SQLite's file. It blocks the whole process, so after one that timed out, the others do
 * not wait until the file is free.
 */
export class FileLockWait {
  /** Rows that the connection had changed at the first timeout, if there was one. */
  private changesBefore: number | undefined;

  /** @param waitMs milliseconds */
  constructor(
    private readonly dataSource: DataSource,
    private readonly waitMs: number,
  ) {}

  /** A transaction timed out. */
  begin(): void {
    this.changesBefore ??= this.changes;
    this.file.pragma('busy_timeout = 0');
  }

  /** A transaction is done. If it only read, the file may still be locked. */
  end(): void {
    if (this.changesBefore === undefined || this.changes === this.changesBefore) return;
    this.changesBefore = undefined;
    this.file.pragma(`busy_timeout = ${this.waitMs}`);
  }

  private get changes(): number {
    return this.file.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0;
  }

  /** Not TypeORM's `query`: it caches prepared statements, and a PRAGMA runs when it is prepared. */
  private get file(): Sqlite.Database {
    const { driver } = this.dataSource;
    return (driver as typeof driver & { databaseConnection: Sqlite.Database }).databaseConnection;
  }
}
