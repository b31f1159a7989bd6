import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2';
import type { DatabaseServer } from '../../config/database-url.js';
import { withDeadline } from '../../request-context.js';
import { isReadOnly } from '../errors.js';
import { openSocket, type StreamOptions } from './socket.js';
import { interceptQueries, acquireWithTimeout, timeoutError } from './timeouts.js';

/*
 * Failover between the servers of DATABASE_URL, of which one takes writes: a group with a single primary, or a source and its
 * replicas. New connections go to the current server. A connection is used only after its server has confirmed that it takes writes. If a
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
  /** Number of failures of each server. */
  private readonly failures: number[];
  /** Index of the server for new connections. */
  current = 0;
  /** By the `config` of the connection, because its stream is replaced when TLS starts. */
  private readonly connections = new WeakMap<object, Connection>();

  /** @param timeoutMs time for a server to confirm that it takes writes */
  constructor(
    private readonly servers: readonly DatabaseServer[],
    private readonly timeoutMs: number,
  ) {
    this.failures = servers.map(() => 0);
  }

  get size(): number {
    return this.servers.length;
  }

  /** Connects to the current server. The timer closes the connection if the server does not confirm in time, such as a server that accepts connections and hangs. */
  open(options: StreamOptions): Socket {
    const index = this.current;
    const server = this.servers[index];
    if (server === undefined) throw new Error('DATABASE_URL names no server.');
    const { config } = options;
    const socket = openSocket(server, options);
    const timer = setTimeout(() => {
      socket.destroy(
        timeoutError('The database server did not confirm in time that it takes writes.'),
      );
    }, this.timeoutMs).unref();
    this.connections.set(config, { server: index, timer });
    return socket
      .once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ETIMEDOUT') this.markFailed(config);
        this.reject(config);
      })
      .once('close', () => this.reject(config));
  }

  /** Call when the server has confirmed that it takes writes. */
  confirm(connectionConfig: object): void {
    const connection = this.connections.get(connectionConfig);
    if (connection === undefined) return;
    clearTimeout(connection.timer);
    connection.failuresAtConfirmation = this.failures[connection.server];
  }

  /** Whether the server has confirmed and not failed since. */
  isConfirmed(connectionConfig: object): boolean {
    const connection = this.connections.get(connectionConfig);
    return (
      connection?.failuresAtConfirmation !== undefined &&
      connection.failuresAtConfirmation === this.failures[connection.server]
    );
  }

  /** Whether the server has failed since it confirmed. */
  hasFailed(connectionConfig: object): boolean {
    return (
      this.connections.get(connectionConfig)?.failuresAtConfirmation !== undefined &&
      !this.isConfirmed(connectionConfig)
    );
  }

  /** Call when the server did not confirm. Does nothing if the server has already confirmed. */
  reject(connectionConfig: object): void {
    const connection = this.connections.get(connectionConfig);
    if (connection === undefined || connection.failuresAtConfirmation !== undefined) return;
    clearTimeout(connection.timer);
    this.next(connection.server);
  }

  /** Call when a confirmed server no longer takes writes. None of its connections is used again. */
  markFailed(connectionConfig: object): void {
    const connection = this.connections.get(connectionConfig);
    if (connection === undefined || !this.isConfirmed(connectionConfig)) return;
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
        const { config } = connection;
        if (failover.isConfirmed(config)) return connection;
        if (failover.hasFailed(config)) {
          connection.destroy();
          continue;
        }
        // With its own deadline, since the request may already have waited for long.
        if (await withDeadline(() => takesWrites(connection)).catch(() => false)) {
          failover.confirm(config);
          return connection;
        }
        failover.reject(config);
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
        failover.markFailed(connection.config);
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
