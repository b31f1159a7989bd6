import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2';
import { withDeadline } from '../../request-context.js';
import { isReadOnly } from '../errors.js';
import { streamOf } from './private-members.js';
import { interceptQueries, acquireWithTimeout, timedOut } from './timeouts.js';

const DEFAULT_PORT = 3306;

/** The delay, in milliseconds, until an idle connection is tried. */
export const KEEP_ALIVE_MS = 10_000;

/*
 * Failover between the servers of DATABASE_URL, of which one takes writes: a group with a single primary, or a source and its
 * replicas. New connections go to the current host. A connection is used once its host has confirmed that it takes writes. A lost
 * connection, a statement without a response or a read-only error marks the host as failed, and the next one becomes current.
 * Delete this when MySQL Router, ProxySQL or HAProxy in front is a requirement.
 */

interface Connection {
  /** Index of its server. */
  readonly host: number;
  /** Ends the connection when the server does not confirm in time. */
  readonly timer: NodeJS.Timeout;
  /** How often the host had failed when it confirmed. */
  failuresBefore?: number;
}

export class Failover {
  private readonly servers: readonly { host: string; port: number }[];
  /** How often each host has failed. */
  private readonly failures: number[];
  /** Index of the server for new connections. */
  current = 0;
  private readonly connections = new WeakMap<Socket, Connection>();

  /**
   * @param urls one of each server
   * @param timeoutMs how long a server may take to confirm that it takes writes
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

  /** Connects to the current host. A primary that its group has lost accepts connections and commits nothing, hence the timer. */
  open(): Socket {
    const index = this.current;
    const { host = '', port = DEFAULT_PORT } = this.servers[index] ?? {};
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const socket = connect({ host, port, noDelay: true, ...keepAlive });
    const timer = setTimeout(() => {
      socket.destroy(timedOut('The server does not answer.'));
    }, this.timeoutMs).unref();
    this.connections.set(socket, { host: index, timer });
    return socket
      .once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ETIMEDOUT') this.markFailed(socket);
        this.reject(socket);
      })
      .once('close', () => this.reject(socket));
  }

  /** The host of this connection takes writes. */
  confirm(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined) return;
    clearTimeout(connection.timer);
    connection.failuresBefore = this.failures[connection.host];
  }

  /** Whether the host has confirmed and not failed since. */
  isConfirmed(socket: Socket): boolean {
    const connection = this.connections.get(socket);
    return (
      connection?.failuresBefore !== undefined &&
      connection.failuresBefore === this.failures[connection.host]
    );
  }

  /** Whether the host has failed after it had confirmed. */
  hasFailed(socket: Socket): boolean {
    return this.connections.get(socket)?.failuresBefore !== undefined && !this.isConfirmed(socket);
  }

  /** The host did not confirm. */
  reject(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined || connection.failuresBefore !== undefined) return;
    clearTimeout(connection.timer);
    this.leave(connection.host);
  }

  /** The host confirmed and takes no writes any more, so none of its connections is used again. */
  markFailed(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined || !this.isConfirmed(socket)) return;
    this.failures[connection.host] = (this.failures[connection.host] ?? 0) + 1;
    this.leave(connection.host);
  }

  private leave(host: number): void {
    if (host === this.current) this.current = (host + 1) % this.size;
  }
}

/** Newer versions of MariaDB return words. */
const TAKES_WRITES = `SELECT CONCAT(@@global.read_only) IN ('0', 'OFF') AS takes_writes`;

/**
 * Makes a pool return connections to the primary only.
 * @param timeoutMs for all servers together: after that, no other server is tried
 */
export function routeToPrimary(pool: Pool, failover: Failover, timeoutMs: number): void {
  const take = promisify(acquireWithTimeout(pool));

  async function connection(): Promise<PoolConnection> {
    const until = performance.now() + timeoutMs;
    let others = failover.size - 1;
    const isLast = (): boolean => others === 0 || performance.now() >= until;
    for (;;) {
      const { current } = failover;
      const taken = await take(until - performance.now()).catch((error: unknown) => {
        if (isLast() || failover.current === current) throw error;
      });
      if (taken !== undefined) {
        const stream = streamOf(taken);
        if (failover.isConfirmed(stream)) return taken;
        if (failover.hasFailed(stream)) {
          taken.destroy();
          continue;
        }
        // Its own deadline: the request may have waited for long already.
        if (await withDeadline(() => takesWrites(taken)).catch(() => false)) {
          failover.confirm(stream);
          return taken;
        }
        failover.reject(stream);
        taken.destroy();
      }
      if (isLast()) throw noPrimary();
      others -= 1;
    }
  }

  pool.getConnection = (callback) => {
    const fail = callback as (error: unknown) => void;
    void connection().then((taken) => callback(null, taken), fail);
  };
  pool.on('connection', (taken) => endWhenReadOnly(taken, failover));
}

async function takesWrites(connection: PoolConnection): Promise<boolean> {
  const [[row]] = await connection.promise().query<RowDataPacket[]>(TAKES_WRITES);
  return Number(row?.takes_writes) === 1;
}

type Callback = (error: NodeJS.ErrnoException | null, ...more: unknown[]) => void;

/** Statements that only read would go on to succeed on a server that became a replica. */
function endWhenReadOnly(connection: PoolConnection, failover: Failover): void {
  interceptQueries(connection, (send) => (statement, ...more) => {
    const callback = more.at(-1);
    if (typeof callback !== 'function') return send(statement, ...more);
    const watching: Callback = (error, ...results) => {
      if (isReadOnly(error)) {
        failover.markFailed(streamOf(connection));
        connection.release = () => connection.destroy();
      }
      (callback as Callback)(error, ...results);
    };
    return send(statement, ...more.slice(0, -1), watching);
  });
}

function noPrimary(): NodeJS.ErrnoException {
  const error = new Error('None of the servers of DATABASE_URL takes writes.');
  return Object.assign(error, { code: 'ER_OPTION_PREVENTS_STATEMENT' });
}
