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
