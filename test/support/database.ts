import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import Sqlite from 'better-sqlite3';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { parseDatabaseUrl } from '../../src/platform/config/database-url.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { dataSourceOptions } from '../../src/platform/database/data-source.js';
import { Migrator } from '../../src/platform/database/migrations/migrator.js';
import { entities } from '../../src/entities.js';
import { expectConsistentCounters, expectNoCredential, type Select } from './invariants.js';
import type { Program } from './programs.js';
import { runSql } from './sql.js';

export type EngineKind = 'sqlite' | 'mariadb' | 'mysql';

/** A database engine of this test run. */
export interface Engine {
  readonly kind: EngineKind;
  /** Name and version, such as `MariaDB 10.11.19`. */
  readonly label: string;
  /** A server on which tests create and drop databases; undefined for SQLite. */
  readonly serverUrl?: string;
  /** A database on the server, whose schema tests copy: the current one. */
  readonly template?: string;
}

/**
 * The engines of a project: all; SQLite and the last server, which is MySQL where the run has one; or the servers that `npm test`
 * leaves out, if there are any.
 */
export type EngineSelection = 'all' | 'SQLite and last server' | 'not in npm test';

declare module 'vitest' {
  interface ProvidedContext {
    engines: Engine[];
    /** Added to the engine number of files that run on one engine. `npm run test:system` covers the other engines with it. */
    engineShift: number;
    selection: EngineSelection;
    browser: Program | null;
    prometheus: Program | null;
    /** Why the build failed, or null. */
    buildFailure: string | null;
  }
}

/**
 * A database for one `describe`: empty before it and deleted after it. Before the deletion, all tables are searched for plain-text
 * credentials, and all counters are compared with the counted rows.
 */
export interface TestDatabase {
  readonly engine: Engine;
  /** A `DATABASE_URL`. */
  readonly url: string;
}

/** Takes the place of a server in the title of a skipped suite. */
const NO_SERVER: Engine = { kind: 'mysql', label: 'no MySQL or MariaDB found' };

/**
 * Runs the suite on one engine, for rules that do not depend on the engine. A hash of the file name selects the engine, so that
 * every run uses the same.
 */
export function onOneEngine(title: string, suite: (database: TestDatabase) => void): void {
  onEngine(engineOfFile(), title, suite);
}

/** Runs the suite on every engine of this run, for rules that depend on the engine. */
export function onEachEngine(title: string, suite: (database: TestDatabase) => void): void {
  for (const engine of engines()) onEngine(engine, title, suite);
}

/** Runs the suite on every MySQL and MariaDB server, for rules about overlapping transactions. Without a server it is skipped. */
export function onEachServer(title: string, suite: (database: TestDatabase) => void): void {
  for (const engine of servers()) onEngine(engine, title, suite);
}

/** Runs the suite on the first server only. */
export function onOneServer(title: string, suite: (database: TestDatabase) => void): void {
  for (const engine of servers().slice(0, 1)) onEngine(engine, title, suite);
}

/** Runs the suite on SQLite and on the first server. */
export function onSqliteAndOneServer(title: string, suite: (database: TestDatabase) => void): void {
  onSqlite(title, suite);
  onOneServer(title, suite);
}

/** Runs the suite on SQLite only. */
export function onSqlite(title: string, suite: (database: TestDatabase) => void): void {
  for (const engine of engines()) if (engine.kind === 'sqlite') onEngine(engine, title, suite);
}

function engineOfFile(): Engine {
  const all = engines();
  const { testPath = '' } = expect.getState();
  const [first = 0] = createHash('sha256').update(basename(testPath)).digest();
  return all[(first + inject('engineShift')) % all.length] ?? NO_SERVER;
}

function engines(): readonly Engine[] {
  const all = inject('engines');
  const [sqlite, first, ...others] = all;
  switch (inject('selection')) {
    case 'all':
      return all;
    case 'SQLite and last server':
      return [sqlite, others.at(-1) ?? first].filter((engine) => engine !== undefined);
    case 'not in npm test':
      return others.length > 0 ? others : all;
  }
}

function servers(): readonly Engine[] {
  const running = engines().filter(({ serverUrl }) => serverUrl !== undefined);
  return running.length > 0 ? running : [NO_SERVER];
}

function onEngine(engine: Engine, title: string, suite: (database: TestDatabase) => void): void {
  describe.skipIf(engine === NO_SERVER)(`${title} [${engine.label}]`, () => {
    suite(engine.serverUrl === undefined ? sqliteFile() : serverDatabase(engine, engine.serverUrl));
  });
}

/**
 * Creates a SQLite file for a `describe`. Call it before `useTestApp`: Vitest runs `afterAll` hooks in reverse order, so the
 * application stops before the file is checked and deleted.
 */
export function sqliteFile(): TestDatabase {
  const folder = join(tmpdir(), uniqueName());
  beforeAll(async () => {
    await mkdir(folder);
  });
  const file = join(folder, 'service.sqlite');
  afterAll(async () => {
    try {
      if (existsSync(file)) await checkFile(file, `sqlite:${file}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
  const engine = inject('engines').find(({ kind }) => kind === 'sqlite');
  if (!engine) throw new Error('The run has no SQLite engine.');
  return { engine, url: `sqlite:${file}` };
}

/** Creates the database with latin1, the default of old servers. The first migration must change the character set. */
function serverDatabase(engine: Engine, serverUrl: string): TestDatabase {
  const name = uniqueName();
  beforeAll(async () => {
    await runSql(serverUrl, `CREATE DATABASE ${name} CHARACTER SET latin1`);
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  afterAll(async () => {
    try {
      await checkOnServer(url.href);
    } finally {
      await runSql(serverUrl, `DROP DATABASE IF EXISTS ${name}`);
    }
  });
  return { engine, url: url.href };
}

function uniqueName(): string {
  return `platform_test_${randomBytes(6).toString('hex')}`;
}

async function checkFile(file: string, url: string): Promise<void> {
  const database = new Sqlite(file);
  const select = async (sql: string) => database.prepare<[], Record<string, unknown>>(sql).all();
  try {
    const tables = await select("SELECT name FROM sqlite_master WHERE type = 'table'");
    await check(url, tables, select);
  } finally {
    database.close();
  }
}

async function checkOnServer(url: string): Promise<void> {
  const select = (sql: string) => runSql(url, sql);
  await check(url, await select('SHOW TABLES'), select);
}

/** @param rows one per table, with its name */
async function check(url: string, rows: Record<string, unknown>[], select: Select): Promise<void> {
  const tables = rows.flatMap((row) => Object.values(row)).map(String);
  for (const table of tables)
    expectNoCredential(
      JSON.stringify(await select(`SELECT * FROM ${table}`)),
      `The table ${table}`,
    );
  // The schemas of some tests lack these tables.
  if (tables.includes('quota_usage') && tables.includes('posts'))
    await expectConsistentCounters(url, select);
}

/** Creates a migrated database on a server, whose schema tests copy. Returns the name of the database. */
export async function makeTemplate({ serverUrl = '' }: Engine): Promise<string> {
  const name = `platform_test_template_${randomBytes(6).toString('hex')}`;
  await runSql(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await promisify(execFile)(process.execPath, ['dist/src/bundle/cli.js', 'db', 'migrate'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'test', DATABASE_URL: url.href },
  });
  await runSql(serverUrl, `DELETE FROM ${name}.audit_events`);
  return name;
}

export async function dropTemplate({ serverUrl = '', template }: Engine): Promise<void> {
  if (template !== undefined) await runSql(serverUrl, `DROP DATABASE IF EXISTS ${template}`);
}

/**
 * Copies the schema of the template into an empty database, which is much faster than running the migrations. Does nothing if the
 * database has tables or the server no template.
 */
export async function copySchema(url: string): Promise<void> {
  const address = parseDatabaseUrl(url);
  if (address.engine === 'sqlite') return;
  const [{ host, port }] = address.servers;
  const engine = inject('engines').find(
    ({ serverUrl }) => serverUrl !== undefined && new URL(serverUrl).host === `${host}:${port}`,
  );
  if (engine?.template === undefined) return;
  const { template } = engine;
  const connection = await mysql.createConnection({ uri: url });
  const valuesOf = async (sql: string): Promise<string[]> => {
    const [found] = await connection.query<RowDataPacket[]>(sql);
    return found.flatMap((row) => Object.values(row) as string[]);
  };
  try {
    if ((await valuesOf('SHOW TABLES')).length > 0) return;
    const [charset, collation] = await valuesOf(
      `SELECT default_character_set_name, default_collation_name FROM information_schema.schemata WHERE schema_name = '${template}'`,
    );
    await connection.query(
      `ALTER DATABASE ${address.database} CHARACTER SET ${charset} COLLATE ${collation}`,
    );
    for (const table of await valuesOf(`SHOW TABLES FROM ${template}`))
      await connection.query(`CREATE TABLE ${table} LIKE ${template}.${table}`);
    await connection.query(`INSERT INTO migrations SELECT * FROM ${template}.migrations`);
  } finally {
    await connection.end();
  }
}

/** Connects like the service, without migrating. The caller destroys the data source. */
export async function connect(url: string, env: Record<string, string> = {}): Promise<DataSource> {
  const { database } = loadConfig({ DATABASE_URL: url, NODE_ENV: 'test', ...env });
  return new DataSource(await dataSourceOptions(database, entities)).initialize();
}

/** Connects and runs the migrations. */
export async function connectMigrated(url: string): Promise<DataSource> {
  const dataSource = await connect(url);
  await new Migrator(dataSource).migrate();
  return dataSource;
}

/** The rows of every table as JSON text, by table name. */
export async function dumpTables(dataSource: DataSource): Promise<Map<string, string>> {
  const tables = new Map<string, string>();
  for (const { tableName } of dataSource.entityMetadatas)
    tables.set(tableName, JSON.stringify(await dataSource.query(`SELECT * FROM ${tableName}`)));
  return tables;
}

/** The names of the tables that contain one of `words`. */
export function tablesContaining(
  tables: ReadonlyMap<string, string>,
  ...words: readonly string[]
): string[] {
  return [...tables]
    .filter(([, rows]) => words.some((word) => rows.includes(word)))
    .map(([table]) => table);
}

/** The time of the database server. SQLite uses the clock of this process. */
export async function databaseTime({ engine, url }: TestDatabase): Promise<Date> {
  if (engine.kind === 'sqlite') return new Date();
  const [row] = await runSql(url, 'SELECT UNIX_TIMESTAMP(NOW(3)) * 1000 AS now');
  return new Date(Number(row?.now));
}
