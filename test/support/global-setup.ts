import { execFile } from 'node:child_process';
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { TestProject } from 'vitest/node';
import { startPrivateServers } from './database-server.js';
import { dropTemplate, type Engine, makeTemplate } from './database.js';
import { findBrowser } from './programs.js';
import { findPrometheus } from './prometheus.js';
import { serverVersion } from './sql.js';
import { SUITE } from '../suite.js';

/** Finds what this run tests on, starts what belongs to it and builds `dist`. Answers how to end it all. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [browser, prometheus] = await Promise.all([findBrowser(), findPrometheus()]);
  const given = givenUrls();
  const [buildFailure, servers] = await Promise.all([
    buildOnce(),
    startPrivateServers(given.length > 0, SUITE === 'rules'),
  ]);
  const templated: Engine[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(templated.map(dropTemplate));
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const all = [...servers.map(({ url }) => url), ...given];
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
    if (buildFailure === null) templated.push(...(await Promise.all(engines.map(withTemplate))));
    else templated.push(...engines);
    project.provide('engines', templated);
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

function givenUrls(): string[] {
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
    throw new Error(`The database server at ${host} does not answer.`, { cause: error });
  }
  const number = /^[\d.]+/.exec(version)?.[0] ?? version;
  return /mariadb/i.test(version)
    ? { kind: 'mariadb', label: `MariaDB ${number}`, serverUrl }
    : { kind: 'mysql', label: `MySQL ${number}`, serverUrl };
}

/** Written after a build that succeeded, with the time of its begin, and removed by the next one together with the rest of `dist`. */
const MARK = 'dist/.built';
const SOURCES = [
  'src',
  'docs/integrate.md',
  'ormconfig.ts',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'rolldown.config.ts',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** Builds `dist` unless it is newer than every source. Answers the compiler's complaint, or null. */
export async function buildOnce(): Promise<string | null> {
  if ((await modified(MARK)) > (await newest(SOURCES))) return null;
  const begun = new Date();
  const complaint = await build();
  if (complaint === null) {
    await writeFile(MARK, '');
    await utimes(MARK, begun, begun);
  }
  return complaint;
}

function build(): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '-s', 'build'], (error, stdout, stderr) => {
      resolve(error === null ? null : `The build failed, so there is no dist:\n${stdout}${stderr}`);
    });
  });
}

async function newest(paths: string[]): Promise<number> {
  const times = await Promise.all(
    paths.map(async (path) => {
      const entries = await readdir(path, { recursive: true }).catch(() => []);
      return Math.max(
        await modified(path),
        ...(await Promise.all(entries.map((entry) => modified(join(path, entry))))),
      );
    }),
  );
  return Math.max(...times);
}

async function modified(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
