import type Sqlite from 'better-sqlite3';
import type { DataSource } from 'typeorm';

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
