import type { Socket } from 'node:net';
import type { PoolConnection, Query, QueryOptions } from 'mysql2';

/** Sends a statement, in one of the several ways in which mysql2 takes it and its values. */
export type Send = (statement: string | QueryOptions, ...more: unknown[]) => Query;

/** Puts something between whoever sends statements on a connection and the connection. */
export function aroundSending(connection: PoolConnection, around: (send: Send) => Send): void {
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
