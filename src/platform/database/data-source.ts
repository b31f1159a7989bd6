import type { Socket } from 'node:net';
import type Sqlite from 'better-sqlite3';
import mysql, { type RowDataPacket } from 'mysql2';
import { AbstractLogger, type DataSourceOptions } from 'typeorm';
import type { AppConfig } from '../config/app-config.js';
import type { DatabaseAddress } from '../config/database-url.js';
import { SnakeCaseColumns } from './columns.js';
import { migrations } from './migrations/list.js';
import { driverWithTimeouts, type PoolExtras, type ServerKind } from './mysql/driver.js';
import { Failover } from './mysql/failover.js';
import { openSocket, type StreamOptions } from './mysql/socket.js';
import { databaseTimeoutOf } from './mysql/timeouts.js';
import { sqliteDriver } from './sqlite.js';

/** TypeORM's own logger would write to standard output, into the results of commands. */
export class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {
    // Errors are thrown as well.
  }
}

export type DatabaseConfig = AppConfig['database'];
type EntityClasses = NonNullable<DataSourceOptions['entities']>;

/**
 * TypeORM's options for a `DATABASE_URL`. Connects to a server to find out whether it is MySQL or MariaDB, and a node of a Galera cluster.
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
  const { address } = config;
  if (address.engine === 'sqlite') {
    return {
      ...shared,
      type: 'better-sqlite3',
      driver: sqliteDriver(),
      database: address.file,
      enableWAL: true,
      prepareDatabase: prepareSqlite,
      timeout: config.timeoutMs,
    };
  }
  const { servers, user: username, password, database } = address;
  const { kind, isGalera } = await detectServer(config, address);
  const failover =
    servers.length > 1 ? new Failover(servers, config.timeoutMs / servers.length) : undefined;
  const stream = (options: StreamOptions): Socket =>
    failover?.open(options) ?? openSocket(servers[0], options);
  return {
    ...shared,
    type: kind,
    username,
    password,
    database,
    // A copy, because the driver changes it.
    ssl: config.tls && { ...config.tls },
    charset: 'utf8mb4',
    timezone: 'Z',
    // Computed integers are BIGINT on some plans of MySQL. As text, 1 would differ from '1'.
    bigNumberStrings: false,
    // Otherwise, mysql2 would create a stack trace for every statement. TypeORM's errors have one anyway.
    trace: false,
    connectTimeout: config.timeoutMs,
    poolSize: config.poolSize,
    driver: driverWithTimeouts(kind, {
      waitMs: config.timeoutMs,
      statementMs: config.timeoutMs,
    }),
    extra: { stream, failover, isGalera } satisfies PoolExtras & { stream: typeof stream },
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

function prepareSqlite(database: Sqlite.Database): void {
  // Overwrites deleted data.
  database.pragma('secure_delete = ON');
  // Commits survive a power failure. Otherwise, a used authorization code could be used again.
  database.pragma('synchronous = FULL');
  // No temporary files, so that the file system may be read-only.
  database.pragma('temp_store = MEMORY');
  // SQLite's own LOWER converts only ASCII letters.
  database.function('lower', { deterministic: true }, (value: unknown) =>
    typeof value === 'string' ? value.toLowerCase() : value,
  );
}

/** Asks the servers in turn, until one responds. */
async function detectServer(
  { tls, timeoutMs }: DatabaseConfig,
  { servers, user, password, database }: DatabaseAddress & { engine: 'server' },
): Promise<{ kind: ServerKind; isGalera: boolean }> {
  let failure: unknown;
  for (const server of servers) {
    const connection = mysql.createConnection({
      user,
      password,
      database,
      ssl: tls && { ...tls },
      connectTimeout: timeoutMs,
      stream: (options: StreamOptions) => openSocket(server, options),
    });
    try {
      const ask = async (sql: string): Promise<RowDataPacket | undefined> => {
        const [[row]] = await connection
          .promise()
          .query<RowDataPacket[]>({ sql, timeout: timeoutMs });
        return row;
      };
      const version = String((await ask('SELECT VERSION() AS version'))?.version);
      const galera = await ask(`SHOW GLOBAL VARIABLES LIKE 'wsrep_on'`);
      return {
        kind: /mariadb/i.test(version) ? 'mariadb' : 'mysql',
        isGalera: galera?.Value === 'ON',
      };
    } catch (error) {
      failure = error;
    } finally {
      connection.destroy();
    }
  }
  throw failure;
}
