import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The interval of the health checks. */
const LOOK_MS = 100;

/**
 * A load balancer in front of the service: it sends requests in turn to the processes whose `/readyz` returns 200, keeps
 * connections open, and never retries.
 */
export class Balancer {
  private readonly server = createServer((incoming, outgoing) => this.forward(incoming, outgoing));
  private readonly agent = new Agent({ keepAlive: true });
  private readonly timer = setInterval(() => void this.look(), LOOK_MS);
  private ready: string[] = [];
  private turns = 0;

  /** @param backends base URLs */
  private constructor(private readonly backends: readonly string[]) {}

  static async start(backends: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(backends);
    await once(balancer.server.listen(0, '127.0.0.1'), 'listening');
    await balancer.look();
    return balancer;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  sendsTo(backend: string): boolean {
    return this.ready.includes(backend);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.agent.destroy();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async look(): Promise<void> {
    const responses = await Promise.all(this.backends.map(isReady));
    this.ready = this.backends.filter((_, place) => responses[place]);
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.turns += 1;
    const backend = this.ready[this.turns % this.ready.length];
    if (backend === undefined) {
      outgoing.writeHead(502).end('nobody is ready');
      return;
    }
    const { method, headers, url = '/' } = incoming;
    const onward = request(new URL(url, backend), { method, headers, agent: this.agent });
    onward.on('response', (response) => {
      const { connection: _, ...kept } = response.headers;
      response.pipe(outgoing.writeHead(response.statusCode ?? 502, kept));
    });
    onward.on('error', ({ message }) => outgoing.writeHead(502).end(message));
    incoming.pipe(onward);
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
