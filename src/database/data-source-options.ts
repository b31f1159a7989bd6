import mysql from 'mysql2';
import type {
  Connection,
  Pool,
  PoolOptions,
  RowDataPacket,
  TypeCastField,
  TypeCastNext,
} from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import type { AppConfig } from '../config/app-config.js';
import { migrations } from './migrations.js';
import { SnakeCaseColumns } from './naming-strategy.js';

export type DatabaseConfig = AppConfig['database'];
type EntityClasses = NonNullable<DataSourceOptions['entities']>;
type ServerKind = 'mysql' | 'mariadb';

/**
 * TypeORM's options for a `DATABASE_URL`. A MySQL or MariaDB server is asked which of the two it is.
 * @throws the driver's error when the server cannot be reached
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
  };
  if (config.url.startsWith('sqlite:')) {
    return {
      ...shared,
      type: 'better-sqlite3',
      database: config.url.slice('sqlite:'.length),
      enableWAL: true,
      timeout: config.timeoutMs,
    };
  }
  const kind = await serverKind(config);
  return {
    ...shared,
    type: kind,
    url: config.url,
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: config.timeoutMs,
    poolSize: config.poolSize,
    driver: driverWithSessionSettings(kind, config.timeoutMs),
    extra: {
      queueLimit: config.queueLimit,
      enableKeepAlive: true,
      keepAliveInitialDelay: 10_000,
      typeCast: exactDoubles,
    },
  };
}

/** The driver's own reader of doubles is off by one in the last digit for some values, so that an echo would differ. */
function exactDoubles(field: TypeCastField, next: TypeCastNext): unknown {
  if (field.type !== 'DOUBLE') return next();
  const digits = field.string();
  return digits === null ? null : Number(digits);
}

async function serverKind({ url, timeoutMs }: DatabaseConfig): Promise<ServerKind> {
  const connection = mysql.createConnection({ uri: url, connectTimeout: timeoutMs });
  try {
    const sql = 'SELECT VERSION() AS version';
    const [[row]] = await connection.promise().query<RowDataPacket[]>(sql);
    return /mariadb/i.test(String(row?.version)) ? 'mariadb' : 'mysql';
  } finally {
    connection.destroy();
  }
}

/**
 * mysql2 with every new connection of the pool set up once: READ COMMITTED, strict mode, and timeouts on the server's side,
 * which end a statement cleanly where a timeout on ours would return a busy connection to the pool.
 */
function driverWithSessionSettings(kind: ServerKind, timeoutMs: number): object {
  const seconds = Math.ceil(timeoutMs / 1000);
  const timeouts =
    kind === 'mariadb'
      ? `max_statement_time = ${timeoutMs / 1000}`
      : `max_execution_time = ${timeoutMs}`;
  const settings = [
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    `SET SESSION ${timeouts}, innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds}`,
    `SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')`,
  ];
  return {
    ...mysql,
    createPool(options: PoolOptions): Pool {
      const pool = mysql.createPool(options);
      pool.on('connection', (connection: Connection) => {
        for (const statement of settings) {
          // Without a callback, mysql2 turns a refused statement into an event that ends the whole service.
          connection.query(statement, (error) => {
            if (error !== null) connection.destroy();
          });
        }
      });
      return pool;
    },
  };
}
