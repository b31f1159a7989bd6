import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** `refused` acts like a stopped server. `closed` accepts each connection and closes it at once. */
type State = 'open' | 'refused' | 'closed';

/** Limits the response bytes of a connection, which then closes (`isCut`) or stays silent. */
interface ResponseLimit {
  bytes: () => number;
  isCut: boolean;
}

/** A proxy between the application and a database server that can cut, slow and stop the traffic. */
export class TcpProxy {
  private state: State = 'open';
  private delayMs = 0;
  private cutBeforeSql: string | undefined;
  private responseLimit: ResponseLimit | undefined;
  private cutAfterSql: string | undefined;
  private droppedSql: string | undefined;
  private blackhole: { statement: RegExp; reached: () => void } | undefined;
  private heldSql: string | undefined;
  private replacement: { sql: string; by: string } | undefined;
  private isHolding = false;
  /** Functions that pass on the held data. */
  private readonly held: (() => void)[] = [];
  private holdAfterSql: { statement: string; onNextData: (next: string) => void } | undefined;
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

  /** Closes open connections, and refuses or closes new ones. */
  async cut(how: Exclude<State, 'open'> = 'refused'): Promise<void> {
    this.state = how;
    this.dropAll();
    if (how === 'refused') await this.close();
  }

  /** Removes every fault and passes on held data. */
  async repair(): Promise<void> {
    this.state = 'open';
    this.delayMs = 0;
    this.cutBeforeSql = undefined;
    this.cutAfterSql = undefined;
    this.droppedSql = undefined;
    this.blackhole = undefined;
    this.responseLimit = undefined;
    this.holdAfterSql = undefined;
    this.heldSql = undefined;
    this.isHolding = false;
    for (const pass of this.held.splice(0)) pass();
    if (!this.server) await this.listen();
  }

  /** Delays all data by this time in each direction. */
  slow(milliseconds: number): void {
    this.delayMs = milliseconds;
  }

  /** Closes all connections, and each new one, when the application sends this statement. The server does not get it. */
  cutBeforeStatement(statement: string): void {
    this.cutBeforeSql = statement;
  }

  /** Closes all connections, and each new one, when the server has responded to this statement. */
  cutAfterStatement(statement: string): void {
    this.cutAfterSql = statement;
  }

  /** Drops this statement on every connection, so that it gets no response. */
  dropStatement(statement: string): void {
    this.droppedSql = statement;
  }

  /**
   * Passes this statement on once and then drops all data of its connection, in both directions, including its close. Simulates a
   * lost host or network. Resolves when the statement has passed.
   */
  blackholeAfter(statement: RegExp): Promise<void> {
    return new Promise((reached) => {
      this.blackhole = { statement, reached };
    });
  }

  /** Closes each connection after a number of response bytes, which is chosen once per connection. */
  cutAfterBytes(bytes: () => number): void {
    this.responseLimit = { bytes, isCut: true };
  }

  /** Drops all data of each connection after a number of response bytes, without closing it. */
  dropAfterBytes(bytes: () => number): void {
    this.responseLimit = { bytes, isCut: false };
  }

  /** Replaces a statement by another one of the same length, like a proxy that changes session settings. */
  replaceSql(sql: string, by: string): void {
    this.replacement = { sql, by };
  }

  /** Holds all data from the application, like a suspended server. */
  hold(): void {
    this.isHolding = true;
  }

  /**
   * Holds this statement once. The server gets it after `repair`, even if the application has closed the connection. Simulates a
   * COMMIT that waits for a disk or a replica.
   */
  holdStatement(statement: string): void {
    this.heldSql = statement;
  }

  /**
   * Passes this statement on and then holds all data from the application. Resolves to the next data that the application sends on
   * the same connection.
   */
  holdAfter(statement: string): Promise<string> {
    return new Promise((onNextData) => {
      this.holdAfterSql = { statement, onNextData };
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
    this.track(client);
    if (this.state !== 'open') {
      client.destroy();
      return;
    }
    const upstream = connect(Number(this.target.port || 3306), this.target.hostname);
    this.track(upstream);
    const send = this.pass(client, upstream);
    let isNextHeld = false;
    let isCutOnResponse = false;
    client.on('data', (received: Buffer) => {
      const sent = received.toString('latin1');
      const { sql = '', by = '' } = this.replacement ?? {};
      const text = sent.replace(sql, by);
      const chunk = text === sent ? received : Buffer.from(text, 'latin1');
      if (this.blackhole?.statement.test(text)) {
        this.blackhole.reached();
        this.blackhole = undefined;
        for (const socket of [client, upstream])
          socket.removeAllListeners('data').removeAllListeners('close').resume();
        upstream.write(chunk);
        return;
      }
      if (this.heldSql !== undefined && text.endsWith(this.heldSql)) {
        this.heldSql = undefined;
        client.removeAllListeners('close');
        this.held.push(() => upstream.end(chunk));
        return;
      }
      if (this.cutBeforeSql !== undefined && text.endsWith(this.cutBeforeSql)) {
        void this.cut('closed');
        return;
      }
      isCutOnResponse = this.cutAfterSql !== undefined && text.endsWith(this.cutAfterSql);
      if (this.droppedSql !== undefined && text.endsWith(this.droppedSql)) return;
      if (isNextHeld) this.holdAfterSql?.onNextData(text);
      isNextHeld = false;
      if (this.isHolding) this.held.push(() => send(chunk));
      else send(chunk);
      if (this.holdAfterSql === undefined || !text.includes(this.holdAfterSql.statement)) return;
      isNextHeld = true;
      this.isHolding = true;
    });
    const sendBack = this.pass(upstream, client);
    let limit: ResponseLimit | undefined;
    let bytesLeft = Infinity;
    upstream.on('data', (chunk: Buffer) => {
      if (isCutOnResponse) {
        void this.cut('closed');
        return;
      }
      // TCP has no gaps: no data follows lost data.
      if (bytesLeft <= 0) return;
      if (limit !== this.responseLimit) {
        ({ responseLimit: limit } = this);
        bytesLeft = limit?.bytes() ?? Infinity;
      }
      sendBack(chunk.subarray(0, bytesLeft));
      bytesLeft -= chunk.length;
      if (bytesLeft > 0 || !limit?.isCut) return;
      client.end();
      upstream.destroy();
    });
  }

  /** Closes `to` when `from` closes. Returns a function that writes a chunk to `to`, after the delay. */
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

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  private dropAll(): void {
    this.held.length = 0;
    for (const socket of this.sockets) socket.destroy();
  }
}
