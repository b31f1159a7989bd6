import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isConflict } from '../common/database-faults.js';
import { withoutStatementLimit } from './data-source-options.js';
import { migrations } from './migrations.js';

const ATTEMPTS = 10;
const LONGEST_PAUSE_MS = 500;

/** What the engines say to the slower of two processes that change the schema at once. */
const OVERTAKEN = /already exists|duplicate (column|key) name|database is locked/i;

/** Two processes that finish together both write down the same migration, which would then be undone twice. */
const FORGET_REPEATS = `DELETE FROM migrations WHERE id NOT IN
  (SELECT id FROM (SELECT MIN(id) AS id FROM migrations GROUP BY name) AS firsts)`;

export interface MigrationStatus {
  name: string;
  applied: boolean;
}

/** Brings the schema up to date and tells how far it is. */
@Injectable()
export class Migrator {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs what is pending, oldest first, each in a transaction where the engine has them for schema changes. Returns their names.
   * Several processes may do so at once: whoever finds a step already taken starts over, and finds less to do.
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
    const applied = await this.appliedNames();
    return migrations.map(({ name }) => ({ name, applied: applied.has(name) }));
  }

  async isCurrent(): Promise<boolean> {
    return (await this.status()).every(({ applied }) => applied);
  }

  private async appliedNames(): Promise<Set<string>> {
    const runner = this.dataSource.createQueryRunner();
    try {
      if (!(await runner.hasTable('migrations'))) return new Set();
      const rows: { name: string }[] = await runner.query('SELECT name FROM migrations');
      return new Set(rows.map(({ name }) => name));
    } finally {
      await runner.release();
    }
  }
}

async function runPending(dataSource: DataSource): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const ran = await dataSource.runMigrations();
      if (ran.length > 0 || attempt > 1) await dataSource.query(FORGET_REPEATS);
      return ran.map(({ name }) => name);
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error;
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
}

function isOvertaken(error: unknown): boolean {
  return isConflict(error) || (error instanceof Error && OVERTAKEN.test(error.message));
}
