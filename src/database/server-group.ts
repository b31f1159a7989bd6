import { connect, type Socket } from 'node:net';
import { timedOut } from './timed-out.js';

const DEFAULT_PORT = 3306;

/** The delay, in milliseconds, until an idle connection is tried. */
export const KEEP_ALIVE_MS = 10_000;

/**
 * Servers of which one takes writes, and another when that one has failed: a group with a single primary, or a source and its
 * replicas. Connections are opened to the one that last took them, and to the next when it does not.
 */
export class ServerGroup {
  private readonly servers: readonly { host: string; port: number }[];
  /** The place of the server that new connections go to. */
  turn = 0;
  private readonly places = new WeakMap<Socket, number>();
  /** Of each server, by its place, the connections on which it has said that it takes writes. */
  private readonly kept: WeakSet<Socket>[];

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
    this.kept = urls.map(() => new WeakSet());
  }

  get size(): number {
    return this.servers.length;
  }

  /**
   * A connection to the server whose turn it is. It is the next one's when this fails, or ends before it was kept; or when a
   * statement gets no answer: a primary that its group has lost takes connections and commits nothing.
   */
  open(): Socket {
    const { host = '', port = DEFAULT_PORT } = this.servers[this.turn] ?? {};
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const socket = connect({ host, port, noDelay: true, ...keepAlive });
    this.places.set(socket, this.turn);
    const silent = setTimeout(() => {
      if (!this.isKept(socket)) socket.destroy(timedOut('The server does not answer.'));
    }, this.answerMs).unref();
    const leave = (): void => {
      clearTimeout(silent);
      if (!this.isKept(socket)) this.leave(socket);
    };
    return socket
      .once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ETIMEDOUT') this.desert(socket);
        leave();
      })
      .once('close', leave);
  }

  /** Its server takes writes. */
  keep(socket: Socket): void {
    this.keptWith(socket)?.add(socket);
  }

  isKept(socket: Socket): boolean {
    return this.keptWith(socket)?.has(socket) === true;
  }

  /** Its server does not take writes, so it is the next one's turn, unless that was found out before. */
  leave(socket: Socket): void {
    if (this.hasTurn(socket)) this.turn = (this.turn + 1) % this.size;
  }

  /** The same when it did before: of its other connections, none is kept either. */
  desert(socket: Socket): void {
    const place = this.places.get(socket);
    if (place !== undefined) this.kept[place] = new WeakSet();
    this.leave(socket);
  }

  /** Whether it goes to the server that new connections go to. */
  hasTurn(socket: Socket): boolean {
    return this.places.get(socket) === this.turn;
  }

  private keptWith(socket: Socket): WeakSet<Socket> | undefined {
    return this.kept[this.places.get(socket) ?? -1];
  }
}
