import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { migrations } from './migrations.js';

export interface MigrationStatus {
  name: string;
  applied: boolean;
}

/** Brings the schema up to date and tells how far it is. */
@Injectable()
export class Migrator {
  constructor(private readonly dataSource: DataSource) {}

  /** Runs what is pending, oldest first, each in a transaction where the engine has them for schema changes. Returns their names. */
  async migrate(): Promise<string[]> {
    const ran = await this.dataSource.runMigrations();
    return ran.map(({ name }) => name);
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
