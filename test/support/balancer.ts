import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const HEALTH_CHECK_INTERVAL_MS = 100;

/**
 * A round-robin load balancer for the processes whose `/readyz` returns 200. It keeps connections alive and never retries.
 */
export class Balancer {
  private readonly server = createServer((incoming, outgoing) => this.forward(incoming, outgoing));
  private readonly agent = new Agent({ keepAlive: true });
  private readonly timer = setInterval(() => void this.checkHealth(), HEALTH_CHECK_INTERVAL_MS);
  private ready: string[] = [];
  private requests = 0;

  /** @param backends base URLs */
  private constructor(private readonly backends: readonly string[]) {}

  static async start(backends: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(backends);
    await once(balancer.server.listen(0, '127.0.0.1'), 'listening');
    await balancer.checkHealth();
    return balancer;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Whether the backend was ready at the last check. */
  routesTo(backend: string): boolean {
    return this.ready.includes(backend);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.agent.destroy();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async checkHealth(): Promise<void> {
    const responses = await Promise.all(this.backends.map(isReady));
    this.ready = this.backends.filter((_, index) => responses[index]);
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.requests += 1;
    const backend = this.ready[this.requests % this.ready.length];
    if (backend === undefined) {
      outgoing.writeHead(502).end('no backend is ready');
      return;
    }
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

async function isReady(backend: string): Promise<boolean> {
  try {
    const response = await fetch(`${backend}/readyz`, { signal: AbortSignal.timeout(1000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
