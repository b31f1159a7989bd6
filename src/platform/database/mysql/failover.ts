import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2';
import { withDeadline } from '../../request-context.js';
import { isReadOnly } from '../errors.js';
import { streamOf } from './private-members.js';
import { interceptQueries, acquireWithTimeout, timeoutError } from './timeouts.js';

const DEFAULT_PORT = 3306;

/** TCP keep-alive: delay before the first probe of an idle connection. */
export const KEEP_ALIVE_MS = 10_000;

/*
 * Failover between the servers of DATABASE_URL, of which one takes writes: a group with a single primary, or a source and its
 * replicas. New connections go to the current server. A connection is used once its server has confirmed that it takes writes. If a
 * server does not confirm, the next one becomes current. A statement that times out or a read-only error marks a confirmed server as
 * failed: the next one becomes current, and no connection to the failed server is used again.
 * Delete this if MySQL Router, ProxySQL or HAProxy becomes a requirement.
 */

interface Connection {
  /** Index of its server. */
  readonly server: number;
  /** Closes the connection if the server does not confirm in time. */
  readonly timer: NodeJS.Timeout;
  /** Number of failures of the server when it confirmed; undefined before. */
  failuresAtConfirmation?: number;
}

export class Failover {
  private readonly servers: readonly { host: string; port: number }[];
  /** Number of failures of each server. */
  private readonly failures: number[];
  /** Index of the server for new connections. */
  current = 0;
  private readonly connections = new WeakMap<Socket, Connection>();

  /**
   * @param urls one per server
   * @param timeoutMs time for a server to confirm that it takes writes
   */
  constructor(
    urls: readonly string[],
    private readonly timeoutMs: number,
  ) {
    this.servers = urls.map((url) => {
      const { hostname, port } = new URL(url);
      return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || DEFAULT_PORT) };
    });
    this.failures = urls.map(() => 0);
  }

  get size(): number {
    return this.servers.length;
  }

  /** Connects to the current server. The timer is for a former primary that lost its group: it accepts connections, but no commits. */
  open(): Socket {
    const index = this.current;
    const { host = '', port = DEFAULT_PORT } = this.servers[index] ?? {};
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const socket = connect({ host, port, noDelay: true, ...keepAlive });
    const timer = setTimeout(() => {
      socket.destroy(
        timeoutError('The database server did not confirm in time that it takes writes.'),
      );
    }, this.timeoutMs).unref();
    this.connections.set(socket, { server: index, timer });
    return socket
      .once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ETIMEDOUT') this.markFailed(socket);
        this.reject(socket);
      })
      .once('close', () => this.reject(socket));
  }

  /** Call when the server has confirmed that it takes writes. */
  confirm(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined) return;
    clearTimeout(connection.timer);
    connection.failuresAtConfirmation = this.failures[connection.server];
  }

  /** Whether the server has confirmed and not failed since. */
  isConfirmed(socket: Socket): boolean {
    const connection = this.connections.get(socket);
    return (
      connection?.failuresAtConfirmation !== undefined &&
      connection.failuresAtConfirmation === this.failures[connection.server]
    );
  }

  /** Whether the server has failed since it confirmed. */
  hasFailed(socket: Socket): boolean {
    return (
      this.connections.get(socket)?.failuresAtConfirmation !== undefined &&
      !this.isConfirmed(socket)
    );
  }

  /** Call when the server did not confirm. Does nothing if the server has already confirmed. */
  reject(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined || connection.failuresAtConfirmation !== undefined) return;
    clearTimeout(connection.timer);
    this.next(connection.server);
  }

  /** Call when a confirmed server no longer takes writes. None of its connections is used again. */
  markFailed(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined || !this.isConfirmed(socket)) return;
    this.failures[connection.server] = (this.failures[connection.server] ?? 0) + 1;
    this.next(connection.server);
  }

  /** Moves on to the next server, unless another call already has. */
  private next(failedServer: number): void {
    if (failedServer === this.current) this.current = (failedServer + 1) % this.size;
  }
}

/** Newer versions of MariaDB return a word instead of a number. */
const TAKES_WRITES = `SELECT CONCAT(@@global.read_only) IN ('0', 'OFF') AS takes_writes`;

/**
 * Makes the pool return only connections to the primary.
 * @param timeoutMs for all servers together
 */
export function routeToPrimary(pool: Pool, failover: Failover, timeoutMs: number): void {
  const acquire = promisify(acquireWithTimeout(pool));

  async function primaryConnection(): Promise<PoolConnection> {
    const deadline = performance.now() + timeoutMs;
    let remainingServers = failover.size - 1;
    const isLast = (): boolean => remainingServers === 0 || performance.now() >= deadline;
    for (;;) {
      const { current } = failover;
      const connection = await acquire(deadline - performance.now()).catch((error: unknown) => {
        if (isLast() || failover.current === current) throw error;
      });
      if (connection !== undefined) {
        const stream = streamOf(connection);
        if (failover.isConfirmed(stream)) return connection;
        if (failover.hasFailed(stream)) {
          connection.destroy();
          continue;
        }
        // With its own deadline, since the request may already have waited for long.
        if (await withDeadline(() => takesWrites(connection)).catch(() => false)) {
          failover.confirm(stream);
          return connection;
        }
        failover.reject(stream);
        connection.destroy();
      }
      if (isLast()) throw noPrimary();
      remainingServers -= 1;
    }
  }

  pool.getConnection = (callback) => {
    const fail = callback as (error: unknown) => void;
    void primaryConnection().then((connection) => callback(null, connection), fail);
  };
  pool.on('connection', (connection) => failOnReadOnlyError(connection, failover));
}

async function takesWrites(connection: PoolConnection): Promise<boolean> {
  const [[row]] = await connection.promise().query<RowDataPacket[]>(TAKES_WRITES);
  return Number(row?.takes_writes) === 1;
}

type Callback = (error: NodeJS.ErrnoException | null, ...more: unknown[]) => void;

/**
 * After a read-only error, marks the server as failed and does not reuse the connection: reads would still succeed on a server that
 * became a replica.
 */
function failOnReadOnlyError(connection: PoolConnection, failover: Failover): void {
  interceptQueries(connection, (send) => (statement, ...more) => {
    const callback = more.at(-1);
    if (typeof callback !== 'function') return send(statement, ...more);
    const intercepted: Callback = (error, ...results) => {
      if (isReadOnly(error)) {
        failover.markFailed(streamOf(connection));
        connection.release = () => connection.destroy();
      }
      (callback as Callback)(error, ...results);
    };
    return send(statement, ...more.slice(0, -1), intercepted);
  });
}

function noPrimary(): NodeJS.ErrnoException {
  const error = new Error('No server of DATABASE_URL accepts writes.');
  return Object.assign(error, { code: 'ER_OPTION_PREVENTS_STATEMENT' });
}
