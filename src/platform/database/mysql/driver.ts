import mysql from 'mysql2';
import type { Pool, PoolConnection, PoolOptions, TypeCastField, TypeCastNext } from 'mysql2';
import { streamOf } from './private-members.js';
import {
  interceptQueries,
  enforceDeadline,
  type Send,
  acquireWithTimeout,
  timedOut,
} from './timeouts.js';
import { type Failover, routeToPrimary } from './failover.js';

export type ServerKind = 'mysql' | 'mariadb';

/** Milliseconds. */
export interface Timeouts {
  /** Until a connection is free; in whole seconds, until a lock is. */
  waitMs: number;
  /** Of a statement; 0 is no limit. */
  statementMs: number;
}

/** Servers check their own timeouts about once a second. */
const GRACE_MS = 2000;

/**
 * The server ends a connection that was silent for so long, and releases its locks: the host of the process may be gone, or the
 * network may have lost the end of the connection.
 */
const IDLE_TIMEOUT_S = 10;
/** The pool ends idle connections earlier. mysql2 only looks for them if `maxIdle` is below `connectionLimit` at the start. */
const IDLE_EVICTION = { idleTimeout: 5000, maxIdle: 0, gracefulEnd: true };

/** For migrations, where one connection has the lock and idles while another works. */
const LONG_IDLE_SETTINGS: Readonly<Record<ServerKind, string>> = {
  mysql: 'wait_timeout = 86400',
  mariadb: 'wait_timeout = 86400, idle_transaction_timeout = 0, idle_write_transaction_timeout = 0',
};

/**
 * mysql2 as TypeORM expects it, with timeouts for free connections and for statements. With
 * the option `group`, which mysql2 does not know, it connects to the server of the group that takes writes.
 * Every new connection is set up once: READ COMMITTED, strict mode, and timeouts on the server's side, which end a statement
 * cleanly where a timeout on ours would return a busy connection to the pool. MySQL's is for SELECT only.
 */
export function driverWithTimeouts(kind: ServerKind, { waitMs, statementMs }: Timeouts): object {
  const seconds = Math.ceil(waitMs / 1000);
  const timeouts =
    kind === 'mariadb'
      ? `max_statement_time = ${statementMs / 1000}`
      : `max_execution_time = ${statementMs}`;
  const pauses = statementMs > 0 ? `wait_timeout = ${IDLE_TIMEOUT_S}` : LONG_IDLE_SETTINGS[kind];
  const settings = [
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    `SET SESSION ${timeouts}, innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds}, ${pauses}`,
    // No other modes of the server: NO_BACKSLASH_ESCAPES would break the driver's escapes.
    `SET SESSION sql_mode = 'STRICT_ALL_TABLES'`,
  ];
  return {
    ...mysql,
    createPool({ group, ...options }: PoolOptions & { group?: Failover }): Pool {
      const pool = mysql.createPool({
        ...options,
        ...(group && { stream: () => group.open() }),
        ...(statementMs > 0 && IDLE_EVICTION),
      });
      // Before the first look, which is a second later: all that are free would end then, however busy they are.
      pool.config.maxIdle = pool.config.connectionLimit;
      if (group) routeToPrimary(pool, group, waitMs);
      else enforceAcquireTimeout(pool, waitMs);
      pool.on('connection', (connection: PoolConnection) => {
        readDoublesExactly(connection);
        if (statementMs > 0) {
          enforceQueryTimeout(connection, Math.ceil(statementMs / 1000) * 1000 + GRACE_MS);
          enforceDeadline(connection, statementMs);
        }
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

function enforceAcquireTimeout(pool: Pool, waitMs: number): void {
  const take = acquireWithTimeout(pool);
  pool.getConnection = (callback) => take(waitMs, callback);
}

/**
 * Ends a connection on which a statement gets no response. The server's timeouts come first; this is for a server that stands
 * still or a network that swallows everything, which the pool itself would never notice, and for what MySQL sets no limit to.
 */
function enforceQueryTimeout(connection: PoolConnection, silenceMs: number): void {
  interceptQueries(connection, (send) => (...parameters) => {
    // First, since it throws for values that cannot be sent: the timer would end the connection under somebody else.
    const sent = send(...parameters);
    const timer = setTimeout(() => {
      // Ending the connection in any other way would leave the statement unanswered.
      streamOf(connection).destroy(timedOut('The database did not answer a statement in time.'));
    }, silenceMs).unref();
    return sent.once('end', () => clearTimeout(timer));
  });
}

/**
 * The driver's reader of doubles that come as text is off by one in the last digit for some values, so that an echo would
 * differ. Prepared statements get them as they are, and no reader of ours may come in between.
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
