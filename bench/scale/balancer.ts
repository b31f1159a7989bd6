import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A round-robin load balancer. It keeps connections alive and never retries. */
export class Balancer {
  private readonly server = createServer((incoming, outgoing) => this.forward(incoming, outgoing));
  private readonly agent = new Agent({ keepAlive: true });
  private requests = 0;

  /** @param backends base URLs */
  private constructor(private readonly backends: readonly string[]) {}

  static async start(backends: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(backends);
    await once(balancer.server.listen(0, '127.0.0.1'), 'listening');
    return balancer;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.requests += 1;
    const backend = this.backends[this.requests % this.backends.length];
    const { method, headers, url = '/' } = incoming;
    const upstream = request(new URL(url, backend), { method, headers, agent: this.agent });
    upstream.on('response', (response) => {
      const { connection: _, ...responseHeaders } = response.headers;
      response.pipe(outgoing.writeHead(response.statusCode ?? 502, responseHeaders));
    });
    upstream.on('error', ({ message }) => outgoing.writeHead(502).end(message));
    incoming.pipe(upstream);
  }
}
