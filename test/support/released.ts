import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import Sqlite from 'better-sqlite3';
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise';
import type { TestDatabase } from './database.js';

type Row = Record<string, unknown>;

/** A whole database as one release of the service made and filled it. */
export interface ReleasedDatabase {
  /** What creates it, in this engine's own words. */
  statements: string[];
  rows: Record<string, Row[]>;
}

/** Where the database of a release is kept, one file for each kind of engine. */
export function fileOf(release: string, { engine }: TestDatabase): string {
  return `test/released/${release}/${engine.kind}.json`;
}

export async function releasedDatabase(
  release: string,
  database: TestDatabase,
): Promise<ReleasedDatabase> {
  return JSON.parse(await readFile(fileOf(release, database), 'utf8')) as ReleasedDatabase;
}

/** Everything that a database holds. Times stay text, as this engine writes them. */
export function dump({ engine, url }: TestDatabase): Promise<ReleasedDatabase> {
  return engine.kind === 'sqlite' ? dumpFile(fileIn(url)) : onServer(url, dumpServer);
}

/** The statements of `dump` that make the schema, without what a server counts on with the rows. */
export async function schemaOf(database: TestDatabase): Promise<string[]> {
  const { statements } = await dump(database);
  return statements.map(withoutCount);
}

function withoutCount(statement: string): string {
  return statement.replace(/ AUTO_INCREMENT=\d+/, '');
}

/** Makes it again in an empty database. */
export async function restore(
  { engine, url }: TestDatabase,
  kept: ReleasedDatabase,
): Promise<void> {
  if (engine.kind === 'sqlite') restoreFile(fileIn(url), kept);
  else await onServer(url, (connection) => restoreOnServer(connection, kept));
}

function fileIn(url: string): string {
  return url.slice('sqlite:'.length);
}

async function dumpFile(file: string): Promise<ReleasedDatabase> {
  const database = new Sqlite(file);
  const all = database.prepare<[], { name: string; type: string; sql: string }>(
    `SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name`,
  );
  const entries = all.all();
  const tables = entries.filter(({ type }) => type === 'table');
  const rows = tables.map(({ name }): [string, Row[]] => [
    name,
    database.prepare<[], Row>(`SELECT * FROM ${name}`).all(),
  ]);
  database.close();
  return { statements: entries.map(({ sql }) => sql), rows: Object.fromEntries(rows) };
}

function restoreFile(file: string, { statements, rows }: ReleasedDatabase): void {
  const database = new Sqlite(file);
  for (const statement of statements) database.exec(statement);
  for (const [table, kept] of Object.entries(rows))
    for (const row of kept) database.prepare(insertInto(table, row)).run(...Object.values(row));
  database.close();
}

async function onServer<T>(url: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await mysql.createConnection({ uri: url, dateStrings: true });
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

async function dumpServer(connection: Connection): Promise<ReleasedDatabase> {
  const read = async (sql: string): Promise<RowDataPacket[]> =>
    (await connection.query<RowDataPacket[]>(sql))[0];
  const [charset] = await read(
    'SELECT @@character_set_database AS name, @@collation_database AS collation',
  );
  const statements = [
    `ALTER DATABASE CHARACTER SET ${charset?.name} COLLATE ${charset?.collation}`,
  ];
  const rows: ReleasedDatabase['rows'] = {};
  for (const entry of await read('SHOW TABLES')) {
    const table = String(Object.values(entry)[0]);
    const [created] = await read(`SHOW CREATE TABLE ${table}`);
    statements.push(String(created?.['Create Table']));
    rows[table] = await read(`SELECT * FROM ${table}`);
  }
  return { statements, rows };
}

async function restoreOnServer(
  connection: Connection,
  { statements, rows }: ReleasedDatabase,
): Promise<void> {
  for (const statement of statements) await connection.query(statement);
  for (const [table, kept] of Object.entries(rows))
    for (const row of kept) await connection.query(insertInto(table, row), Object.values(row));
}

function insertInto(table: string, row: Row): string {
  const columns = Object.keys(row);
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

const run = promisify(execFile);

/** Where each release stands in the history. */
const COMMITS = { '1.0.0': '858c25897fd1b3e798412e7aabe2a7bfad4bbd1c' } as const;
/** What the build takes over as it is. */
const ASSETS = new Set(['.eta', '.css', '.svg']);
const LONGEST_MS = 110_000;

/** The service as one release had it. */
export interface ReleasedVersion {
  /** Its folder, with its `dist`. */
  readonly folder: string;
  /** Its program that serves. */
  readonly main: string;
}

/**
 * Builds a release from the history, once for all runs on this machine, with the packages that are installed now. Undefined
 * where there is no such history, as in a shallow clone or an archive.
 * @throws the compiler's complaint; with `CI=true`, when there is no such history
 */
export async function releasedVersion(
  release: keyof typeof COMMITS,
): Promise<ReleasedVersion | undefined> {
  const commit = COMMITS[release];
  const known = await run('git', ['cat-file', '-e', `${commit}^{tree}`]).catch(() => undefined);
  if (known === undefined) {
    if (process.env.CI === 'true')
      throw new Error(
        `CI needs the history of this repository, for ${release}: git fetch --unshallow`,
      );
    return undefined;
  }
  const packages = resolve('node_modules');
  const place = createHash('sha256').update(packages).digest('hex').slice(0, 8);
  const folder = join(tmpdir(), `platform-${release}-${commit.slice(0, 8)}-${place}`);
  if (!existsSync(folder)) await build(commit, packages, folder);
  return { folder, main: join(folder, 'dist/src/main.js') };
}

/** Another run may do the same: whoever is first has built it for both. */
async function build(commit: string, packages: string, folder: string): Promise<void> {
  const own = await mkdtemp(`${folder}-`);
  try {
    const archive = join(own, 'archive.tar');
    await run('git', ['archive', '--output', archive, commit]);
    await run('tar', ['-xf', archive, '-C', own]);
    await symlink(packages, join(own, 'node_modules'));
    // It was checked when it was released, with the packages of its time.
    const compile = [
      join(packages, 'typescript/bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--noCheck',
    ];
    await run(process.execPath, compile, { cwd: own, timeout: LONGEST_MS });
    await cp(join(own, 'src'), join(own, 'dist/src'), {
      recursive: true,
      filter: async (path) => ASSETS.has(extname(path)) || (await stat(path)).isDirectory(),
    });
    await rename(own, folder);
  } catch (error) {
    await rm(own, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}
