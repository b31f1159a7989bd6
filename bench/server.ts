import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import mysql, { type Pool } from 'mysql2/promise';
import { startPrivateServer } from '../test/support/database-server.js';
import { runSql, serverVersion } from '../test/support/sql.js';

/** A database of the service, migrated and otherwise empty. */
export interface BenchDatabase {
  url: string;
  pool: Pool;
}

/** The database server that all programs share. */
export interface BenchServer {
  version: string;
  /** Undefined where the server is not ours. */
  pid?: number;
  /** Makes a database, in place of one that has this name. */
  database(name: string): Promise<BenchDatabase>;
  /** Drops its databases, and ends the server if it is ours. */
  stop(): Promise<void>;
}

/** As in production: every commit reaches the disk, and what is asked for often fits in memory. */
const SETTINGS = [
  '--innodb-flush-log-at-trx-commit=1',
  '--innodb-buffer-pool-size=4G',
  '--innodb-doublewrite=ON',
  '--innodb-log-file-size=1G',
];

/** @throws when none is installed and no URL was given */
export async function startServer(url?: string): Promise<BenchServer> {
  const own =
    url === undefined
      ? ((await startPrivateServer('mariadb', { settings: SETTINGS })) ??
        (await startPrivateServer('mysql', { settings: SETTINGS })))
      : undefined;
  const serverUrl = url ?? own?.url;
  if (serverUrl === undefined)
    throw new Error('Install MariaDB or MySQL, or give the URL of a server with --server.');
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
