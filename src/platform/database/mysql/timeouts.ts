import { EventEmitter } from 'node:events';
import type { Pool, PoolConnection, Query, QueryOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import { bindContext, isPastDeadline } from '../../request-context.js';
import { type ConnectionCallback, leaveQueue } from './private-members.js';

/** An error like Node's for network timeouts. */
export function timeoutError(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** One signature for all overloads of mysql2's `query` and `execute`. */
export type Send = (statement: string | QueryOptions, ...more: unknown[]) => Query;

/** Wraps `query` and `execute` of a connection. */
export function interceptQueries(connection: PoolConnection, wrap: (send: Send) => Send): void {
  const { query, execute } = connection as unknown as Record<'query' | 'execute', Send>;
  Object.assign(connection, {
    query: wrap(query.bind(connection)),
    execute: wrap(execute.bind(connection)),
  });
}

/**
 * The pool's `getConnection` with a timeout, which the pool's queue does not have. A callback that times out leaves the queue; a
 * connection that still arrives is released.
 */
export function acquireWithTimeout(
  pool: Pool,
): (timeoutMs: number, callback: ConnectionCallback) => void {
  const getConnection = pool.getConnection.bind(pool);
  return (timeoutMs, unbound) => {
    // Otherwise the callback would run in the context of the request that releases the connection.
    const callback = bindContext(unbound);
    let isWaiting = true;
    const waiter: ConnectionCallback = (error, connection) => {
      clearTimeout(timer);
      if (isWaiting) callback(error, connection);
      else if (error === null) connection.release();
    };
    const timer = setTimeout(() => {
      isWaiting = false;
      leaveQueue(pool, waiter);
      const fail = callback as (error: Error) => void;
      fail(timeoutError('No database connection became free in time.'));
    }, timeoutMs);
    getConnection(waiter);
  };
}

/** Statements without a deadline: they end a transaction, or restore a setting before the connection returns to the pool. */
const EXEMPT = /^(?:COMMIT|ROLLBACK|SET SESSION)\b/;

/**
 * Rejects statements of requests past their deadline. A timeout per statement is not enough: many slow statements together can take
 * as long as one that hangs.
 */
export function enforceDeadline(connection: PoolConnection, timeoutMs: number): void {
  interceptQueries(connection, (send) => (statement, ...more) => {
    const text = typeof statement === 'string' ? statement : statement.sql;
    const callback = more.at(-1);
    if (typeof callback !== 'function') return send(statement, ...more);
    const fail = callback as (error: Error) => void;
    if (isPastDeadline(timeoutMs) && !EXEMPT.test(text))
      return rejectedQuery(() => fail(deadlineExceededError()));
    return send(statement, ...more);
  });
}

/** DB_TIMEOUT_MS, read back from `connectTimeout`, where data-source.ts sets it. Infinity on SQLite. */
export function databaseTimeoutOf(options: DataSourceOptions): number {
  const isServer = options.type === 'mysql' || options.type === 'mariadb';
  return (isServer ? options.connectTimeout : undefined) ?? Infinity;
}

export function deadlineExceededError(): Error {
  return timeoutError('The request exceeded its database time limit.');
}

/** A query that was not sent. At its event `end`, mysql2's pool releases the connection. */
function rejectedQuery(fail: () => void): Query {
  const query = new EventEmitter();
  process.nextTick(() => {
    fail();
    query.emit('end');
  });
  return query as Query;
}
