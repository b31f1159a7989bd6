import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import mysql, { type Pool } from 'mysql2/promise';
import { startPrivateServer } from '../test/support/database-server.js';
import { runSql, serverVersion } from '../test/support/sql.js';

/** A migrated, empty database of the service. */
export interface BenchDatabase {
  url: string;
  pool: Pool;
}

/** The database server of all programs. */
export interface BenchServer {
  version: string;
  /** Undefined if the benchmark did not start the server. */
  pid?: number;
  /** Creates and migrates a database. An existing one with this name is dropped first. */
  database(name: string): Promise<BenchDatabase>;
  /** Stops the server if the benchmark started it, else drops the databases that the benchmark created. */
  stop(): Promise<void>;
}

/** As in production: each commit is flushed to disk, and the working set fits in memory. */
const SETTINGS = [
  '--innodb-flush-log-at-trx-commit=1',
  '--innodb-buffer-pool-size=4G',
  '--innodb-doublewrite=ON',
  '--innodb-log-file-size=1G',
];

/** @param url of a server to use instead of starting one. @throws if no server is installed and no URL is given */
export async function startServer(url?: string): Promise<BenchServer> {
  const own =
    url === undefined
      ? ((await startPrivateServer('mariadb', { settings: SETTINGS })) ??
        (await startPrivateServer('mysql', { settings: SETTINGS })))
      : undefined;
  const serverUrl = url ?? own?.url;
  if (serverUrl === undefined)
    throw new Error('No database server is installed. Install MariaDB or MySQL, or use --server.');
  const databases = new Map<string, Pool>();
  return {
    version: await serverVersion(serverUrl),
    pid: own?.pid,
    database: async (name) => {
      await runSql(serverUrl, `DROP DATABASE IF EXISTS ${name}`);
      await runSql(serverUrl, `CREATE DATABASE ${name}`);
      const address = new URL(serverUrl);
      address.pathname = `/${name}`;
      await migrate(address.href);
      const pool = mysql.createPool({ uri: address.href, timezone: 'Z', connectionLimit: 4 });
      databases.set(name, pool);
      return { url: address.href, pool };
    },
    stop: async () => {
      for (const [name, pool] of databases) {
        await pool.end();
        if (own === undefined) await runSql(serverUrl, `DROP DATABASE ${name}`);
      }
      await own?.stop();
    },
  };
}

async function migrate(databaseUrl: string): Promise<void> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl };
  await promisify(execFile)(process.execPath, ['dist/src/bundle/cli.js', 'db', 'migrate'], { env });
}
