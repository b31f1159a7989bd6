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

/** The database of a release, with its schema and rows. */
export interface ReleasedDatabase {
  /** The DDL statements of this engine. */
  statements: string[];
  rows: Record<string, Row[]>;
}

/** The path of the dump of a release, one for each kind of engine. */
export function fileOf(release: string, { engine }: TestDatabase): string {
  return `test/released/${release}/${engine.kind}.json`;
}

export async function releasedDatabase(
  release: string,
  database: TestDatabase,
): Promise<ReleasedDatabase> {
  return JSON.parse(await readFile(fileOf(release, database), 'utf8')) as ReleasedDatabase;
}

/** Dumps a database. Times stay text in the format of the engine. */
export function dump({ engine, url }: TestDatabase): Promise<ReleasedDatabase> {
  return engine.kind === 'sqlite' ? dumpFile(fileIn(url)) : onServer(url, dumpServer);
}

/** The DDL of a dump without AUTO_INCREMENT values. */
export async function schemaOf(database: TestDatabase): Promise<string[]> {
  const { statements } = await dump(database);
  return statements.map(withoutAutoIncrement);
}

function withoutAutoIncrement(statement: string): string {
  return statement.replace(/ AUTO_INCREMENT=\d+/, '');
}

/** Restores a dump into an empty database. */
export async function restore(
  { engine, url }: TestDatabase,
  released: ReleasedDatabase,
): Promise<void> {
  if (engine.kind === 'sqlite') restoreFile(fileIn(url), released);
  else await onServer(url, (connection) => restoreOnServer(connection, released));
}

/** The path in the `DATABASE_URL` of a SQLite file. */
function fileIn(url: string): string {
  return url.slice('sqlite:'.length);
}

async function dumpFile(file: string): Promise<ReleasedDatabase> {
  const database = new Sqlite(file);
  const schemaEntries = database.prepare<[], { name: string; type: string; sql: string }>(
    `SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name`,
  );
  const entries = schemaEntries.all();
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
  for (const [table, rowsOfTable] of Object.entries(rows))
    for (const row of rowsOfTable)
      database.prepare(insertInto(table, row)).run(...Object.values(row));
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
  for (const [table, rowsOfTable] of Object.entries(rows))
    for (const row of rowsOfTable)
      await connection.query(insertInto(table, row), Object.values(row));
}

function insertInto(table: string, row: Row): string {
  const columns = Object.keys(row);
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

const run = promisify(execFile);

/** The commit of each release. */
const COMMITS = { '1.0.0': '858c25897fd1b3e798412e7aabe2a7bfad4bbd1c' } as const;
/** Files that the build copies. */
const ASSETS = new Set(['.eta', '.css', '.svg']);
const BUILD_TIMEOUT_MS = 110_000;

/** A built release of the service. */
export interface ReleaseBuild {
  /** Its folder, which contains `dist`. */
  readonly folder: string;
  /** The path of its `main.js`. */
  readonly main: string;
}

/**
 * Builds a release from the history with the installed packages, and those that only the release needs. Later runs on this machine
 * reuse the build. Returns undefined if the history is missing, as in a shallow clone or an archive.
 * @throws when the build fails; with `CI=true`, also when the history is missing
 */
export async function buildOfRelease(
  release: keyof typeof COMMITS,
): Promise<ReleaseBuild | undefined> {
  const commit = COMMITS[release];
  const isCommitPresent = await run('git', ['cat-file', '-e', `${commit}^{tree}`]).then(
    () => true,
    () => false,
  );
  if (!isCommitPresent) {
    if (process.env.CI === 'true')
      throw new Error(
        `CI needs the history of this repository to build ${release}: run git fetch --unshallow.`,
      );
    return undefined;
  }
  const packages = resolve('node_modules');
  const packagesHash = createHash('sha256').update(packages).digest('hex').slice(0, 8);
  const folder = join(tmpdir(), `platform-${release}-${commit.slice(0, 8)}-${packagesHash}`);
  if (!existsSync(folder)) await build(commit, packages, folder);
  return { folder, main: join(folder, 'dist/src/main.js') };
}

/** Moves the finished build to `folder`, unless a concurrent run did it first. */
async function build(commit: string, packages: string, folder: string): Promise<void> {
  const buildFolder = await mkdtemp(`${folder}-`);
  try {
    const archive = join(buildFolder, 'archive.tar');
    await run('git', ['archive', '--output', archive, commit]);
    await run('tar', ['-xf', archive, '-C', buildFolder]);
    await symlink(packages, join(buildFolder, 'node_modules'));
    await installDropped(buildFolder, packages);
    // No type check: the release passed it with the packages of its time.
    const compile = [
      join(packages, 'typescript/bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--noCheck',
    ];
    await run(process.execPath, compile, { cwd: buildFolder, timeout: BUILD_TIMEOUT_MS });
    await cp(join(buildFolder, 'src'), join(buildFolder, 'dist/src'), {
      recursive: true,
      filter: async (path) => ASSETS.has(extname(path)) || (await stat(path)).isDirectory(),
    });
    await rename(buildFolder, folder);
  } catch (error) {
    await rm(buildFolder, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

/** Installs the packages of the release that are not installed any more, where only its compiled code finds them. */
async function installDropped(buildFolder: string, packages: string): Promise<void> {
  const manifest = await readFile(join(buildFolder, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  const dropped = Object.entries(dependencies)
    .filter(([name]) => !existsSync(join(packages, name)))
    .map(([name, version]) => `${name}@${version}`);
  if (dropped.length === 0) return;
  const options = ['--prefix', join(buildFolder, 'dist'), '--no-save', '--no-package-lock'];
  await run('npm', ['install', ...options, '--ignore-scripts', '--no-audit', ...dropped]);
}
