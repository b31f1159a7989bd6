import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { privilegesOn, type Privileges } from './grants.js';

/** What the first migration gives the database, and with it every table; see docs/decisions/0007-collation.md. */
const COLLATION = { MySQL: 'utf8mb4_0900_bin', MariaDB: 'utf8mb4_nopad_bin' };

/** What a connection of the service works with. */
export interface DatabaseSettings {
  /** Such as `READ-COMMITTED`. */
  isolation: string;
  sqlModes: string[];
  /** What the database and every table should have. */
  collation: string;
  /** Of tables that are made from now on. A database that was restored under another name has its server's. */
  defaultCollation: string;
  /** Tables that have another one than they should. */
  otherTables: string[];
}

/** What an operator wants to know of the database. Nothing of it is needed to serve. */
@Injectable()
export class DatabaseFacts {
  constructor(private readonly dataSource: DataSource) {}

  get isServer(): boolean {
    return this.dataSource.options.type !== 'better-sqlite3';
  }

  /** The name of the engine, and its version as it says it. */
  async engine(): Promise<{ name: 'SQLite' | 'MariaDB' | 'MySQL'; version: string }> {
    const sql = this.isServer ? 'VERSION()' : 'sqlite_version()';
    const [row] = await this.query<{ version: string }>(`SELECT ${sql} AS version`);
    const version = row?.version ?? '';
    if (!this.isServer) return { name: 'SQLite', version };
    return { name: /mariadb/i.test(version) ? 'MariaDB' : 'MySQL', version };
  }

  /** Milliseconds of a statement that does nothing. */
  async latency(): Promise<number> {
    const asked = performance.now();
    await this.query('SELECT 1');
    return performance.now() - asked;
  }

  /** Null on SQLite, which has one way to work. */
  async settings(): Promise<DatabaseSettings | null> {
    const { name } = await this.engine();
    if (name === 'SQLite') return null;
    const collation = COLLATION[name];
    // Called tx_isolation by older versions of MariaDB.
    const [isolation] = await this.query<{ Value: string }>(
      `SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')`,
    );
    const [names] = await this.query<{ collation: string; modes: string }>(
      'SELECT @@collation_database AS collation, @@sql_mode AS modes',
    );
    // TypeORM's own table is made before the first migration sets the collation.
    const others = await this.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_collation <> ?
          AND table_name <> 'migrations'`,
      [collation],
    );
    return {
      isolation: isolation?.Value ?? '',
      sqlModes: names?.modes.split(',') ?? [],
      collation,
      defaultCollation: names?.collation ?? '',
      otherTables: others.map((table) => table.name),
    };
  }

  /** What the user of the connection may do in its database; null on SQLite. */
  async privileges(): Promise<Privileges | null> {
    if (!this.isServer) return null;
    const [row] = await this.query<{ name: string }>('SELECT DATABASE() AS name');
    const grants = await this.query<Record<string, string>>('SHOW GRANTS');
    return privilegesOn(
      row?.name ?? '',
      grants.flatMap((grant) => Object.values(grant)),
    );
  }

  private query<T>(sql: string, parameters: string[] = []): Promise<T[]> {
    return this.dataSource.query<T[]>(sql, parameters);
  }
}
