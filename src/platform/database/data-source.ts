import type Sqlite from 'better-sqlite3';
import mysql, { type RowDataPacket } from 'mysql2';
import { AbstractLogger, type DataSourceOptions } from 'typeorm';
import type { AppConfig } from '../config/app-config.js';
import { urlOfEachServer } from '../config/env.js';
import { SnakeCaseColumns } from './columns.js';
import { migrations } from './migrations/list.js';
import { driverWithTimeouts, type ServerKind } from './mysql/driver.js';
import { KEEP_ALIVE_MS, Failover } from './mysql/failover.js';
import { timeoutOf } from './mysql/timeouts.js';

/** TypeORM's own logger writes to standard output, between the results of a command. */
export class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {
    // Failures are thrown as well.
  }
}

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
    logger: new SilentLogger(),
  };
  if (config.url.startsWith('sqlite:')) {
    return {
      ...shared,
      type: 'better-sqlite3',
      database: config.url.slice('sqlite:'.length),
      enableWAL: true,
      prepareDatabase: prepare,
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
      group: urls.length > 1 ? new Failover(urls, config.timeoutMs / urls.length) : undefined,
    },
  };
}

/**
 * The options for migrations: without a statement timeout on a server, where a step may take long and would go on after it. The
 * timeout of locks stays. One connection changes the schema while another has the lock. SQLite has no such timeout.
 */
export function withoutStatementTimeout(options: DataSourceOptions): DataSourceOptions {
  if (options.type !== 'mysql' && options.type !== 'mariadb') return options;
  const timeouts = { waitMs: timeoutOf(options), statementMs: 0 };
  return { ...options, poolSize: 2, driver: driverWithTimeouts(options.type, timeouts) };
}

function prepare(database: Sqlite.Database): void {
  // Overwrites what is deleted.
  database.pragma('secure_delete = ON');
  // Commits survive a power failure: otherwise a used code could be used again.
  database.pragma('synchronous = FULL');
  // No temporary files, which a read-only file system cannot have.
  database.pragma('temp_store = MEMORY');
}

async function serverKind(urls: readonly string[], timeoutMs: number): Promise<ServerKind> {
  const [url = '', ...others] = urls;
  const connection = mysql.createConnection({ uri: url, connectTimeout: timeoutMs });
  try {
    const question = { sql: 'SELECT VERSION() AS version', timeout: timeoutMs };
    const [[row]] = await connection.promise().query<RowDataPacket[]>(question);
    return /mariadb/i.test(String(row?.version)) ? 'mariadb' : 'mysql';
  } catch (error) {
    if (others.length === 0) throw error;
    return await serverKind(others, timeoutMs);
  } finally {
    connection.destroy();
  }
}
