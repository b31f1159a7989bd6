import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express, Request, Response } from 'express';

/**
 * Detects request smuggling: requests whose host (RFC 9112 §3.2) or end (§6.1) two servers may interpret differently.
 * @returns the error status, after which the connection must be closed; undefined for valid requests
 */
export function validateFraming(request: IncomingMessage): 400 | 501 | undefined {
  if (countHosts(request) > 1) return 400;
  const coding = request.headers['transfer-encoding']?.toLowerCase();
  if (coding === undefined) return undefined;
  if (request.httpVersion === '1.0') return 400;
  return coding === 'chunked' ? undefined : 501;
}

function countHosts({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  return hosts;
}

/** A path without a route. */
const INVALID_TARGET_PATH = '/unreadable';

/**
 * Replaces an invalid target in absolute form (RFC 9112 §3.2.2): Express would send its own error page before our middleware runs.
 */
export function replaceInvalidRequestTargets(server: Server): void {
  server.prependListener('request', (request: { url?: string }) => {
    const { url = '' } = request;
    if (!url.startsWith('/') && !isValidTarget(url)) request.url = INVALID_TARGET_PATH;
  });
}

function isValidTarget(target: string): boolean {
  try {
    return new URL(target).pathname !== '';
  } catch {
    return target === '*';
  }
}

/**
 * An HTTP server for one Express application. Its request and response classes inherit from the application's prototypes. Express
 * would change the prototype of each object instead: such objects are slow, and retain their references until the next full garbage
 * collection (decision 0019).
 */
export function expressServer(application: Express): Server {
  /** Connections that close after their current response. */
  const closing = new WeakSet<Socket>();
  class ApplicationRequest extends IncomingMessage {}
  class ApplicationResponse extends ServerResponse<ApplicationRequest> {
    /** Releases the permits now: a slow reader must not hold them. */
    override end(...args: unknown[]): this {
      (this.req as Partial<Request>).context?.permit?.release();
      if (isLast(this)) closing.add(this.req.socket);
      return super.end(...(args as [unknown, BufferEncoding]));
    }
  }
  const { prototype: request } = ApplicationRequest;
  const { prototype: response } = ApplicationResponse;
  Object.setPrototypeOf(request, application.request);
  Object.setPrototypeOf(response, application.response);
  Object.assign(application, { request, response });
  return createServer(
    { IncomingMessage: ApplicationRequest, ServerResponse: ApplicationResponse },
    (incoming, outgoing) => {
      // Requests after the last one must not be processed (RFC 9112 §9.6).
      if (closing.has(incoming.socket)) return;
      if (outgoing.socket === null) closeWithConnection(outgoing);
      const errorStatus = validateFraming(incoming);
      if (errorStatus) outgoing.setHeader('Connection', 'close').writeHead(errorStatus).end();
      else application(incoming as Request, outgoing as Response);
      if (isLast(outgoing)) closing.add(incoming.socket);
    },
  );
}

/** Whether the connection closes after this response. Node also closes it if the request has no host. */
function isLast(response: ServerResponse): boolean {
  const { headers, httpVersion } = response.req;
  return (
    response.getHeader('connection') === 'close' ||
    (headers.host === undefined && httpVersion === '1.1')
  );
}

/** Node emits no `close` for a response that waits for an earlier one of its connection (pipelining) when the connection closes. */
function closeWithConnection(response: ServerResponse): void {
  const { socket } = response.req;
  const close = (): void => {
    if (response.socket === null) response.emit('close');
  };
  if (socket.destroyed) {
    process.nextTick(close);
    return;
  }
  socket.setMaxListeners(0).once('close', close);
  response.once('close', () => socket.off('close', close));
}
