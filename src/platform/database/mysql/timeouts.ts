import { EventEmitter } from 'node:events';
import type { Pool, PoolConnection, Query, QueryOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import { bindContext, isPastDeadline } from '../../request-context.js';
import { leaveQueue } from './private-members.js';

/** An error like those of Node for network operations that took too long. */
export function timedOut(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** The overloads of mysql2's `query` and `execute`. */
export type Send = (statement: string | QueryOptions, ...more: unknown[]) => Query;

export function interceptQueries(connection: PoolConnection, around: (send: Send) => Send): void {
  const { query, execute } = connection as unknown as Record<'query' | 'execute', Send>;
  Object.assign(connection, {
    query: around(query.bind(connection)),
    execute: around(execute.bind(connection)),
  });
}

type ConnectionCallback = Parameters<Pool['getConnection']>[0];

/**
 * Acquires connections of a pool with a timeout, which the pool's own queue does not have. A waiter that times out leaves the queue;
 * a connection that reaches it nevertheless is released.
 */
export function acquireWithTimeout(
  pool: Pool,
): (waitMs: number, taker: ConnectionCallback) => void {
  const take = pool.getConnection.bind(pool);
  return (waitMs, taker) => {
    // Otherwise it would run as part of the request that gives the connection back.
    const callback = bindContext(taker);
    let isWaiting = true;
    const waiter: ConnectionCallback = (error, connection) => {
      clearTimeout(timer);
      if (isWaiting) callback(error, connection);
      else if (error === null) connection.release();
    };
    const timer = setTimeout(() => {
      isWaiting = false;
      leaveQueue(pool, waiter);
      const refuse = callback as (error: Error) => void;
      refuse(timedOut('No connection to the database came free in time.'));
    }, waitMs);
    take(waiter);
  };
}

/** Statements that end a transaction or set up a connection. */
const EXEMPT = /^(?:COMMIT|ROLLBACK|SET SESSION)\b/;

/** Rejects statements of requests that are past their deadline: many slow statements take as long as one that hangs. */
export function enforceDeadline(connection: PoolConnection, timeoutMs: number): void {
  interceptQueries(connection, (send) => (statement, ...more) => {
    const text = typeof statement === 'string' ? statement : statement.sql;
    const callback = more.at(-1);
    if (typeof callback !== 'function') return send(statement, ...more);
    const answered = callback as (...answer: unknown[]) => void;
    if (isPastDeadline(timeoutMs) && !EXEMPT.test(text))
      return refused(() => answered(deadlineExceeded()));
    return send(statement, ...more);
  });
}

/** The time in milliseconds that a request may spend on this database: a server's connect timeout; Infinity on SQLite. */
export function timeoutOf(options: DataSourceOptions): number {
  const isServer = options.type === 'mysql' || options.type === 'mariadb';
  return (isServer ? options.connectTimeout : undefined) ?? Infinity;
}

export function deadlineExceeded(): Error {
  return timedOut('The request is past its deadline for the database.');
}

/** The part of a query that the driver looks at: it releases the connection at the event `end`. */
function refused(tell: () => void): Query {
  const query = new EventEmitter();
  process.nextTick(() => {
    tell();
    query.emit('end');
  });
  return query as Query;
}
