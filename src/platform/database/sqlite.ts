import type Sqlite from 'better-sqlite3';
import type { DataSource, QueryRunner } from 'typeorm';

/** What TypeORM keeps of SQLite: one connection, and one query runner that counts how deep its transactions are nested. */
interface OneConnection {
  databaseConnection: Sqlite.Database;
  queryRunner?: QueryRunner;
}

/**
 * Leaves no transaction behind a unit of work that failed. When SQLite finds no room to commit, it rolls back by itself, and
 * TypeORM, which fails to roll back again, would make each later unit a savepoint in a transaction that nobody ends: answered, and
 * never committed.
 */
export function endAbandoned({ driver }: DataSource): void {
  const one = driver as typeof driver & OneConnection;
  if (one.databaseConnection.inTransaction) one.databaseConnection.exec('ROLLBACK');
  if (one.queryRunner?.isTransactionActive) one.queryRunner = undefined;
}

/**
 * How long SQLite waits while another process has locked the file. It keeps the whole process waiting, so whoever does so in vain
 * does it for all who come until the file is free.
 */
export class FileLockWait {
  /** How many rows the connection had changed when one waited in vain, if one did. */
  private changesBefore: number | undefined;

  /** @param waitMs milliseconds */
  constructor(
    private readonly dataSource: DataSource,
    private readonly waitMs: number,
  ) {}

  /** A unit of work waited in vain. */
  begin(): void {
    this.changesBefore ??= this.changes;
    this.file.pragma('busy_timeout = 0');
  }

  /** A unit of work is done. One that only read tells nothing of the lock. */
  end(): void {
    if (this.changesBefore === undefined || this.changes === this.changesBefore) return;
    this.changesBefore = undefined;
    this.file.pragma(`busy_timeout = ${this.waitMs}`);
  }

  private get changes(): number {
    return this.file.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0;
  }

  /** TypeORM keeps prepared statements, and a PRAGMA does its work when it is prepared. */
  private get file(): Sqlite.Database {
    const { driver } = this.dataSource;
    return (driver as typeof driver & { databaseConnection: Sqlite.Database }).databaseConnection;
  }
}
