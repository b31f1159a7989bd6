import { execFile } from 'node:child_process';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { TestProject } from 'vitest/node';
import { startPrivateServers } from './database-server.js';
import { dropTemplate, type Engine, makeTemplate } from './database.js';
import { installPackages } from '../../tools/packages.js';
import { findBrowser } from './programs.js';
import { findPrometheus } from './prometheus.js';
import { serverVersion } from './sql.js';
import { SUITE } from '../suite.js';

/**
 * Builds `dist`, finds the installed programs, installs the packages of the suite and starts the private database servers. Returns the
 * teardown function.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [browser, prometheus] = await Promise.all([findBrowser(), findPrometheus()]);
  const configuredUrls = databaseUrls();
  const [buildFailure, servers] = await Promise.all([
    buildIfStale(),
    startPrivateServers({
      areOthersGiven: configuredUrls.length > 0,
      isOneEnough: SUITE === 'rules',
    }),
    ...(SUITE === 'system' ? [installPackages('test/system')] : []),
  ]);
  const preparedEngines: Engine[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(preparedEngines.map(dropTemplate));
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const all = [...servers.map(({ url }) => url), ...configuredUrls];
    const urls = SUITE === 'rules' ? all.slice(0, 1) : all;
    const engines = [sqlite(), ...(await Promise.all(urls.map(engineAt)))];
    if (process.env.CI === 'true') {
      if (buildFailure !== null) throw new Error(buildFailure);
      if (urls.length === 0)
        throw new Error(
          'CI needs MySQL or MariaDB: install mariadbd or mysqld, or set TEST_DATABASE_URLS.',
        );
      if (SUITE === 'system' && browser === null)
        throw new Error('CI needs a browser: install Chromium, or set CHROMIUM_PATH.');
      if (SUITE === 'system' && prometheus === null)
        throw new Error('CI needs Prometheus: install it.');
    }
    if (buildFailure !== null)
      console.warn('The build failed: tests that import dist will fail, too.');
    if (buildFailure === null)
      preparedEngines.push(...(await Promise.all(engines.map(withTemplate))));
    else preparedEngines.push(...engines);
    project.provide('engines', preparedEngines);
    project.provide('browser', browser);
    project.provide('prometheus', prometheus);
    project.provide('buildFailure', buildFailure);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

async function withTemplate(engine: Engine): Promise<Engine> {
  return engine.serverUrl === undefined
    ? engine
    : { ...engine, template: await makeTemplate(engine) };
}

function databaseUrls(): string[] {
  return (process.env.TEST_DATABASE_URLS ?? '').split(/\s+/).filter((url) => url !== '');
}

function sqlite(): Engine {
  const database = new Sqlite(':memory:');
  const version = String(database.prepare('SELECT sqlite_version()').pluck().get());
  database.close();
  return { kind: 'sqlite', label: `SQLite ${version}` };
}

async function engineAt(serverUrl: string): Promise<Engine> {
  let version: string;
  try {
    version = await serverVersion(serverUrl);
  } catch (error) {
    const { host } = new URL(serverUrl);
    throw new Error(`The database server at ${host} does not respond.`, { cause: error });
  }
  const number = /^[\d.]+/.exec(version)?.[0] ?? version;
  return /mariadb/i.test(version)
    ? { kind: 'mariadb', label: `MariaDB ${number}`, serverUrl }
    : { kind: 'mysql', label: `MySQL ${number}`, serverUrl };
}

/** A package of its own, which the build does not contain. */
const NOT_BUILT = 'tools/generators/';

/**
 * A file that is written after a successful build, and deleted with `dist` when a build starts. It contains the list of compiled
 * sources, and its modification time is the start of the build.
 */
const BUILD_MARKER = 'dist/.built';
const SOURCES = [
  'src',
  'tools',
  'docs/guide',
  'openapi/openapi.json',
  ...['LICENSE', 'README.md', 'package.json', 'src', 'tsconfig.json'].map(
    (name) => `clients/typescript/${name}`,
  ),
  'CHANGELOG.md',
  'examples/mcp-server/README.md',
  'ormconfig.ts',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'rolldown.config.ts',
  'tsconfig.json',
  'tsconfig.build.json',
];

interface Sources {
  files: string;
  /** The latest modification time, in milliseconds. */
  changedAt: number;
}

/** Builds `dist` if a source was added, changed or deleted since the last build. Returns the output of a failed build, else null. */
async function buildIfStale(): Promise<string | null> {
  const { files, changedAt } = await sources();
  const built = await readFile(BUILD_MARKER, 'utf8').catch(() => '');
  if (built === files && (await stat(BUILD_MARKER)).mtimeMs > changedAt) return null;
  const startedAt = new Date();
  const failure = await build();
  if (failure === null) {
    await writeFile(BUILD_MARKER, files);
    await utimes(BUILD_MARKER, startedAt, startedAt);
  }
  return failure;
}

function build(): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '-s', 'build'], (error, stdout, stderr) => {
      resolve(error === null ? null : `The build failed, so there is no dist:\n${stdout}${stderr}`);
    });
  });
}

async function sources(): Promise<Sources> {
  const found = await Promise.all(SOURCES.map(filesIn));
  const files = found.flat().filter((file) => !file.endsWith('.spec.ts'));
  const stats = await Promise.all(files.map((file) => stat(file)));
  return {
    files: files.toSorted().join('\n'),
    changedAt: Math.max(...stats.map(({ mtimeMs }) => mtimeMs)),
  };
}

async function filesIn(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(NOT_BUILT));
}
