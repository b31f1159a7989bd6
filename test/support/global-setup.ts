import Sqlite from 'better-sqlite3';
import type { TestProject } from 'vitest/node';
import { findBrowser } from './browser.js';
import { buildOnce } from './build.js';
import { startPrivateServers } from './private-server.js';
import { findPrometheus } from './prometheus.js';
import type { Engine } from './provided.js';
import { dropTemplate, makeTemplate } from './schema-template.js';
import { serverVersion } from './sql.js';

/** Finds what this run tests on, starts what belongs to it and builds `dist`. Answers how to end it all. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [browser, prometheus] = await Promise.all([findBrowser(), findPrometheus()]);
  const given = givenUrls();
  const [buildFailure, servers] = await Promise.all([
    buildOnce(),
    startPrivateServers(given.length > 0),
  ]);
  const templated: Engine[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(templated.map(dropTemplate));
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const urls = [...servers.map(({ url }) => url), ...given];
    const engines = [sqlite(), ...(await Promise.all(urls.map(engineAt)))];
    if (process.env.CI === 'true') {
      if (buildFailure !== null) throw new Error(buildFailure);
      if (urls.length === 0)
        throw new Error(
          'CI needs MySQL or MariaDB: install mariadbd or mysqld, or set TEST_DATABASE_URLS.',
        );
      if (browser === null)
        throw new Error('CI needs a browser: install Chromium, or set CHROMIUM_PATH.');
      if (prometheus === null) throw new Error('CI needs Prometheus: install it.');
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
