import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { withoutStatementTimeout } from '../data-source.js';
import { isConflict, isFileLocked } from '../errors.js';
import { type Transaction, transactionOf } from '../transaction.js';
import { RELEASES, SchemaIsNewer, type Release } from './releases.js';

/** The statements that would make the schema what the entities say; none when it is. Changes nothing. */
export async function missingStatements(dataSource: DataSource): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

const ATTEMPTS = 10;
const MAX_PAUSE_MS = 500;
/** Waits for 10 seconds at most. */
const LOCK_ON_SERVER = `SELECT GET_LOCK(LEFT(CONCAT('migrate.', DATABASE()), 64), 10) AS locked`;
const UNLOCK_ON_SERVER = `SELECT RELEASE_LOCK(LEFT(CONCAT('migrate.', DATABASE()), 64))`;
/** Changes nothing, but takes the lock of the file. */
const LOCK_ON_SQLITE = 'PRAGMA user_version = 0';

/**
 * Runs `work` while no other process migrates this database. On a server it waits for that as long as it takes. `holder` is in a
 * transaction that commits afterwards. On SQLite it is the transaction of `work`, too. On a server, schema changes commit the
 * transaction of their own connection, so `work` uses another one. Work that fails on a lock of a request runs again,
 * so it must continue where it stopped.
 */
async function withMigrationLock(
  dataSource: DataSource,
  work: (holder: QueryRunner) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await runLocked(dataSource, work);
      return;
    } catch (error) {
      const mayRepeat = isConflict(error) || isFileLocked(error);
      if (!mayRepeat || attempt === ATTEMPTS) throw error;
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
  }
}

async function runLocked(
  dataSource: DataSource,
  work: (holder: QueryRunner) => Promise<void>,
): Promise<void> {
  const isServer = dataSource.options.type !== 'better-sqlite3';
  const holder = dataSource.createQueryRunner();
  try {
    // Within transactions, so that a proxy sends both statements to the server that takes writes.
    await holder.startTransaction();
    if (isServer) await lockServer(holder);
    else await holder.query(LOCK_ON_SQLITE);
    await work(holder);
    await holder.commitTransaction();
    if (!isServer) return;
    await holder.startTransaction();
    await holder.query(UNLOCK_ON_SERVER);
    await holder.commitTransaction();
  } catch (error) {
    // A rollback that fails as well, such as on a lost connection, must not replace the error.
    if (holder.isTransactionActive) await holder.rollbackTransaction().catch(() => undefined);
    if (isServer) await holder.query(UNLOCK_ON_SERVER).catch(() => undefined);
    throw error;
  } finally {
    await holder.release();
  }
}

async function lockServer(holder: QueryRunner): Promise<void> {
  for (;;) {
    const [row]: { locked: number | string }[] = await holder.query(LOCK_ON_SERVER);
    if (Number(row?.locked) === 1) return;
  }
}

export interface MigrationStatus {
  name: string;
  applied: boolean;
}

/** The differences between a database and this version. All are empty if there are none. */
export interface SchemaDifference {
  /** Migrations that this version has and the database has not had yet. */
  pending: string[];
  /** Migrations that the database had and this version does not know: a newer version migrated it. */
  unknown: string[];
  /** SQL that would make the schema what this version expects. None when migrations are pending or unknown: it would undo them. */
  statements: string[];
}

/** Migrates and reverts the schema, and compares it with the entities. */
@Injectable()
export class Migrator {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs pending migrations, oldest first, in a transaction on SQLite. Several processes may do so at once.
   * @returns the names of those that were pending, whichever process ran them
   */
  async migrate(): Promise<string[]> {
    const pending = without(migrationNames(this.dataSource), await appliedNames(this.dataSource));
    if (pending.length > 0)
      await this.patiently((dataSource) =>
        withMigrationLock(dataSource, () => runPending(dataSource)),
      );
    return pending;
  }

  /** The migrations of the database after a release, newest first. @throws SchemaIsNewer */
  async appliedSince(release: Release): Promise<string[]> {
    const applied = await appliedNames(this.dataSource);
    const known = migrationNames(this.dataSource);
    const unknown = without(applied, known);
    if (unknown.length > 0) throw new SchemaIsNewer(unknown);
    const beyond = known.slice(known.indexOf(RELEASES[release]) + 1);
    return beyond.filter((name) => applied.has(name)).toReversed();
  }

  /**
   * Undoes what came after a release, newest first, and loses what that stored. Where a run was stopped, the next one goes on.
   * Several processes may do so at once, as with `migrate`.
   * @param onReverted is called by the process that undid a migration, in the transaction that forgets it
   * @returns the names of what there was to undo, whichever process undid it
   * @throws SchemaIsNewer
   */
  async revert(
    release: Release,
    onReverted: (tx: Transaction, name: string) => Promise<void>,
  ): Promise<string[]> {
    const names = await this.appliedSince(release);
    if (names.length === 0) return names;
    await this.patiently(async (dataSource) => {
      for (const name of names)
        await revertMigration(dataSource, name, (tx) => onReverted(tx, name));
    });
    return names;
  }

  /** Every migration of this version, oldest first. */
  async status(): Promise<MigrationStatus[]> {
    const applied = await appliedNames(this.dataSource);
    return migrationNames(this.dataSource).map((name) => ({ name, applied: applied.has(name) }));
  }

  /** Compares all tables, columns and indices with what this version expects. Changes nothing. */
  async difference(): Promise<SchemaDifference> {
    const applied = await appliedNames(this.dataSource);
    const known = migrationNames(this.dataSource);
    const pending = without(known, applied);
    const unknown = without(applied, known);
    const isOwn = pending.length + unknown.length === 0;
    return { pending, unknown, statements: isOwn ? await missingStatements(this.dataSource) : [] };
  }

  async isCurrent(): Promise<boolean> {
    return (await this.status()).every(({ applied }) => applied);
  }

  private async patiently<T>(work: (dataSource: DataSource) => Promise<T>): Promise<T> {
    const { options } = this.dataSource;
    const patient = withoutStatementTimeout(options);
    if (patient === options) return work(this.dataSource);
    const dataSource = await new DataSource(patient).initialize();
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }
}

async function appliedNames(dataSource: DataSource): Promise<Set<string>> {
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable('migrations'))) return new Set();
    const rows: { name: string }[] = await runner.query('SELECT name FROM migrations');
    return new Set(rows.map(({ name }) => name));
  } finally {
    await runner.release();
  }
}

/** The migrations of this version, oldest first. */
function migrationNames(dataSource: DataSource): string[] {
  return dataSource.migrations.map(nameOf);
}

function nameOf({ name, constructor }: MigrationInterface): string {
  return name ?? constructor.name;
}

function without(names: Iterable<string>, others: Iterable<string>): string[] {
  const left = new Set(others);
  return [...names].filter((name) => !left.has(name));
}

/** Like `runMigrations` of the data source, which keeps its connection for ever when it fails to make its own table. */
async function runPending(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'none';
    await executor.executePendingMigrations();
  } finally {
    await runner.release();
  }
}

async function revertMigration(
  dataSource: DataSource,
  name: string,
  onReverted: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const migration = dataSource.migrations.find((one) => nameOf(one) === name);
  if (migration === undefined) throw new Error(`There is no migration ${name}.`);
  await withMigrationLock(dataSource, async (holder) => {
    if (!(await appliedNames(dataSource)).has(name)) return;
    const runner = dataSource.createQueryRunner();
    try {
      await migration.down(runner);
    } finally {
      await runner.release();
    }
    await holder.query('DELETE FROM migrations WHERE name = ?', [name]);
    await onReverted(transactionOf(holder.manager));
  });
}
