import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect, vi } from 'vitest';
import { publishedDocument, schemaChecks } from './published-document.js';

export interface ReceivedEvent {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** `at` is the time of the service. */
interface Delivery {
  at: Date;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** Before the response. */
  delayMs?: number;
}

const DOCUMENT = publishedDocument();
const compile = schemaChecks(DOCUMENT, { allowUnknown: false });

/** What the published document does not allow in an event. */
function violations(event: ReceivedEvent): string[] {
  const body = DOCUMENT.webhooks[event.type]?.post.requestBody?.content['application/json'];
  return body ? compile(body.schema)(event) : [`${event.type} is not in the document.`];
}

/** The endpoint of an app. */
export class EventReceiver {
  readonly deliveries: Delivery[] = [];
  /** The largest number of requests that were open at once. */
  maxConcurrent = 0;
  private open = 0;
  private port = 0;
  answer: Answer = { status: 204 };

  private constructor(private readonly server: Server) {}

  /** @param now the clock of the service, with which the signatures must agree */
  static async start(now: () => Date): Promise<EventReceiver> {
    const server = createServer();
    const receiver = new EventReceiver(server);
    server.on('request', (request, response) => {
      receiver.open += 1;
      receiver.maxConcurrent = Math.max(receiver.maxConcurrent, receiver.open);
      response.once('close', () => {
        receiver.open -= 1;
      });
      void text(request).then((body) => {
        const { url: path = '', headers: received } = request;
        receiver.deliveries.push({ at: now(), path, headers: received, body });
        const { status, headers, body: answer, delayMs = 0 } = receiver.answer;
        setTimeout(() => response.writeHead(status, headers).end(answer), delayMs);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    receiver.port = (server.address() as AddressInfo).port;
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/events`;
  }

  /**
   * The events, in the order of their arrival. Each must be as the published document says.
   * @param secret with which the reference library verifies each, at the time of its arrival
   * @param path only those of the endpoint with this path
   */
  events(secret: string, path?: string): ReceivedEvent[] {
    const webhook = new Webhook(secret);
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const deliveries = this.deliveries.filter((one) => path === undefined || one.path === path);
      return deliveries.map(({ at, headers, body }) => {
        vi.setSystemTime(at);
        const event = webhook.verify(body, headers as Record<string, string>) as ReceivedEvent;
        expect(violations(event)).toEqual([]);
        return event;
      });
    } finally {
      vi.useRealTimers();
    }
  }

  clear(): void {
    this.deliveries.length = 0;
    this.maxConcurrent = 0;
    this.answer = { status: 204 };
  }

  /** Refuses connections until `comeBack`. */
  async goAway(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  async comeBack(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(this.port, '127.0.0.1', resolve);
    });
  }

  stop(): Promise<void> {
    return this.goAway();
  }
}
