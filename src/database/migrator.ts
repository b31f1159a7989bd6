import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isConflict } from '../common/database-faults.js';
import { withoutStatementLimit } from './data-source-options.js';
import { migrations } from './migrations.js';
import { missingStatements } from './schema-difference.js';

const ATTEMPTS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * What the slower of two processes is told that change the schema at once. MariaDB does not list a table while another process
 * alters it.
 */
const OVERTAKEN =
  /already exists|does(n't| not) exist|duplicate (column|key) name|database is locked/i;

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
  /** SQL that would make the schema what this version expects. Not asked for while migrations are pending. */
  statements: string[];
}

/** Brings the schema up to date and tells how far it is. */
@Injectable()
export class Migrator {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs what is pending, oldest first, each in a transaction where the engine has them for schema changes. Several processes
   * may do so at once: whoever finds a step already taken starts over.
   * @returns the names of what was pending, whichever process ran it
   */
  async migrate(): Promise<string[]> {
    const { options } = this.dataSource;
    const patient = withoutStatementLimit(options);
    if (patient === options) return runPending(this.dataSource);
    const dataSource = await new DataSource(patient).initialize();
    try {
      return await runPending(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  /** Every migration of this version, oldest first. */
  async status(): Promise<MigrationStatus[]> {
    const applied = await appliedNames(this.dataSource);
    return migrations.map(({ name }) => ({ name, applied: applied.has(name) }));
  }

  /** Compares all tables, columns and indices with what this version expects. Changes nothing. */
  async difference(): Promise<SchemaDifference> {
    const applied = await appliedNames(this.dataSource);
    const known = migrations.map(({ name }) => name);
    const pending = known.filter((name) => !applied.has(name));
    const unknown = [...applied].filter((name) => !known.includes(name));
    const statements = pending.length > 0 ? [] : await missingStatements(this.dataSource);
    return { pending, unknown, statements };
  }

  async isCurrent(): Promise<boolean> {
    return (await this.status()).every(({ applied }) => applied);
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

async function runPending(dataSource: DataSource): Promise<string[]> {
  const applied = await appliedNames(dataSource);
  const pending = dataSource.migrations
    .map(({ name, constructor }) => name ?? constructor.name)
    .filter((name) => !applied.has(name));
  for (let attempt = 1; pending.length > 0; attempt += 1) {
    try {
      await dataSource.runMigrations();
      await dataSource.query(FORGET_REPEATS);
      return pending;
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error;
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
  return pending;
}

function isOvertaken(error: unknown): boolean {
  return isConflict(error) || (error instanceof Error && OVERTAKEN.test(error.message));
}
