import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { SECOND } from '../../clock.js';
import { AppError } from '../../errors.js';

/** Of one process; an idle one takes some 10 kB. Behind a proxy there are far fewer. */
const MAX_CONNECTIONS = 4096;
/** Bodies up to this size are not counted: they take no more than their connection. */
const SMALL_BODY_BYTES = 16_384;

export class RequestTimeout extends AppError {
  static readonly code = 'request_timeout';

  constructor() {
    super(
      RequestTimeout.code,
      'The body did not arrive in time. Send it at once, on a new connection: this one is closed.',
    );
  }
}

interface BodyParser {
  parse: RequestHandler;
  /** Maximum size of a body after decompression. */
  maxBytes: number;
}

/**
 * Reads the body into `request.body`, and closes the connection with the response if it does not arrive in time.
 * @throws RequestTimeout; ServiceUnavailable; errors of the parser
 */
export async function readBody(
  request: Request,
  response: Response,
  { parse, maxBytes }: BodyParser,
  timeoutMs: number,
): Promise<void> {
  request.context.permit?.suspend(memoryFor(request, maxBytes));
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
      }, timeoutMs);
      // Parsers that decompress do not notice it.
      response.once('close', leave);
      parse(request, response, end);
    });
  } finally {
    await request.context.permit?.resume();
  }
}

/** Memory that the body may take; 0 if it is small, or so large that the parser rejects it at once. */
function memoryFor({ headers }: Request, maxBytes: number): number {
  if (headers['content-encoding'] !== undefined) return maxBytes;
  const announced = Number(headers['content-length'] ?? maxBytes);
  return announced > maxBytes || announced <= SMALL_BODY_BYTES ? 0 : announced;
}

/**
 * Sets Node's own limits: for connections, for headers, and for bodies that no handler reads. Node checks them once a second.
 */
export function setServerLimits(server: Server, timeoutMs: number): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = timeoutMs;
  server.requestTimeout = 2 * timeoutMs;
  // An option of Node's that Nest cannot pass on. The server reads it when it begins to listen.
  Object.assign(server, { connectionsCheckingInterval: SECOND });
}

/**
 * Ends connections whose client reads no response for two seconds more than a request may take to arrive, or for twice that, since
 * Node starts again after a partial read. Connections that wait for the service stay.
 */
export function setWriteTimeout(server: Server): void {
  // Not earlier: Node must first answer requests that are overdue.
  server.timeout = server.requestTimeout + 2 * SECOND;
  server.on('request', (_request, response) => {
    // Without a listener Node would end connections that are only silent, too.
    response.on('timeout', (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
  });
}
