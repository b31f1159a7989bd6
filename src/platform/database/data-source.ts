import type Sqlite from 'better-sqlite3';
import mysql, { type RowDataPacket } from 'mysql2';
import { AbstractLogger, type DataSourceOptions } from 'typeorm';
import type { AppConfig } from '../config/app-config.js';
import { serverUrls } from '../config/env.js';
import { SnakeCaseColumns } from './columns.js';
import { migrations } from './migrations/list.js';
import { driverWithTimeouts, type ServerKind } from './mysql/driver.js';
import { KEEP_ALIVE_MS, Failover } from './mysql/failover.js';
import { databaseTimeoutOf } from './mysql/timeouts.js';

/** TypeORM's own logger would write to standard output, into the results of commands. */
export class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {
    // Errors are thrown as well.
  }
}

export type DatabaseConfig = AppConfig['database'];
type EntityClasses = NonNullable<DataSourceOptions['entities']>;

/**
 * TypeORM's options for a `DATABASE_URL`. Connects to a server to find out whether it is MySQL or MariaDB.
 * @throws the driver's error if no server is reachable
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
    logger: new SilentLogger(),
  };
  if (config.url.startsWith('sqlite:')) {
    return {
      ...shared,
      type: 'better-sqlite3',
      database: config.url.slice('sqlite:'.length),
      enableWAL: true,
      prepareDatabase: setPragmas,
      timeout: config.timeoutMs,
    };
  }
  const urls = serverUrls(config.url);
  const kind = await serverKind(urls, config.timeoutMs);
  return {
    ...shared,
    type: kind,
    url: urls[0],
    charset: 'utf8mb4',
    timezone: 'Z',
    // Otherwise, mysql2 would create a stack trace for every statement. TypeORM's errors have one anyway.
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
      failover: urls.length > 1 ? new Failover(urls, config.timeoutMs / urls.length) : undefined,
    },
  };
}

/**
 * Options for migrations: without a statement timeout, because a step may take long and could continue on the server after the
 * timeout. The lock timeout stays. Two connections: one changes the schema while the other holds the lock. Returns SQLite options
 * unchanged.
 */
export function withoutStatementTimeout(options: DataSourceOptions): DataSourceOptions {
  if (options.type !== 'mysql' && options.type !== 'mariadb') return options;
  const timeouts = { waitMs: databaseTimeoutOf(options), statementMs: 0 };
  return { ...options, poolSize: 2, driver: driverWithTimeouts(options.type, timeouts) };
}

function setPragmas(database: Sqlite.Database): void {
  // Overwrites deleted data.
  database.pragma('secure_delete = ON');
  // Commits survive a power failure. Otherwise, a used authorization code could be used again.
  database.pragma('synchronous = FULL');
  // No temporary files, so that the file system may be read-only.
  database.pragma('temp_store = MEMORY');
}

async function serverKind(urls: readonly string[], timeoutMs: number): Promise<ServerKind> {
  const [url = '', ...others] = urls;
  const connection = mysql.createConnection({ uri: url, connectTimeout: timeoutMs });
  try {
    const query = { sql: 'SELECT VERSION() AS version', timeout: timeoutMs };
    const [[row]] = await connection.promise().query<RowDataPacket[]>(query);
    return /mariadb/i.test(String(row?.version)) ? 'mariadb' : 'mysql';
  } catch (error) {
    if (others.length === 0) throw error;
    return await serverKind(others, timeoutMs);
  } finally {
    connection.destroy();
  }
}
