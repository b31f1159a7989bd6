import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** A port of this machine on which nobody ought to knock. */
export class Listener {
  /** How many connections came. */
  knocks = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async open(): Promise<Listener> {
    const server = createServer();
    await once(server.listen(0), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No TCP port was given.');
    const listener = new Listener(server, address.port);
    server.on('connection', (socket: Socket) => listener.meet(socket));
    return listener;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private meet(socket: Socket): void {
    this.knocks += 1;
    this.sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
  }
}
