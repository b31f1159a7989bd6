import mysql, { type Pool } from 'mysql2/promise';
import { startPrivateServer } from '../test/support/private-server.js';
import { serverVersion } from '../test/support/sql.js';

/** The database server that all programs share. */
export interface BenchServer {
  /** Of a database for this purpose alone, empty at first. */
  databaseUrl: string;
  version: string;
  pool: Pool;
  /** Undefined where the server is not ours. */
  pid?: number;
  stop(): Promise<void>;
}

const DATABASE = 'platform_bench';

/** As in production: every commit reaches the disk, and the working set fits in memory. */
const SETTINGS = [
  '--innodb-flush-log-at-trx-commit=1',
  '--innodb-buffer-pool-size=4G',
  '--innodb-doublewrite=ON',
  '--innodb-log-file-size=1G',
  '--sync-binlog=0',
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
  const admin = await mysql.createConnection({ uri: serverUrl });
  await admin.query(`DROP DATABASE IF EXISTS ${DATABASE}`);
  await admin.query(`CREATE DATABASE ${DATABASE}`);
  await admin.end();
  const database = new URL(serverUrl);
  database.pathname = `/${DATABASE}`;
  const pool = mysql.createPool({ uri: database.href, timezone: 'Z', connectionLimit: 4 });
  return {
    databaseUrl: database.href,
    version: await serverVersion(serverUrl),
    pool,
    pid: own?.pid,
    stop: async () => {
      if (own === undefined) await pool.query(`DROP DATABASE ${DATABASE}`);
      await pool.end();
      await own?.stop();
    },
  };
}
