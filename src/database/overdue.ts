import { EventEmitter } from 'node:events';
import type { PoolConnection, Query } from 'mysql2';
import type { DataSourceOptions } from 'typeorm';
import { beginWaiting, isOverdue } from '../common/time-limit.js';
import { aroundSending } from './sending.js';
import { timedOut } from './timed-out.js';

/** What ends a unit of work, the sooner the better, and what sets a connection up for whoever has it next. */
const ALWAYS = /^(?:COMMIT|ROLLBACK|SET SESSION)\b/;

/**
 * Sends no statement more on a connection for work that had its time: many that are slow may take as long as one without an
 * answer.
 */
export function refuseOverdue(connection: PoolConnection, longestMs: number): void {
  aroundSending(connection, (send) => (statement, ...more) => {
    const text = typeof statement === 'string' ? statement : statement.sql;
    const callback = more.at(-1);
    if (typeof callback !== 'function') return send(statement, ...more);
    const answered = callback as (...answer: unknown[]) => void;
    if (isOverdue(longestMs) && !ALWAYS.test(text)) return refused(() => answered(overdue()));
    const end = beginWaiting();
    return send(statement, ...more.slice(0, -1), (...answer: unknown[]) => {
      end();
      answered(...answer);
    });
  });
}

/** How long work of one request may wait for this database, in milliseconds: on a server what its driver has, else without end. */
export function longestWaitOn(options: DataSourceOptions): number {
  const isServer = options.type === 'mysql' || options.type === 'mariadb';
  return (isServer ? options.connectTimeout : undefined) ?? Infinity;
}

/** What work is told that had its time. */
export function overdue(): Error {
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
