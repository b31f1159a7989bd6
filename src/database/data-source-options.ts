import type Sqlite from 'better-sqlite3';
import mysql from 'mysql2';
import type { RowDataPacket } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import type { AppConfig } from '../config/app-config.js';
import { urlOfEachServer } from '../config/database-servers.js';
import { migrations } from './migrations.js';
import { driverWithTimeouts, type ServerKind } from './mysql-driver.js';
import { SnakeCaseColumns } from './naming-strategy.js';
import { KEEP_ALIVE_MS, ServerGroup } from './server-group.js';
import { UnheardLogger } from './unheard-logger.js';

/** What mysql2 waits for a connection unless told otherwise. */
const DRIVER_WAIT_MS = 10_000;

export type DatabaseConfig = AppConfig['database'];
type EntityClasses = NonNullable<DataSourceOptions['entities']>;

/**
 * TypeORM's options for a `DATABASE_URL`. A MySQL or MariaDB server is asked which of the two it is.
 * @throws the driver's error when none of its servers can be reached
 */
export async function dataSourceOptions(
  config: DatabaseConfig,
  entities: EntityClasses,
): Promise<DataSourceOptions> {
  const shared = {
    entities,
    migrations,
    migrationsTransactionMode: 'each' as const,
    namingStrategy: new SnakeCaseColumns(),
    logger: new UnheardLogger(),
  };
  if (config.url.startsWith('sqlite:')) {
    return {
      ...shared,
      type: 'better-sqlite3',
      database: config.url.slice('sqlite:'.length),
      enableWAL: true,
      prepareDatabase: keepSafe,
      timeout: config.timeoutMs,
    };
  }
  const urls = urlOfEachServer(config.url);
  const kind = await serverKind(urls, config.timeoutMs);
  return {
    ...shared,
    type: kind,
    url: urls[0],
    charset: 'utf8mb4',
    timezone: 'Z',
    // Would note a stack trace for every statement, in case it fails. TypeORM's error has one.
    trace: false,
    connectTimeout: config.timeoutMs,
    poolSize: config.poolSize,
    driver: driverWithTimeouts(kind, {
      waitMs: config.timeoutMs,
      statementMs: config.timeoutMs,
    }),
    extra: {
      enableKeepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      group: urls.length > 1 ? new ServerGroup(urls, config.timeoutMs / urls.length) : undefined,
    },
  };
}

/**
 * The same for whoever migrates: on a server, a step takes as long as its table is large, and one that is cut goes on there,
 * unrecorded. It still does not wait for locks without end. One connection changes the schema while another holds the turn.
 * SQLite's statements have no limit, and it has one connection.
 */
export function withoutStatementLimit(options: DataSourceOptions): DataSourceOptions {
  if (options.type !== 'mysql' && options.type !== 'mariadb') return options;
  const { type: kind, connectTimeout: waitMs = DRIVER_WAIT_MS } = options;
  return { ...options, poolSize: 2, driver: driverWithTimeouts(kind, { waitMs, statementMs: 0 }) };
}

function keepSafe(database: Sqlite.Database): void {
  // What was deleted would stay readable in the file until SQLite needs its place.
  database.pragma('secure_delete = ON');
  // As on a server, what was committed outlives the machine: a code that was spent would be good again.
  database.pragma('synchronous = FULL');
}

async function serverKind(urls: readonly string[], timeoutMs: number): Promise<ServerKind> {
  const [url = '', ...others] = urls;
  const connection = mysql.createConnection({ uri: url, connectTimeout: timeoutMs });
  try {
    const sql = 'SELECT VERSION() AS version';
    const [[row]] = await connection.promise().query<RowDataPacket[]>(sql);
    return /mariadb/i.test(String(row?.version)) ? 'mariadb' : 'mysql';
  } catch (error) {
    if (others.length === 0) throw error;
    return await serverKind(others, timeoutMs);
  } finally {
    connection.destroy();
  }
}
