import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2';
import { withDeadline } from '../../request-context.js';
import { isReadOnly } from '../errors.js';
import { interceptQueries, streamOf, takingFrom, timedOut } from './timeouts.js';

const DEFAULT_PORT = 3306;

/** The delay, in milliseconds, until an idle connection is tried. */
export const KEEP_ALIVE_MS = 10_000;

/** A connection to one of the servers. */
interface Line {
  /** The place of its server. */
  readonly place: number;
  /** Ends it when its server does not say in time that it takes writes. */
  readonly silence: NodeJS.Timeout;
  /** How often its server had been deserted when it said so. */
  keptAfter?: number;
}

/**
 * Servers of which one takes writes, and another when that one has failed: a group with a single primary, or a source and its
 * replicas. Connections are opened to the one that last took them, and to the next when it does not.
 */
export class Failover {
  private readonly servers: readonly { host: string; port: number }[];
  /** How often each was deserted, by its place. */
  private readonly desertions: number[];
  /** The place of the server that new connections go to. */
  turn = 0;
  private readonly lines = new WeakMap<Socket, Line>();

  /**
   * @param urls one of each server
   * @param answerMs the longest, in milliseconds, until a server has said that it takes writes
   */
  constructor(
    urls: readonly string[],
    private readonly answerMs: number,
  ) {
    this.servers = urls.map((url) => {
      const { hostname, port } = new URL(url);
      return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || DEFAULT_PORT) };
    });
    this.desertions = urls.map(() => 0);
  }

  get size(): number {
    return this.servers.length;
  }

  /**
   * A connection to the server whose turn it is. It is the next one's when this fails, or ends before it was kept; or when a
   * statement gets no answer on one that was: a primary that its group has lost takes connections and commits nothing.
   */
  open(): Socket {
    const place = this.turn;
    const { host = '', port = DEFAULT_PORT } = this.servers[place] ?? {};
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const socket = connect({ host, port, noDelay: true, ...keepAlive });
    const silence = setTimeout(() => {
      socket.destroy(timedOut('The server does not answer.'));
    }, this.answerMs).unref();
    this.lines.set(socket, { place, silence });
    return socket
      .once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ETIMEDOUT') this.markFailed(socket);
        this.leave(socket);
      })
      .once('close', () => this.leave(socket));
  }

  /** Its server takes writes. */
  keep(socket: Socket): void {
    const line = this.lines.get(socket);
    if (line === undefined) return;
    clearTimeout(line.silence);
    line.keptAfter = this.desertions[line.place];
  }

  isKept(socket: Socket): boolean {
    const line = this.lines.get(socket);
    return line?.keptAfter !== undefined && line.keptAfter === this.desertions[line.place];
  }

  /** Whether it was kept, until its server was deserted. */
  isDeserted(socket: Socket): boolean {
    return this.lines.get(socket)?.keptAfter !== undefined && !this.isKept(socket);
  }

  /** A server did not take writes when it was asked, so it is the next one's turn, unless that was found out before. */
  leave(socket: Socket): void {
    const line = this.lines.get(socket);
    if (line === undefined || line.keptAfter !== undefined) return;
    clearTimeout(line.silence);
    this.pass(line);
  }

  /** The same for a server that took them when it was asked: none of its connections is kept any more. */
  markFailed(socket: Socket): void {
    const line = this.lines.get(socket);
    if (line === undefined || !this.isKept(socket)) return;
    this.desertions[line.place] = (this.desertions[line.place] ?? 0) + 1;
    this.pass(line);
  }

  private pass({ place }: Line): void {
    if (place === this.turn) this.turn = (place + 1) % this.size;
  }
}

/** MariaDB's newer versions answer in words. */
const TAKES_WRITES = `SELECT CONCAT(@@global.read_only) IN ('0', 'OFF') AS takes_writes`;

/**
 * Makes a pool give out connections to the server of a group that takes writes, and end those to one that no longer does.
 * @param waitMs milliseconds: whoever has waited so long, for all servers together, begins with no other
 */
export function toPrimary(pool: Pool, group: Failover, waitMs: number): void {
  const take = promisify(takingFrom(pool));

  async function connection(): Promise<PoolConnection> {
    const until = performance.now() + waitMs;
    let others = group.size - 1;
    const isLast = (): boolean => others === 0 || performance.now() >= until;
    for (;;) {
      const { turn } = group;
      const taken = await take(until - performance.now()).catch((error: unknown) => {
        if (isLast() || group.turn === turn) throw error;
      });
      if (taken !== undefined) {
        const stream = streamOf(taken);
        if (group.isKept(stream)) return taken;
        if (group.isDeserted(stream)) {
          taken.destroy();
          continue;
        }
        // Of the server, however long whoever asks for it has waited.
        const isPrimary = await withDeadline(() => takesWrites(taken)).catch(() => false);
        if (isPrimary) {
          group.keep(stream);
          return taken;
        }
        group.leave(stream);
        taken.destroy();
      }
      if (isLast()) throw noPrimary();
      others -= 1;
    }
  }

  pool.getConnection = (taker) => {
    const refuse = taker as (error: unknown) => void;
    void connection().then((taken) => taker(null, taken), refuse);
  };
  pool.on('connection', (taken) => endOnceRefused(taken, group));
}

async function takesWrites(connection: PoolConnection): Promise<boolean> {
  const [[row]] = await connection.promise().query<RowDataPacket[]>(TAKES_WRITES);
  return Number(row?.takes_writes) === 1;
}

type Answered = (error: NodeJS.ErrnoException | null, ...more: unknown[]) => void;

/** A connection whose server became a replica would be as good as before for all that only reads. */
function endOnceRefused(connection: PoolConnection, group: Failover): void {
  interceptQueries(connection, (send) => (statement, ...more) => {
    const answered = more.at(-1);
    if (typeof answered !== 'function') return send(statement, ...more);
    const watching: Answered = (error, ...answer) => {
      if (isReadOnly(error)) {
        group.markFailed(streamOf(connection));
        connection.release = () => connection.destroy();
      }
      (answered as Answered)(error, ...answer);
    };
    return send(statement, ...more.slice(0, -1), watching);
  });
}

function noPrimary(): NodeJS.ErrnoException {
  const error = new Error('None of the servers of DATABASE_URL takes writes.');
  return Object.assign(error, { code: 'ER_OPTION_PREVENTS_STATEMENT' });
}
