import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** An endpoint that answers each request with these bytes, or does anything else with its connection. */
export class RawReceiver {
  connections = 0;
  /** What it has received. */
  received = '';
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(answer: string | ((socket: Socket) => void)): Promise<RawReceiver> {
    const server = createServer();
    const receiver = new RawReceiver(server);
    server.on('connection', (socket) => {
      receiver.connections += 1;
      receiver.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        receiver.received += chunk.toString();
        if (!receiver.received.endsWith('}')) return;
        if (typeof answer === 'string') socket.write(answer);
        else answer(socket);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/events`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}
