import mysql from 'mysql2';
import type {
  Pool,
  PoolConnection,
  PoolOptions,
  RowDataPacket,
  TypeCastField,
  TypeCastNext,
} from 'mysql2';
import { WrongCharacterSet } from '../errors.js';
import { streamOf } from './private-members.js';
import {
  interceptQueries,
  enforceDeadline,
  type Send,
  acquireWithTimeout,
  timeoutError,
} from './timeouts.js';
import { type Failover, routeToPrimary } from './failover.js';

export type ServerKind = 'mysql' | 'mariadb';

/** Options of a pool in addition to those of mysql2. */
export interface PoolExtras {
  failover?: Failover | undefined;
  /** Whether the server is a node of a Galera cluster, which applies the writes of other nodes a little later. */
  isGalera?: boolean;
}

/** Reads wait for the writes that other nodes have committed, such as a token that a client got from another process. */
const GALERA_SETTING = 'SET SESSION wsrep_sync_wait = 1';

/**
 * The server may override the character set of the handshake, for example by `init_connect`, which would damage texts without an error.
 * Binary collation, as the tables have, exists on each server.
 */
const CHARACTER_SET_SETTING = 'SET NAMES utf8mb4 COLLATE utf8mb4_bin';

/** What the session really uses. */
export const CHARACTER_SETS =
  'SELECT @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results';

/** Milliseconds. */
export interface Timeouts {
  /** Waiting for a free connection or a lock. Lock timeouts are rounded up to seconds. */
  waitMs: number;
  /** Running a statement; 0 is no limit. */
  statementMs: number;
}

/**
 * Time for the server to end a statement itself before the client closes the connection. Servers check their timeouts about once a
 * second.
 */
const SERVER_GRACE_MS = 2000;

/** The server closes idle connections after this time and releases their locks, in case the host of the process is lost. */
const IDLE_TIMEOUT_S = 10;
/** The pool closes idle connections earlier. mysql2 only does so if `maxIdle` is below `connectionLimit` at first. */
const IDLE_EVICTION = { idleTimeout: 5000, maxIdle: 0, gracefulEnd: true };

/** For migrations, where one connection holds the lock and idles while another works. */
const LONG_IDLE_SETTINGS: Readonly<Record<ServerKind, string>> = {
  mysql: 'wait_timeout = 86400',
  mariadb: 'wait_timeout = 86400, idle_transaction_timeout = 0, idle_write_transaction_timeout = 0',
};

/**
 * The mysql2 module for TypeORM, with timeouts for connections and statements. With the additional option `failover`, it connects to
 * the server that takes writes.
 * Each new connection is set to utf8mb4, READ COMMITTED, strict mode and server-side timeouts, which end a statement cleanly: a
 * client-side timeout would return a busy connection to the pool. MySQL's statement timeout is for SELECT only.
 */
export function driverWithTimeouts(kind: ServerKind, { waitMs, statementMs }: Timeouts): object {
  const seconds = Math.ceil(waitMs / 1000);
  const statementTimeout =
    kind === 'mariadb'
      ? `max_statement_time = ${statementMs / 1000}`
      : `max_execution_time = ${statementMs}`;
  const idleTimeouts =
    statementMs > 0 ? `wait_timeout = ${IDLE_TIMEOUT_S}` : LONG_IDLE_SETTINGS[kind];
  const settings = [
    CHARACTER_SET_SETTING,
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    // With autocommit = 0, which a server can set for all connections, single statements would never be committed.
    `SET SESSION autocommit = 1, ${statementTimeout}, innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds}, ${idleTimeouts}`,
    // Replaces the server's modes: NO_BACKSLASH_ESCAPES would break the driver's escaping.
    `SET SESSION sql_mode = 'STRICT_ALL_TABLES'`,
  ];
  return {
    ...mysql,
    createPool({ failover, isGalera, ...options }: PoolOptions & PoolExtras): Pool {
      const pool = mysql.createPool({
        ...options,
        ...(statementMs > 0 && IDLE_EVICTION),
      });
      // `maxIdle` is raised again before mysql2's first check, a second later, which would close all free connections.
      pool.config.maxIdle = pool.config.connectionLimit;
      if (failover) routeToPrimary(pool, failover, waitMs);
      else enforceAcquireTimeout(pool, waitMs);
      pool.on('connection', (connection: PoolConnection) => {
        readDoublesExactly(connection);
        if (statementMs > 0)
          enforceQueryTimeout(connection, Math.ceil(statementMs / 1000) * 1000 + SERVER_GRACE_MS);
        for (const statement of isGalera ? [...settings, GALERA_SETTING] : settings) {
          connection.query(statement, (error) => failSetUp(connection, error));
        }
        checkCharacterSets(connection);
        // After the set-up: it may run in the context of a request that is over, whose connection this one replaces in the pool.
        if (statementMs > 0) enforceDeadline(connection, statementMs);
      });
      return pool;
    },
  };
}

/** Closes the connection, with an error for the statements that wait, if a proxy changed the character set. */
function checkCharacterSets(connection: PoolConnection): void {
  connection.query<RowDataPacket[]>(CHARACTER_SETS, (error, [names] = []) => {
    const wrong = Object.values(names ?? {}).find((name) => name !== 'utf8mb4');
    failSetUp(connection, wrong === undefined ? error : new WrongCharacterSet(String(wrong)));
  });
}

/** Closes the connection. `connection.destroy()` would leave the statements that wait for the set-up without a result. */
function failSetUp(connection: PoolConnection, error: Error | null): void {
  if (error !== null) streamOf(connection).destroy(error);
}

function enforceAcquireTimeout(pool: Pool, waitMs: number): void {
  const acquire = acquireWithTimeout(pool);
  pool.getConnection = (callback) => acquire(waitMs, callback);
}

/**
 * Closes a connection if a statement gets no response in time. For a server that hangs, a network that drops packets, and statements
 * without a server-side timeout: MySQL's is for SELECT only.
 */
function enforceQueryTimeout(connection: PoolConnection, timeoutMs: number): void {
  interceptQueries(connection, (send) => (...parameters) => {
    // Sends before it starts the timer, because `send` throws for invalid values: the timer would close a connection in use.
    const query = send(...parameters);
    const timer = setTimeout(() => {
      // `connection.destroy()` would leave the statement without a result.
      streamOf(connection).destroy(
        timeoutError('The database did not respond to a statement in time.'),
      );
    }, timeoutMs).unref();
    return query.once('end', () => clearTimeout(timer));
  });
}

/**
 * The driver parses doubles in text results with an error in the last digit for some values. Prepared statements are not affected,
 * so `execute` stays unchanged.
 */
function readDoublesExactly(connection: PoolConnection): void {
  const send = connection.query.bind(connection) as unknown as Send;
  const query: Send = (statement, ...more) =>
    typeof statement === 'string'
      ? send({ sql: statement, typeCast: exactDoubles }, ...more)
      : send(statement, ...more);
  Object.assign(connection, { query });
}

function exactDoubles(field: TypeCastField, next: TypeCastNext): unknown {
  if (field.type !== 'DOUBLE') return next();
  const digits = field.string();
  return digits === null ? null : Number(digits);
}
