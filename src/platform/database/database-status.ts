import { Injectable } from '@nestjs/common';
import type { Pool } from 'mysql2';
import { DataSource } from 'typeorm';
import { type RawTime, storedTime } from './columns.js';
import { CHARACTER_SETS } from './mysql/driver.js';
import { countsOf } from './mysql/private-members.js';
import type { RawRow } from './sql.js';

/** The clock of the database server, by which `ClockSkew` corrects the times of the process. */
@Injectable()
export class DatabaseClock {
  constructor(private readonly dataSource: DataSource) {}

  /** Null on SQLite, which uses the clock of the process. */
  async now(): Promise<Date | null> {
    if (this.dataSource.options.type === 'better-sqlite3') return null;
    // Not `now`, which is a reserved word of Vitess.
    const rows: { utc: RawTime }[] = await this.dataSource.query('SELECT UTC_TIMESTAMP(3) AS utc');
    return rows[0] ? storedTime(rows[0].utc) : null;
  }
}

/** The privileges of a user on a database. */
export interface Privileges {
  /** Such as `SELECT`, or `ALL PRIVILEGES`. */
  names: ReadonlySet<string>;
  /** Whether the user has roles, which may add privileges. */
  hasRoles: boolean;
}

const ALL = 'ALL PRIVILEGES';
/** Grants on whole databases. Grants on single tables do not apply to new tables. */
const ON_DATABASE = /^GRANT (.+) ON (\*|`(?:[^`]|``)+`)\.\* TO /;
const ROLE = /^GRANT (?!.* ON ).+ TO /;

/** Parses the lines of SHOW GRANTS for one database. */
export function privilegesOn(database: string, grants: readonly string[]): Privileges {
  const names = new Set<string>();
  for (const grant of grants) {
    const [, privileges = '', pattern = ''] = ON_DATABASE.exec(grant) ?? [];
    if (!covers(pattern, database)) continue;
    for (const name of privileges.split(/, ?/)) names.add(name);
  }
  return { names, hasRoles: grants.some((grant) => ROLE.test(grant)) };
}

/** The privileges among `wanted` that the user does not have. */
export function missingPrivileges({ names }: Privileges, wanted: readonly string[]): string[] {
  return names.has(ALL) ? [] : wanted.filter((name) => !names.has(name));
}

/** The database name in a grant is a LIKE pattern: `_` matches one character, `%` any text. */
function covers(pattern: string, database: string): boolean {
  if (pattern === '*') return true;
  const name = pattern.slice(1, -1).replaceAll('``', '`');
  const source = name.replaceAll(/\\([_%\\])|[^a-z0-9]/giu, (part, literal?: string) => {
    if (part === '_') return '.';
    if (part === '%') return '.*';
    return `\\u{${(literal ?? part).codePointAt(0)?.toString(16)}}`;
  });
  return new RegExp(`^${source}$`, 'su').test(database);
}

/** The collation that the first migration sets; see docs/decisions/0007-collation.md. */
const COLLATION = { MySQL: 'utf8mb4_0900_bin', MariaDB: 'utf8mb4_nopad_bin' };

export interface DatabaseSettings {
  /** Such as `READ-COMMITTED`. */
  isolation: string;
  sqlModes: string[];
  /** Such as `ROW`; undefined if the server has no binary log. */
  binlogFormat: string | undefined;
  maxConnections: number;
  /** Bytes. */
  maxAllowedPacket: number;
  /** What the session uses, such as `utf8mb4`, by the name of the variable. */
  characterSets: Readonly<Record<string, string | null>>;
  /** For the database and every table. */
  expectedCollation: string;
  /** Collation of new tables. A database that was restored under another name has the default of its server. */
  defaultCollation: string;
  tablesWithOtherCollation: string[];
}

/** Connections of this process to MySQL or MariaDB. */
interface PoolLoad {
  used: number;
  free: number;
  limit: number;
  /** Callers in the queue of the pool. */
  waiting: number;
}

/** Engine, latency, settings and privileges of the database, for the command `doctor`; and the load of the pool, for the metrics. */
@Injectable()
export class DatabaseDiagnostics {
  constructor(private readonly dataSource: DataSource) {}

  /** False on SQLite, which has one connection and a queue of transactions. */
  get isServer(): boolean {
    return this.dataSource.options.type !== 'better-sqlite3';
  }

  async engine(): Promise<{ name: 'SQLite' | 'MariaDB' | 'MySQL'; version: string }> {
    const sql = this.isServer ? 'VERSION()' : 'sqlite_version()';
    const [row] = await this.query<{ version: string }>(`SELECT ${sql} AS version`);
    const version = row?.version ?? '';
    if (!this.isServer) return { name: 'SQLite', version };
    return { name: /mariadb/i.test(version) ? 'MariaDB' : 'MySQL', version };
  }

  /** Duration of a trivial statement in milliseconds. */
  async latency(): Promise<number> {
    const start = performance.now();
    await this.query('SELECT 1');
    return performance.now() - start;
  }

  /** Null on SQLite, which has no such settings. */
  async settings(): Promise<DatabaseSettings | null> {
    const { name } = await this.engine();
    if (name === 'SQLite') return null;
    const collation = COLLATION[name];
    // Older versions of MariaDB call it tx_isolation.
    const isolation =
      (await this.variable('transaction_isolation')) ?? (await this.variable('tx_isolation'));
    const hasBinlog = (await this.variable('log_bin')) === 'ON';
    const binlogFormat = hasBinlog ? await this.variable('binlog_format') : undefined;
    const [session] = await this.query<{ collation: string; modes: string }>(
      'SELECT @@collation_database AS collation, @@sql_mode AS modes',
    );
    const [characterSets] = await this.query<Record<string, string | null>>(CHARACTER_SETS);
    // TypeORM creates its own table before the first migration sets the collation.
    const others = await this.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_collation <> ?
          AND table_name <> 'migrations'`,
      [collation],
    );
    return {
      isolation: isolation ?? '',
      sqlModes: session?.modes.split(',') ?? [],
      binlogFormat,
      maxConnections: Number(await this.variable('max_connections')),
      maxAllowedPacket: Number(await this.variable('max_allowed_packet')),
      characterSets: characterSets ?? {},
      expectedCollation: collation,
      defaultCollation: session?.collation ?? '',
      tablesWithOtherCollation: others.map((table) => table.name),
    };
  }

  /** The privileges of the service's user; null on SQLite. */
  async privileges(): Promise<Privileges | null> {
    if (!this.isServer) return null;
    const [row] = await this.query<{ name: string }>('SELECT DATABASE() AS name');
    const grants = await this.query<Record<string, string>>('SHOW GRANTS');
    return privilegesOn(
      row?.name ?? '',
      grants.flatMap((grant) => Object.values(grant)),
    );
  }

  /** The load of the connection pool. Only on a server. */
  pool(): PoolLoad {
    const { pool } = this.dataSource.driver as unknown as { pool: Pool };
    const { open, free, waiting } = countsOf(pool);
    return { used: open - free, free, limit: pool.config.connectionLimit ?? 0, waiting };
  }

  /** Undefined if the server does not have the variable. */
  private async variable(name: string): Promise<string | undefined> {
    const [row] = await this.query<{ Value: string }>('SHOW VARIABLES LIKE ?', [name]);
    return row?.Value;
  }

  private query<R extends RawRow<R>>(sql: string, parameters: string[] = []): Promise<R[]> {
    return this.dataSource.query<R[]>(sql, parameters);
  }
}
