import type { Socket } from 'node:net';
import type { Pool, PoolConnection } from 'mysql2';

/*
 * Private members of libraries, which any release may change. There is no public alternative:
 * - `stream` of a mysql2 connection: `destroy()` and `end()` leave the running statement without a result.
 * - The lists of a mysql2 pool: its queue has no timeout, and it reports no load.
 * - `_host` of a socket: Node.js compares the certificate with it. mysql2 passes no name for IP addresses, and Node.js would
 *   compare it with "localhost".
 */

export type ConnectionCallback = Parameters<Pool['getConnection']>[0];

interface List {
  readonly length: number;
}

interface Queue extends List {
  get(index: number): ConnectionCallback;
  removeOne(index: number): void;
}

interface PoolLists {
  _allConnections: List;
  _freeConnections: List;
  _connectionQueue: Queue;
}

export function streamOf(connection: PoolConnection): Socket {
  return (connection as PoolConnection & { stream: Socket }).stream;
}

/** Removes a callback of `getConnection` from the queue of the pool. */
export function leaveQueue(pool: Pool, callback: ConnectionCallback): void {
  const { _connectionQueue: queue } = pool as Pool & PoolLists;
  for (let index = 0; index < queue.length; index += 1)
    if (queue.get(index) === callback) return queue.removeOne(index);
}

/** Numbers of open connections, free connections, and callers in the queue. */
export function countsOf(pool: Pool): { open: number; free: number; waiting: number } {
  const {
    _allConnections: open,
    _freeConnections: free,
    _connectionQueue: queue,
  } = pool as Pool & PoolLists;
  return { open: open.length, free: free.length, waiting: queue.length };
}

/** Sets the name or IP address that the certificate of the peer must have. Node.js sets it for host names only. */
export function setPeerName(socket: Socket, name: string): void {
  Object.assign(socket, { _host: name });
}
