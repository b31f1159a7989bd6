import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Attempt {
  method: string;
  key: string | undefined;
}

/**
 * A proxy in front of the app that loses one response: of the first request that writes. The app has handled it when the connection
 * closes without a response.
 */
export class LossyProxy {
  /** The requests that write, in order. */
  attempts: Attempt[] = [];

  private constructor(private readonly server: Server) {}

  /** @param target the URL of the app */
  static async open(target: string): Promise<LossyProxy> {
    const server = createServer();
    const proxy = new LossyProxy(server);
    server.on('request', async (incoming: IncomingMessage, outgoing) => {
      const { method = '', url = '/', headers, socket } = incoming;
      if (url === '/blank') {
        outgoing
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<link rel="icon" href="data:,">');
        return;
      }
      const forwarded = request(new URL(url, target), { method, headers, agent: false });
      forwarded.end(await buffer(incoming));
      const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
      const body = await buffer(response);
      if (method !== 'GET')
        proxy.attempts.push({ method, key: headers['idempotency-key']?.toString() });
      if (method !== 'GET' && proxy.attempts.length === 1) {
        socket.destroy();
        return;
      }
      const { connection: _connection, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode ?? 500, rest).end(body);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
