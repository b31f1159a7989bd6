import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { withoutStatementTimeout } from '../data-source.js';
import { isConflict, isFileLocked } from '../errors.js';
import { Transaction } from '../transaction.js';
import { RELEASES, SchemaIsNewer, type Release } from './releases.js';

/** The SQL that would change the schema to match the entities; empty if the schema matches. Does not run the SQL. */
export async function schemaChanges(dataSource: DataSource): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

const MAX_ATTEMPTS = 10;
const MAX_PAUSE_MS = 500;
/** One attempt, which waits for 10 seconds at most. `lockServer` repeats it. */
const LOCK_ON_SERVER = `SELECT GET_LOCK(LEFT(CONCAT('migrate.', DATABASE()), 64), 10)`;
const UNLOCK_ON_SERVER = `SELECT RELEASE_LOCK(LEFT(CONCAT('migrate.', DATABASE()), 64))`;
/** Changes nothing, but locks the file. */
const LOCK_ON_SQLITE = 'PRAGMA user_version = 0';

/**
 * Runs `work` under a lock that excludes other migrating processes. On MySQL and MariaDB, waits for the lock without a limit.
 * `holder` holds the lock. It is in a transaction that commits after `work`. On SQLite, `work` runs in this transaction. On
 * MySQL and MariaDB, schema changes commit implicitly, so `work` must use another connection.
 * Retries `work` after a lock conflict with a request, so it must be able to continue where it stopped.
 */
async function withMigrationLock(
  dataSource: DataSource,
  work: (holder: QueryRunner) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await withRunner(dataSource, (holder) => runLocked(holder, work));
      return;
    } catch (error) {
      const isRetryable = isConflict(error) || isFileLocked(error);
      if (!isRetryable || attempt === MAX_ATTEMPTS) throw error;
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
  }
}

async function runLocked(
  holder: QueryRunner,
  work: (holder: QueryRunner) => Promise<void>,
): Promise<void> {
  const isServer = holder.dataSource.options.type !== 'better-sqlite3';
  try {
    // Locks and unlocks in transactions, so that a proxy sends both statements to the primary.
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
    // If the rollback fails as well, such as on a lost connection, throw the first error.
    if (holder.isTransactionActive) await holder.rollbackTransaction().catch(() => undefined);
    if (isServer) await holder.query(UNLOCK_ON_SERVER).catch(() => undefined);
    throw error;
  }
}

async function lockServer(holder: QueryRunner): Promise<void> {
  for (;;) {
    // By position: Vitess does not apply an alias to the column of GET_LOCK.
    const [row = {}]: Record<string, unknown>[] = await holder.query(LOCK_ON_SERVER);
    if (Number(Object.values(row)[0]) === 1) return;
  }
}

interface RevertibleMigration extends MigrationInterface {
  /** Runs before any migration is reverted. @throws MigrationRefused if an operator must change something first */
  checkRevert?(queryRunner: QueryRunner): Promise<void>;
}

export interface MigrationStatus {
  name: string;
  applied: boolean;
}

/** The differences between a database and this version. All are empty if there are none. */
export interface SchemaDifference {
  /** Migrations of this version that were not applied. */
  pending: string[];
  /** Applied migrations of a newer version. */
  unknown: string[];
  /**
   * SQL that would change the schema to match this version. Empty if migrations are pending or unknown, because the SQL would repeat
   * pending migrations and revert unknown ones.
   */
  statements: string[];
}

/** Migrates and reverts the schema, and compares it with the entities. */
@Injectable()
export class Migrator {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs pending migrations, oldest first; on SQLite, all in one transaction. Several processes may call it concurrently.
   * @returns the names of the migrations that were pending before
   */
  async migrate(): Promise<string[]> {
    const { pending } = await this.names();
    if (pending.length > 0)
      await this.withMigrationTimeouts((dataSource) =>
        withMigrationLock(dataSource, () => runPending(dataSource)),
      );
    return pending;
  }

  /** The applied migrations that are newer than a release, newest first. @throws SchemaIsNewer */
  async appliedSince(release: Release): Promise<string[]> {
    const { applied, known, unknown } = await this.names();
    if (unknown.length > 0) throw new SchemaIsNewer(unknown);
    const later = known.slice(known.indexOf(RELEASES[release]) + 1);
    return later.filter((name) => applied.has(name)).toReversed();
  }

  /**
   * Reverts the migrations that are newer than a release, newest first, and deletes their data. Continues an interrupted run.
   * Several processes may call it concurrently.
   * @param onReverted called in the transaction that deletes the migration's row, by the process that reverted it
   * @returns the names of the applied migrations that were newer than the release
   * @throws SchemaIsNewer; MigrationRefused, before anything is reverted, if one of the migrations cannot be
   */
  async revert(
    release: Release,
    onReverted: (tx: Transaction, name: string) => Promise<void>,
  ): Promise<string[]> {
    const names = await this.appliedSince(release);
    if (names.length === 0) return names;
    await this.withMigrationTimeouts(async (dataSource) => {
      for (const name of names)
        await withRunner(dataSource, async (runner) =>
          findMigration(dataSource, name).checkRevert?.(runner),
        );
      for (const name of names)
        await revertMigration(dataSource, name, (tx) => onReverted(tx, name));
    });
    return names;
  }

  /** All migrations of this version, oldest first. */
  async status(): Promise<MigrationStatus[]> {
    const { applied, known } = await this.names();
    return known.map((name) => ({ name, applied: applied.has(name) }));
  }

  /** Compares all tables, columns and indices with the entities of this version. Changes nothing. */
  async difference(): Promise<SchemaDifference> {
    const { pending, unknown } = await this.names();
    const isComparable = pending.length + unknown.length === 0;
    const statements = isComparable ? await schemaChanges(this.dataSource) : [];
    return { pending, unknown, statements };
  }

  /** Whether no migrations are pending. A newer version may have applied more. */
  async isCurrent(): Promise<boolean> {
    return (await this.names()).pending.length === 0;
  }

  /** The migrations of this version, oldest first; those applied; those not applied yet; and those applied by a newer version. */
  private async names() {
    const applied = await appliedNames(this.dataSource);
    const known = this.dataSource.migrations.map(nameOf);
    return {
      applied,
      known,
      pending: known.filter((name) => !applied.has(name)),
      unknown: [...applied].filter((name) => !known.includes(name)),
    };
  }

  /** Runs `work` on a data source without a statement timeout. */
  private async withMigrationTimeouts<T>(work: (dataSource: DataSource) => Promise<T>): Promise<T> {
    const { options } = this.dataSource;
    const migrationOptions = withoutStatementTimeout(options);
    if (migrationOptions === options) return work(this.dataSource);
    const dataSource = await new DataSource(migrationOptions).initialize();
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }
}

/** Runs `work` on a connection of its own. */
async function withRunner<T>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    return await work(runner);
  } finally {
    await runner.release();
  }
}

function appliedNames(dataSource: DataSource): Promise<Set<string>> {
  return withRunner(dataSource, async (runner) => {
    if (!(await runner.hasTable('migrations'))) return new Set();
    const rows: { name: string }[] = await runner.query('SELECT name FROM migrations');
    return new Set(rows.map(({ name }) => name));
  });
}

function nameOf({ name, constructor }: MigrationInterface): string {
  return name ?? constructor.name;
}

/** Runs pending migrations. TypeORM's own `runMigrations` leaks a connection if it cannot create the migrations table. */
function runPending(dataSource: DataSource): Promise<void> {
  return withRunner(dataSource, async (runner) => {
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'none';
    await executor.executePendingMigrations();
  });
}

function findMigration(dataSource: DataSource, name: string): RevertibleMigration {
  const migration = dataSource.migrations.find((candidate) => nameOf(candidate) === name);
  if (migration === undefined) throw new Error(`Unknown migration: ${name}.`);
  return migration;
}

async function revertMigration(
  dataSource: DataSource,
  name: string,
  onReverted: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const migration = findMigration(dataSource, name);
  await withMigrationLock(dataSource, async (holder) => {
    if (!(await appliedNames(dataSource)).has(name)) return;
    await withRunner(dataSource, (runner) => migration.down(runner));
    await holder.query('DELETE FROM migrations WHERE name = ?', [name]);
    await onReverted(new Transaction(holder.manager));
  });
}
