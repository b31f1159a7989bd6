import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What becomes of connections: `refused` is a server that does not run, `hung up` one that ends each at once. */
type State = 'open' | 'refused' | 'hung up';

/** Stands between the application and a database server, and can be cut, slowed and mended. */
export class TcpProxy {
  private state: State = 'open';
  private delayMs = 0;
  private fuse: string | undefined;
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly target: URL,
    private port: number,
  ) {}

  /** @param databaseUrl of a MySQL or MariaDB server, with its port */
  static async start(databaseUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(databaseUrl), 0);
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

  /** Passes new connections on again, at full speed. */
  async mend(): Promise<void> {
    this.state = 'open';
    this.delayMs = 0;
    this.fuse = undefined;
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

  async stop(): Promise<void> {
    this.dropAll();
    await this.close();
  }

  private async listen(): Promise<void> {
    const server = createServer((socket) => this.accept(socket)).listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') this.port = address.port;
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
    this.pass(client, upstream, (chunk) => this.isFuse(chunk));
    this.pass(upstream, client);
  }

  private pass(from: Socket, to: Socket, isCut: (chunk: Buffer) => boolean = () => false): void {
    const forward = (chunk: Buffer): void => {
      if (!to.destroyed) to.write(chunk);
    };
    from.on('data', (chunk: Buffer) => {
      if (isCut(chunk)) {
        void this.cut('hung up');
        return;
      }
      if (this.delayMs === 0) forward(chunk);
      else setTimeout(() => forward(chunk), this.delayMs);
    });
    from.on('close', () => to.destroy());
  }

  private isFuse(chunk: Buffer): boolean {
    return this.fuse !== undefined && chunk.includes(this.fuse);
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  private dropAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}
