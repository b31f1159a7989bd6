import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** What becomes of connections: `refused` is a server that does not run, `hung up` one that ends each at once. */
type State = 'open' | 'refused' | 'hung up';

/** How many bytes of answers a connection passes on, and whether it ends then, or says no more. */
interface Allowance {
  bytes: () => number;
  isCut: boolean;
}

/** Stands between the application and a database server, and can be cut, slowed, stopped and mended. */
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

  /** The `DATABASE_URL` that leads through here. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Ends what is open, and keeps new connections from working. */
  async cut(how: Exclude<State, 'open'> = 'refused'): Promise<void> {
    this.state = how;
    this.dropAll();
    if (how === 'refused') await this.close();
  }

  /** Passes connections on again, at full speed, and what was held. */
  async mend(): Promise<void> {
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

  /** Delays whatever passes, each way, by so many milliseconds. */
  slow(milliseconds: number): void {
    this.delayMs = milliseconds;
  }

  /** Hangs up, until mended, when the application is about to send this statement. */
  cutBefore(statement: string): void {
    this.fuse = statement;
  }

  /** Hangs up, until mended, when this statement of the application is answered. */
  cutAfterStatement(statement: string): void {
    this.unheard = statement;
  }

  /** Drops this statement, until mended, whoever sends it: it gets no answer, and all others do. */
  swallow(statement: string): void {
    this.swallowed = statement;
  }

  /**
   * Passes this statement on once, and nothing after it, either way, on its connection: the server does not even hear when the
   * application hangs up, as when a host or a network is gone. Answers when it has.
   */
  strandAfter(statement: RegExp): Promise<void> {
    return new Promise((stranded) => {
      this.strand = { statement, stranded };
    });
  }

  /** Cuts each connection, until mended, when so many more bytes of answers have passed. Asked once for each. */
  cutAfter(bytes: () => number): void {
    this.allowance = { bytes, isCut: true };
  }

  /** The same, but nobody is told: what is answered from then on gets lost. */
  loseAfter(bytes: () => number): void {
    this.allowance = { bytes, isCut: false };
  }

  /** Holds whatever the application sends, until mended: a server that stands still. */
  hold(): void {
    this.isHolding = true;
  }

  /**
   * Holds this statement once, until mended: the server gets it then, though the application may have hung up, and the connection
   * ends with it. So it is when a COMMIT waits for a disk or a replica for longer than anybody waits for it.
   */
  holdBack(statement: string): void {
    this.heldBack = statement;
  }

  /** Passes this statement on, and holds whatever the application sends after it. Answers what that is on its connection. */
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
      // After what was lost, nothing comes: a connection has no gaps.
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

  /** How chunks get from one end to the other, which ends with the first. */
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
