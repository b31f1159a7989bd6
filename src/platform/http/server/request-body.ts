import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { SECOND } from '../../clock.js';
import { AppError } from '../../errors.js';

/** Of one process, with some 10 kB each as long as they ask for nothing. Behind a proxy there are far fewer. */
const MOST_CONNECTIONS = 4096;
/** As much as its connection takes. */
const LITTLE_BYTES = 16_384;

export class RequestTimeout extends AppError {
  static readonly code = 'request_timeout';

  constructor() {
    super(
      RequestTimeout.code,
      'The body did not arrive in time. Send it at once, on a new connection: this one is closed.',
    );
  }
}

/** A reader of bodies. */
interface Reader {
  parse: RequestHandler;
  /** Of a body, after decompression. */
  mostBytes: number;
}

/**
 * Reads a body into `request.body`. What is still to come after `withinMs` milliseconds, or when the caller has left, is not waited
 * for: the connection ends with the answer.
 * @throws RequestTimeout; ServiceUnavailable when too much is on its way or worked on; what the parser refuses the body with
 */
export async function arrivalOf(
  request: Request,
  response: Response,
  { parse, mostBytes }: Reader,
  withinMs: number,
): Promise<void> {
  request.context.permit?.suspend(memoryFor(request, mostBytes));
  try {
    await new Promise<void>((resolve, reject) => {
      const end = (error?: unknown): void => {
        clearTimeout(timer);
        response.off('close', leave);
        if (error === undefined) resolve();
        else reject(error);
      };
      const leave = (): void => end(new RequestTimeout());
      const timer = setTimeout(() => {
        response.setHeader('Connection', 'close');
        leave();
      }, withinMs);
      // A parser that decompresses does not hear of it.
      response.once('close', leave);
      parse(request, response, end);
    });
  } finally {
    await request.context.permit?.resume();
  }
}

/** What a body may take; none where it is little, or refused as soon as it is looked at. */
function memoryFor({ headers }: Request, most: number): number {
  if (headers['content-encoding'] !== undefined) return most;
  const announced = Number(headers['content-length'] ?? most);
  return announced > most || announced <= LITTLE_BYTES ? 0 : announced;
}

/**
 * Node's own limits, for connections, beyond which it hangs up on whoever comes, for headers, which nobody of ours sees before
 * they are complete, and for bodies that nobody reads. Node looks for what is overdue once a second.
 */
export function limitArrival(server: Server, withinMs: number): void {
  server.maxConnections = MOST_CONNECTIONS;
  server.headersTimeout = withinMs;
  server.requestTimeout = 2 * withinMs;
  // An option of Node's, which Nest has no way to pass on. The server reads it when it begins to listen.
  Object.assign(server, { connectionsCheckingInterval: SECOND });
}

/**
 * Ends connections whose answers nobody reads for two seconds more than a request may take to arrive (`limitArrival`), or for twice
 * that, as Node looks again where some was read since. Whoever waits for an answer keeps theirs, however long the service takes.
 */
export function limitUnread(server: Server): void {
  // Sooner, it would end requests that are overdue before Node answers them.
  server.timeout = server.requestTimeout + 2 * SECOND;
  server.on('request', (_request, response) => {
    // Without a listener Node would end connections that are only silent, too.
    response.on('timeout', (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
  });
}
