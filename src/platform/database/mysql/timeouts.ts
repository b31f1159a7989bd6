import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Pool, PoolConnection, Query, QueryOptions } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import { beginWaiting, isPastDeadline, sameDeadline } from '../../deadline.js';

/** An error as Node has it where an operation of the network took too long. */
export function timedOut(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** Sends a statement, in one of the several ways in which mysql2 takes it and its values. */
export type Send = (statement: string | QueryOptions, ...more: unknown[]) => Query;

/** Puts something between whoever sends statements on a connection and the connection. */
export function interceptQueries(connection: PoolConnection, around: (send: Send) => Send): void {
  const { query, execute } = connection as unknown as Record<'query' | 'execute', Send>;
  Object.assign(connection, {
    query: around(query.bind(connection)),
    execute: around(execute.bind(connection)),
  });
}

/** The stream of a connection, which is not in mysql2's types. */
export function streamOf(connection: PoolConnection): Socket {
  return (connection as PoolConnection & { stream: Socket }).stream;
}

type Taker = Parameters<Pool['getConnection']>[0];

/** The queue of those who wait for a connection; missing in the pool's types. */
interface WaitingQueue {
  readonly length: number;
  get(index: number): Taker;
  removeOne(index: number): void;
}

/**
 * Takes connections of a pool, in whose own queue one waits without end. Whoever stops waiting, after so many milliseconds, leaves
 * it, or gives the connection back when it comes, if it was on its way already.
 */
export function takingFrom(pool: Pool): (waitMs: number, taker: Taker) => void {
  const take = pool.getConnection.bind(pool);
  return (waitMs, taker) => {
    // Whoever gives a connection back would run it otherwise, as part of another request.
    const callback = sameDeadline(taker);
    const end = beginWaiting();
    let isWaiting = true;
    const waiter: Taker = (error, connection) => {
      clearTimeout(timer);
      end();
      if (isWaiting) callback(error, connection);
      else if (error === null) connection.release();
    };
    const timer = setTimeout(() => {
      isWaiting = false;
      end();
      leaveQueue(pool, waiter);
      const refuse = callback as (error: Error) => void;
      refuse(timedOut('No connection to the database came free in time.'));
    }, waitMs);
    take(waiter);
  };
}

function leaveQueue(pool: Pool, waiter: Taker): void {
  const { _connectionQueue: queue } = pool as Pool & { _connectionQueue: WaitingQueue };
  for (let index = 0; index < queue.length; index += 1)
    if (queue.get(index) === waiter) return queue.removeOne(index);
}

/** What ends a unit of work, the sooner the better, and what sets a connection up for whoever has it next. */
const ALWAYS = /^(?:COMMIT|ROLLBACK|SET SESSION)\b/;

/**
 * Sends no statement more on a connection for work that had its time: many that are slow may take as long as one without an
 * answer.
 */
export function refuseOverdue(connection: PoolConnection, longestMs: number): void {
  interceptQueries(connection, (send) => (statement, ...more) => {
    const text = typeof statement === 'string' ? statement : statement.sql;
    const callback = more.at(-1);
    if (typeof callback !== 'function') return send(statement, ...more);
    const answered = callback as (...answer: unknown[]) => void;
    if (isPastDeadline(longestMs) && !ALWAYS.test(text))
      return refused(() => answered(deadlineExceeded()));
    const end = beginWaiting();
    return send(statement, ...more.slice(0, -1), (...answer: unknown[]) => {
      end();
      answered(...answer);
    });
  });
}

/** How long work of one request may wait for this database, in milliseconds: on a server what its driver has, else without end. */
export function timeoutOf(options: DataSourceOptions): number {
  const isServer = options.type === 'mysql' || options.type === 'mariadb';
  return (isServer ? options.connectTimeout : undefined) ?? Infinity;
}

/** What work is told that had its time. */
export function deadlineExceeded(): Error {
  return timedOut('The request waited for the database for too long.');
}

/** As far as the driver looks at a query: it gives a connection back when one ends. */
function refused(tell: () => void): Query {
  const query = new EventEmitter();
  process.nextTick(() => {
    tell();
    query.emit('end');
  });
  return query as Query;
}
