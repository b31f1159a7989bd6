import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** How the proxy treats connections: `refused` acts like a stopped server, `hung up` closes each connection at once. */
type State = 'open' | 'refused' | 'hung up';

/** The number of response bytes that a connection passes on, and whether it then closes or stays silent. */
interface Allowance {
  bytes: () => number;
  isCut: boolean;
}

/** A proxy between the application and a database server that can cut, slow and stop the traffic. */
export class TcpProxy {
  private state: State = 'open';
  private delayMs = 0;
  private fuse: string | undefined;
  private allowance: Allowance | undefined;
  private unheard: string | undefined;
  private swallowed: string | undefined;
  private strand: { statement: RegExp; stranded: () => void } | undefined;
  private heldBack: string | undefined;
  private isHolding = false;
  private readonly held: (() => void)[] = [];
  private trap: { statement: string; sprung: (next: string) => void } | undefined;
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly target: URL,
    private readonly port: number,
  ) {}

  /** @param databaseUrl of a MySQL or MariaDB server, with its port */
  static async start(databaseUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(databaseUrl), await freePort());
    await proxy.listen();
    return proxy;
  }

  /** A `DATABASE_URL` through the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Closes open connections and breaks new ones. */
  async cut(how: Exclude<State, 'open'> = 'refused'): Promise<void> {
    this.state = how;
    this.dropAll();
    if (how === 'refused') await this.close();
  }

  /** Removes every fault and passes on held data. */
  async repair(): Promise<void> {
    this.state = 'open';
    this.delayMs = 0;
    this.fuse = undefined;
    this.unheard = undefined;
    this.swallowed = undefined;
    this.strand = undefined;
    this.allowance = undefined;
    this.trap = undefined;
    this.heldBack = undefined;
    this.isHolding = false;
    for (const pass of this.held.splice(0)) pass();
    if (!this.server) await this.listen();
  }

  /** Delays the data in each direction, in milliseconds. */
  slow(milliseconds: number): void {
    this.delayMs = milliseconds;
  }

  /** Closes a connection before it sends this statement to the server. */
  cutBefore(statement: string): void {
    this.fuse = statement;
  }

  /** Closes a connection when the server has responded to this statement. */
  cutAfterStatement(statement: string): void {
    this.unheard = statement;
  }

  /** Drops this statement on every connection, so that it gets no response. */
  swallow(statement: string): void {
    this.swallowed = statement;
  }

  /**
   * Passes this statement on once and drops everything after it on its connection, in both directions, including the end of the
   * connection, as when a host or a network is gone. Resolves once it has.
   */
  strandAfter(statement: RegExp): Promise<void> {
    return new Promise((stranded) => {
      this.strand = { statement, stranded };
    });
  }

  /** Closes each connection after a number of response bytes, which is chosen once per connection. */
  cutAfter(bytes: () => number): void {
    this.allowance = { bytes, isCut: true };
  }

  /** Drops all data of each connection after a number of response bytes, without closing it. */
  loseAfter(bytes: () => number): void {
    this.allowance = { bytes, isCut: false };
  }

  /** Holds all data from the application, like a suspended server. */
  hold(): void {
    this.isHolding = true;
  }

  /**
   * Holds this statement once. The server gets it after `repair`, even if the application has closed the connection, like a COMMIT
   * that waits for a disk or a replica.
   */
  holdBack(statement: string): void {
    this.heldBack = statement;
  }

  /** Passes this statement on and holds the next data of its connection, which it returns. */
  holdAfter(statement: string): Promise<string> {
    return new Promise((sprung) => {
      this.trap = { statement, sprung };
    });
  }

  async stop(): Promise<void> {
    this.dropAll();
    await this.close();
  }

  private async listen(): Promise<void> {
    const server = createServer((socket) => this.accept(socket)).listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.server = server;
  }

  private async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.close();
    await once(server, 'close');
  }

  private accept(client: Socket): void {
    this.keep(client);
    if (this.state !== 'open') {
      client.destroy();
      return;
    }
    const upstream = connect(Number(this.target.port || 3306), this.target.hostname);
    this.keep(upstream);
    const send = this.pass(client, upstream);
    let isTrapped = false;
    let isUnheard = false;
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      if (this.strand?.statement.test(text)) {
        this.strand.stranded();
        this.strand = undefined;
        for (const socket of [client, upstream])
          socket.removeAllListeners('data').removeAllListeners('close').resume();
        upstream.write(chunk);
        return;
      }
      if (this.heldBack !== undefined && text.endsWith(this.heldBack)) {
        this.heldBack = undefined;
        client.removeAllListeners('close');
        this.held.push(() => upstream.end(chunk));
        return;
      }
      if (this.fuse !== undefined && text.endsWith(this.fuse)) {
        void this.cut('hung up');
        return;
      }
      isUnheard = this.unheard !== undefined && text.endsWith(this.unheard);
      if (this.swallowed !== undefined && text.endsWith(this.swallowed)) return;
      if (isTrapped) this.trap?.sprung(text);
      isTrapped = false;
      if (this.isHolding) this.held.push(() => send(chunk));
      else send(chunk);
      if (this.trap === undefined || !text.includes(this.trap.statement)) return;
      isTrapped = true;
      this.isHolding = true;
    });
    const answer = this.pass(upstream, client);
    let allowance: Allowance | undefined;
    let rest = Infinity;
    upstream.on('data', (chunk: Buffer) => {
      if (isUnheard) {
        void this.cut('hung up');
        return;
      }
      // A connection has no gaps: nothing follows lost data.
      if (rest <= 0) return;
      if (allowance !== this.allowance) {
        ({ allowance } = this);
        rest = allowance?.bytes() ?? Infinity;
      }
      answer(chunk.subarray(0, rest));
      rest -= chunk.length;
      if (rest > 0 || !allowance?.isCut) return;
      client.end();
      upstream.destroy();
    });
  }

  /** Copies chunks from one socket to the other, and closes the other with the first. */
  private pass(from: Socket, to: Socket): (chunk: Buffer) => void {
    const forward = (chunk: Buffer): void => {
      if (!to.destroyed) to.write(chunk);
    };
    from.on('close', () => to.destroy());
    return (chunk) => {
      if (this.delayMs === 0) forward(chunk);
      else setTimeout(() => forward(chunk), this.delayMs);
    };
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  private dropAll(): void {
    this.held.length = 0;
    for (const socket of this.sockets) socket.destroy();
  }
}
