import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  status: number;
  /** When the request was sent, by `performance.now()`. */
  sentAt: number;
  /** `Retry-After` of a 503. */
  retryAfter: string | undefined;
  /** Milliseconds from the first byte of the request to the last byte of the response. */
  durationMs: number;
}

const CLOSED = new Error('The service closed the connection.');

/** A connection that sends raw requests, one at a time. It uses so little memory that a test can open a thousand. */
export class RawConnection {
  private received = '';
  private waiting?: { resolve: (response: RawResponse) => void; reject: (error: Error) => void };
  private sentAt = 0;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1').setNoDelay(true);
    socket.on('data', (chunk: string) => this.read(chunk));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(CLOSED));
  }

  static async connect(baseUrl: string): Promise<RawConnection> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** Sends a request and returns its response. @throws if the connection closes first */
  send(request: string): Promise<RawResponse> {
    this.sentAt = performance.now();
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) throw CLOSED;
      this.waiting = { resolve, reject };
      this.socket.write(request, 'latin1');
    });
  }

  get isWaiting(): boolean {
    return this.waiting !== undefined;
  }

  /** Sends the next part of the request. */
  sendMore(part: string): void {
    this.socket.write(part, 'latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  private read(chunk: string): void {
    this.received += chunk;
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.received.slice(0, end);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (this.received.length < end + 4 + length) return;
    this.received = '';
    this.waiting?.resolve({
      status: Number(head.slice(9, 12)),
      retryAfter: /^retry-after: (.*)$/im.exec(head)?.[1],
      sentAt: this.sentAt,
      durationMs: performance.now() - this.sentAt,
    });
    this.waiting = undefined;
  }

  private fail(error: Error): void {
    this.waiting?.reject(error);
    this.waiting = undefined;
  }
}
