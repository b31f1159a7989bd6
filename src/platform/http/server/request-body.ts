import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { parse as parseContentType } from 'content-type';
import { SECOND } from '../../clock.js';
import type { AppConfig } from '../../config/app-config.js';
import { AppError, Overloaded } from '../../errors.js';

/** Names of UTF-8 and of ASCII, its subset. An empty name counts as absent. */
const UTF_8 = /^(?:utf-?8|(?:us-)?ascii)?$/i;

/**
 * Checks that a body has this media type, in lower case, and is UTF-8. Other parameters than `charset` are ignored
 * (RFC 2045 §1); the first of a repeated parameter counts. Without a charset, the body is UTF-8.
 * @returns what is wrong: the media type, or else the charset; null if nothing is
 */
export function contentTypeProblem(
  header: string | undefined,
  mediaType: string,
): 'mediaType' | 'charset' | null {
  const { type, parameters } = parseContentType(header ?? '');
  if (type !== mediaType) return 'mediaType';
  return UTF_8.test(parameters['charset'] ?? '') ? null : 'charset';
}

/** Per process. An idle connection takes about 10 kB. */
const MAX_CONNECTIONS = 4096;
/** Maximum memory of all bodies that are being received, except small ones, which are not counted. */
const MAX_RECEIVING_BYTES = 67_108_864;
const SMALL_BODY_BYTES = 16_384;

/** Memory reserved for the bodies that are being received. */
let receivingBytes = 0;

export class RequestTimeout extends AppError {
  constructor() {
    super(
      'request_timeout',
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
 * Reads a body in UTF-8 into `request.body`, whatever its `Content-Type`. Closes the connection after the response if the body does not arrive in time.
 * @throws RequestTimeout, also if the connection closes early; Overloaded; errors of the parser
 */
export async function readBody(
  request: Request,
  response: Response,
  { parse, maxBytes }: BodyParser,
  timeoutMs: number,
): Promise<void> {
  // The parsers would reject the charset utf8, which the callers accept. Without the header, they read UTF-8.
  delete request.headers['content-type'];
  const { permit } = request.context;
  const memory = memoryFor(request, maxBytes);
  if (receivingBytes + memory > MAX_RECEIVING_BYTES) throw new Overloaded();
  receivingBytes += memory;
  // A small body arrives with the head. Its request keeps its permits, instead of queuing a second time.
  const mayWait = !request.complete;
  if (mayWait) permit?.release();
  try {
    await new Promise<void>((resolve, reject) => {
      const finish = (error?: unknown): void => {
        clearTimeout(timer);
        response.off('close', abort);
        if (error === undefined) resolve();
        else reject(error);
      };
      const abort = (): void => finish(new RequestTimeout());
      const timer = setTimeout(() => {
        response.setHeader('Connection', 'close');
        abort();
      }, timeoutMs);
      // Parsers that decompress do not notice a closed connection.
      response.once('close', abort);
      parse(request, response, finish);
    });
  } finally {
    receivingBytes -= memory;
    if (mayWait && permit?.isClosed === false) await permit.acquire();
  }
}

/** Maximum memory of the body; 0 if it is small, or if the parser rejects it at once for its size. */
function memoryFor({ headers }: Request, maxBytes: number): number {
  if (headers['content-encoding'] !== undefined) return maxBytes;
  const length = Number(headers['content-length'] ?? maxBytes);
  return length > maxBytes || length <= SMALL_BODY_BYTES ? 0 : length;
}

/** Sets Node's limits for connections, headers, and bodies that no handler reads. Node checks them once a second. */
export function setServerLimits(
  server: Server,
  { requestTimeoutMs, keepAliveTimeoutMs }: AppConfig['server'],
): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = requestTimeoutMs;
  server.requestTimeout = 2 * requestTimeoutMs;
  server.keepAliveTimeout = keepAliveTimeoutMs;
  // Nest cannot pass this option to Node. The server reads it when it starts to listen.
  Object.assign(server, { connectionsCheckingInterval: SECOND });
}

/**
 * Closes connections whose client does not read its response, two seconds after Node's `requestTimeout`. A partial read restarts
 * the timeout once. Connections that wait for the service stay open.
 */
export function setWriteTimeout(server: Server): void {
  // Not earlier, because Node must first respond to requests that exceeded `requestTimeout`.
  server.timeout = server.requestTimeout + 2 * SECOND;
  server.on('request', (_request, response) => {
    // Without a listener, Node would close idle connections, too.
    response.on('timeout', (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
  });
}
