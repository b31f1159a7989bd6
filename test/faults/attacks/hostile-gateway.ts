import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

const MEGABYTE = 'x'.repeat(1024 * 1024);
const MAX_MEGABYTES = 64;

type Misbehaviour = (socket: Socket, response: ServerResponse) => void;

/** Responses of a compromised SMS gateway. */
export const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = {
  'not HTTP': (socket) => socket.end('\0\u0001\u0002 220 smtp.example ESMTP\r\n'),
  'a header of one megabyte': (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${MEGABYTE}\r\n`),
  'endless interim responses': (socket) => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
  'an endless body': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    // The size of a chunk is hexadecimal.
    flood(socket, `100000\r\n${MEGABYTE}\r\n`);
  },
  'one byte at a time': (socket) => {
    const timer = setInterval(() => socket.write('H'), 50);
    socket.once('close', () => clearInterval(timer));
  },
  'an invalid Content-Length': (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'),
  'a huge Retry-After': (socket) =>
    socket.end(`HTTP/1.1 503 Busy\r\nRetry-After: ${'9'.repeat(400)}\r\nContent-Length: 0\r\n\r\n`),
  'a connection reset': (socket) => socket.resetAndDestroy(),
  'a body with a script and __proto__': (_socket, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end('{"__proto__":{"polluted":true},"to":"<script>alert(1)</script>"}');
  },
};

/** Redirects to another port. */
export function redirectTo(port: number): Misbehaviour {
  return (_socket, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
}

/** An SMS gateway on loopback that misbehaves for chosen phones, and accepts messages to all others. */
export class HostileGateway {
  private readonly behaviours = new Map<string, Misbehaviour>();
  private readonly texts = new Map<string, string>();

  private constructor(
    private readonly server: Server,
    private readonly url: string,
  ) {}

  static async open(): Promise<HostileGateway> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string')
      throw new Error('The server has no TCP port.');
    const gateway = new HostileGateway(server, `http://127.0.0.1:${address.port}/sms`);
    server.on('request', async (request, response: ServerResponse) => {
      const { to, text: message } = JSON.parse(await text(request)) as Record<string, string>;
      gateway.respond(to ?? '', message ?? '', response);
    });
    return gateway;
  }

  /** Environment of a service that uses this gateway and logs everything. */
  get settings(): Record<string, string> {
    return {
      DEMO: '0',
      LOG_LEVEL: 'trace',
      SMS_SENDER: 'webhook',
      SMS_WEBHOOK_URL: this.url,
      SMS_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
    };
  }

  misbehave(phone: string, behaviour: Misbehaviour): void {
    this.behaviours.set(phone, behaviour);
  }

  /** The last message to this phone, even if the gateway did not accept it. */
  messageTo(phone: string): string | undefined {
    return this.texts.get(phone);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private respond(to: string, message: string, response: ServerResponse): void {
    this.texts.set(to, message);
    const { socket } = response;
    const behaviour = this.behaviours.get(to);
    if (behaviour === undefined || socket === null) response.writeHead(204).end();
    else
      behaviour(
        socket.on('error', () => undefined),
        response,
      );
  }
}

/** Writes as fast as the client reads, up to 64 MB. */
function flood(socket: Socket, piece: string): void {
  let megabytes = 0;
  const pieces = piece.repeat(Math.ceil(MEGABYTE.length / piece.length));
  const more = (): void => {
    while (!socket.destroyed && megabytes < MAX_MEGABYTES) {
      megabytes += 1;
      if (!socket.write(pieces)) return;
    }
  };
  socket.on('drain', more);
  more();
}

/** A TCP port to which the service must not connect. Counts its connections. */
export class ForbiddenTarget {
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: TcpServer,
    readonly port: number,
  ) {}

  static async open(): Promise<ForbiddenTarget> {
    const server = createTcpServer();
    await once(server.listen(0), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string')
      throw new Error('The server has no TCP port.');
    const target = new ForbiddenTarget(server, address.port);
    server.on('connection', (socket: Socket) => target.accept(socket));
    return target;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(socket: Socket): void {
    this.connections += 1;
    this.sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
  }
}
