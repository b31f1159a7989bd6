import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { withoutStatementLimit } from '../data-source.js';
import { isConflict, isLockWait } from '../errors.js';
import { type Transaction, transactionOf } from '../transaction.js';
import { RELEASES, SchemaIsNewer, type Release } from './releases.js';

/** The statements that would make the schema what the entities say; none when it is. Changes nothing. */
export async function missingStatements(dataSource: DataSource): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

const ATTEMPTS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * What the slower of two processes is told that change the schema at once. MariaDB does not list a table while another process
 * alters it.
 */
const OVERTAKEN =
  /already exists|does(n't| not) exist|can't drop|duplicate (column|key) name|database is locked|definition has changed/i;

/** Changes nothing, but takes the lock of a row that is there from the first migration on; on SQLite, that of all writers. */
const TAKE_TURN = `UPDATE migrations SET name = name WHERE name = '${RELEASES['1.0.0']}'`;

/**
 * Starts over while another process is in the way, which changes the schema or writes.
 * @throws what `work` throws otherwise, or in the end
 */
export async function despiteOthers<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error;
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
}

/**
 * Runs `work` while no other process changes the schema, so that none undoes what another does. `holder` is in a transaction that
 * commits after it. On SQLite that is the transaction of everything, which writes first: one that reads first is refused when
 * another process has written since. On a server a step ends the transaction of its own connection, so `work` needs another one.
 */
export async function exclusively<T>(
  dataSource: DataSource,
  work: (holder: QueryRunner) => Promise<T>,
): Promise<T> {
  const holder = dataSource.createQueryRunner();
  try {
    while (!(await hasTurn(holder))) await holder.rollbackTransaction();
    const done = await work(holder);
    await holder.commitTransaction();
    return done;
  } catch (error) {
    // One that fails as well, such as on a connection that is lost, is not what anybody needs to know.
    if (holder.isTransactionActive) await holder.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await holder.release();
  }
}

/** False when another process still has it, who may have a large table to change. */
async function hasTurn(holder: QueryRunner): Promise<boolean> {
  await holder.startTransaction();
  try {
    await holder.query(TAKE_TURN);
    return true;
  } catch (error) {
    if (isLockWait(error)) return false;
    throw error;
  }
}

function isOvertaken(error: unknown): boolean {
  return isConflict(error) || (error instanceof Error && OVERTAKEN.test(error.message));
}

/** Two processes that finish together both write down the same migration, which would then be undone twice. */
const FORGET_REPEATS = `DELETE FROM migrations WHERE id NOT IN
  (SELECT id FROM (SELECT MIN(id) AS id FROM migrations GROUP BY name) AS firsts)`;

export interface MigrationStatus {
  name: string;
  applied: boolean;
}

/** What stands between a database and this version; all are empty when nothing does. */
export interface SchemaDifference {
  /** Migrations that this version has and the database has not had yet. */
  pending: string[];
  /** Migrations that the database had and this version does not know: a newer version migrated it. */
  unknown: string[];
  /** SQL that would make the schema what this version expects. None when migrations are pending or unknown: it would undo them. */
  statements: string[];
}

/** Brings the schema up to date, or back, and tells how far it is. */
@Injectable()
export class Migrator {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs what is pending, oldest first, in a transaction where the engine has them for schema changes. Several processes may do
   * so at once: whoever finds a step already taken starts over.
   * @returns the names of what was pending, whichever process ran it
   */
  async migrate(): Promise<string[]> {
    const applied = await despiteOthers(() => appliedNames(this.dataSource));
    const pending = without(knownTo(this.dataSource), applied);
    if (pending.length > 0)
      await this.patiently((dataSource) => despiteOthers(() => runPending(dataSource)));
    return pending;
  }

  /** What the database has had beyond a release, newest first. @throws SchemaIsNewer */
  async since(release: Release): Promise<string[]> {
    const applied = await appliedNames(this.dataSource);
    const known = knownTo(this.dataSource);
    const unknown = without(applied, known);
    if (unknown.length > 0) throw new SchemaIsNewer(unknown);
    const beyond = known.slice(known.indexOf(RELEASES[release]) + 1);
    return beyond.filter((name) => applied.has(name)).toReversed();
  }

  /**
   * Undoes what came after a release, newest first, and loses what that stored. Where a run was stopped, the next one goes on.
   * Several processes may do so at once, as with `migrate`.
   * @param onUndone is called by the process that undid a migration, in the transaction that forgets it
   * @returns the names of what there was to undo, whichever process undid it
   * @throws SchemaIsNewer
   */
  async revert(
    release: Release,
    onUndone: (tx: Transaction, name: string) => Promise<void>,
  ): Promise<string[]> {
    const names = await this.since(release);
    if (names.length === 0) return names;
    await this.patiently(async (dataSource) => {
      for (const name of names)
        await despiteOthers(() => undo(dataSource, name, (tx) => onUndone(tx, name)));
    });
    return names;
  }

  /** Every migration of this version, oldest first. */
  async status(): Promise<MigrationStatus[]> {
    const applied = await appliedNames(this.dataSource);
    return knownTo(this.dataSource).map((name) => ({ name, applied: applied.has(name) }));
  }

  /** Compares all tables, columns and indices with what this version expects. Changes nothing. */
  async difference(): Promise<SchemaDifference> {
    const applied = await appliedNames(this.dataSource);
    const known = knownTo(this.dataSource);
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
    const patient = withoutStatementLimit(options);
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
function knownTo(dataSource: DataSource): string[] {
  return dataSource.migrations.map(nameOf);
}

function nameOf({ name, constructor }: MigrationInterface): string {
  return name ?? constructor.name;
}

function without(names: Iterable<string>, others: Iterable<string>): string[] {
  const left = new Set(others);
  return [...names].filter((name) => !left.has(name));
}

async function runPending(dataSource: DataSource): Promise<void> {
  // An empty database has nothing yet to take turns by.
  if ((await appliedNames(dataSource)).size === 0) await runWith(dataSource, 'each');
  else await exclusively(dataSource, () => runWith(dataSource, 'none'));
  await dataSource.query(FORGET_REPEATS);
}

/** As `runMigrations` of the data source, which keeps its connection for ever when another process makes its table first. */
async function runWith(
  dataSource: DataSource,
  transaction: MigrationExecutor['transaction'],
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = transaction;
    await executor.executePendingMigrations();
  } finally {
    await runner.release();
  }
}

async function undo(
  dataSource: DataSource,
  name: string,
  onUndone: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const migration = dataSource.migrations.find((one) => nameOf(one) === name);
  if (migration === undefined) throw new Error(`There is no migration ${name}.`);
  await exclusively(dataSource, async (holder) => {
    if (!(await appliedNames(dataSource)).has(name)) return;
    const runner = dataSource.createQueryRunner();
    try {
      await migration.down(runner);
    } finally {
      await runner.release();
    }
    await holder.query('DELETE FROM migrations WHERE name = ?', [name]);
    await onUndone(transactionOf(holder.manager));
  });
}
