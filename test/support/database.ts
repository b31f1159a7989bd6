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
import { urlOfEachServer } from '../../src/config/database-servers.js';
import { loadConfig } from '../../src/config/load-config.js';
import { dataSourceOptions } from '../../src/database/data-source-options.js';
import { Migrator } from '../../src/database/migrator.js';
import { entities } from '../../src/entities.js';
import { expectConsistentCounts, expectNoCredential, type Select } from './invariants.js';
import type { Program } from './programs.js';
import { runSql } from './sql.js';

export type EngineKind = 'sqlite' | 'mariadb' | 'mysql';

/** A database engine that this run tests on. */
export interface Engine {
  readonly kind: EngineKind;
  /** Name and version, such as `MariaDB 10.11.19`. */
  readonly label: string;
  /** Where databases may be created and dropped; SQLite has none. */
  readonly serverUrl?: string;
  /** A database on the server that has the schema of this version. */
  readonly template?: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    engines: Engine[];
    /** Moves every file that runs on one engine on by so many engines: `npm run test:system` covers the others so. */
    engineShift: number;
    browser: Program | null;
    prometheus: Program | null;
    /** Why there is no current `dist`; null when there is one. */
    buildFailure: string | null;
  }
}

/**
 * A database that belongs to one `describe`: empty at its start, gone after its end. Before it goes, all of its tables are
 * searched for credentials, of which only hashes may be stored, and what they count is counted again.
 */
export interface TestDatabase {
  readonly engine: Engine;
  /** A `DATABASE_URL`. */
  readonly url: string;
}

const NO_SERVER: Engine = { kind: 'mysql', label: 'no MySQL or MariaDB found' };

/**
 * Runs the suite against a database of its own, on one engine of this run: for rules that do not depend on the engine. All
 * suites of a file run on the same engine, chosen by the file's name, so that it is the same in every run.
 */
export function onOneEngine(title: string, suite: (database: TestDatabase) => void): void {
  onEngine(engineOfFile(), title, suite);
}

/** Runs the suite on every engine of this run, each time against a database of its own: for what depends on the engine. */
export function onEachEngine(title: string, suite: (database: TestDatabase) => void): void {
  for (const engine of inject('engines')) onEngine(engine, title, suite);
}

/** Runs the suite on every MySQL and MariaDB server, where transactions overlap. Without a server it is reported as skipped. */
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
  for (const engine of inject('engines'))
    if (engine.kind === 'sqlite') onEngine(engine, title, suite);
}

function engineOfFile(): Engine {
  const all = inject('engines');
  const { testPath = '' } = expect.getState();
  const [first = 0] = createHash('sha256').update(basename(testPath)).digest();
  return all[(first + inject('engineShift')) % all.length] ?? NO_SERVER;
}

function servers(): readonly Engine[] {
  const running = inject('engines').filter(({ serverUrl }) => serverUrl !== undefined);
  return running.length > 0 ? running : [NO_SERVER];
}

function onEngine(engine: Engine, title: string, suite: (database: TestDatabase) => void): void {
  describe.skipIf(engine === NO_SERVER)(`${title} [${engine.label}]`, () => {
    suite(engine.serverUrl === undefined ? sqliteFile() : serverDatabase(engine, engine.serverUrl));
  });
}

/**
 * A SQLite file of its own for the `describe` that calls this before it starts what uses the file: hooks after a suite run
 * in reverse order, so the file is searched for credentials once its user has stopped, and then deleted.
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
  if (!engine) throw new Error('Every run tests on SQLite.');
  return { engine, url: `sqlite:${file}` };
}

/** Created with a character set that cannot hold what users write, as old servers do: the first migration must mend it. */
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

/** `tables` are rows with the name of a table each. */
async function check(url: string, rows: Record<string, unknown>[], select: Select): Promise<void> {
  const tables = rows.flatMap((row) => Object.values(row)).map(String);
  for (const table of tables)
    expectNoCredential(
      JSON.stringify(await select(`SELECT * FROM ${table}`)),
      `The table ${table}`,
    );
  await expectConsistentCounts(url, tables, select);
}

/** Makes a migrated database on the server of an engine, whose schema others copy. Answers its name. */
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

/** Gives an empty database of a server the schema of its template, which takes a fraction of the time of migrating. */
export async function copySchema(url: string): Promise<void> {
  const { host, pathname } = new URL(urlOfEachServer(url)[0] ?? url);
  const engine = inject('engines').find(
    ({ serverUrl }) => serverUrl !== undefined && new URL(serverUrl).host === host,
  );
  if (engine?.template === undefined) return;
  const { template } = engine;
  const connection = await mysql.createConnection({ uri: url });
  const rows = async (sql: string): Promise<string[]> => {
    const [found] = await connection.query<RowDataPacket[]>(sql);
    return found.flatMap((row) => Object.values(row) as string[]);
  };
  try {
    if ((await rows('SHOW TABLES')).length > 0) return;
    const [charset, collation] = await rows(
      `SELECT default_character_set_name, default_collation_name FROM information_schema.schemata WHERE schema_name = '${template}'`,
    );
    await connection.query(
      `ALTER DATABASE ${pathname.slice(1)} CHARACTER SET ${charset} COLLATE ${collation}`,
    );
    for (const table of await rows(`SHOW TABLES FROM ${template}`))
      await connection.query(`CREATE TABLE ${table} LIKE ${template}.${table}`);
    await connection.query(`INSERT INTO migrations SELECT * FROM ${template}.migrations`);
  } finally {
    await connection.end();
  }
}

/** Connects as the service does, to whatever stands in the database. The caller destroys the data source. */
export async function connect(url: string, env: Record<string, string> = {}): Promise<DataSource> {
  const { database } = loadConfig({ DATABASE_URL: url, NODE_ENV: 'test', ...env });
  return new DataSource(await dataSourceOptions(database, entities)).initialize();
}

/** The same, with the schema brought up to date. */
export async function connectMigrated(url: string): Promise<DataSource> {
  const dataSource = await connect(url);
  await new Migrator(dataSource).migrate();
  return dataSource;
}

/** The rows of every table as JSON text, by the names of the tables. */
export async function dumpTables(dataSource: DataSource): Promise<Map<string, string>> {
  const tables = new Map<string, string>();
  for (const { tableName } of dataSource.entityMetadatas)
    tables.set(tableName, JSON.stringify(await dataSource.query(`SELECT * FROM ${tableName}`)));
  return tables;
}

/** The tables that hold one of `words`. */
export function tablesContaining(
  tables: ReadonlyMap<string, string>,
  ...words: readonly string[]
): string[] {
  return [...tables]
    .filter(([, rows]) => words.some((word) => rows.includes(word)))
    .map(([table]) => table);
}
