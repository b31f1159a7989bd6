import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express, Request, Response } from 'express';

/**
 * The status for a request that two servers may read differently, as to its host (RFC 9112 §3.2) or its end (§6.1); undefined for all
 * others. Its connection must be closed.
 */
export function validateFraming(request: IncomingMessage): 400 | 501 | undefined {
  if (hostsOf(request) > 1) return 400;
  const coding = request.headers['transfer-encoding']?.toLowerCase();
  if (coding === undefined) return undefined;
  if (request.httpVersion === '1.0') return 400;
  return coding === 'chunked' ? undefined : 501;
}

function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let place = 0; place < rawHeaders.length; place += 2)
    if (rawHeaders[place]?.length === 4 && rawHeaders[place]?.toLowerCase() === 'host') hosts += 1;
  return hosts;
}

/** No route has this path. */
const NO_ROUTE = '/unreadable';

/**
 * Replaces an invalid target in absolute form (RFC 9112 §3.2.2): Express would send its own error page before our middleware runs.
 */
export function replaceInvalidTargets(server: Server): void {
  server.prependListener('request', (request: { url?: string }) => {
    const { url = '' } = request;
    if (!url.startsWith('/') && !isReadable(url)) request.url = NO_ROUTE;
  });
}

function isReadable(target: string): boolean {
  try {
    return new URL(target).pathname !== '';
  } catch {
    return target === '*';
  }
}

/**
 * A server for one Express application, whose requests and responses have that application's prototypes from the beginning.
 * Express gives them to each otherwise; an object whose prototype is changed keeps all that it refers to alive until the next
 * full garbage collection, and is slow to use (decision 0019).
 */
export function expressServer(application: Express): Server {
  /** Connections whose last response was sent. */
  const ending = new WeakSet<Socket>();
  class ApplicationRequest extends IncomingMessage {}
  class ApplicationResponse extends ServerResponse<ApplicationRequest> {
    /** The work is done, however slowly the client reads. */
    override end(...answer: unknown[]): this {
      (this.req as Partial<Request>).context?.permit?.end();
      if (isLast(this)) ending.add(this.req.socket);
      return super.end(...(answer as [unknown, BufferEncoding]));
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
      if (ending.has(incoming.socket)) return;
      if (outgoing.socket === null) closeWithConnection(outgoing);
      const refusal = validateFraming(incoming);
      if (refusal) outgoing.setHeader('Connection', 'close').writeHead(refusal).end();
      else application(incoming as Request, outgoing as Response);
      if (isLast(outgoing)) ending.add(incoming.socket);
    },
  );
}

/** Whether its connection ends with it. Node closes that of a request without a host. */
function isLast(response: ServerResponse): boolean {
  const { headers, httpVersion } = response.req;
  return (
    response.getHeader('connection') === 'close' ||
    (headers.host === undefined && httpVersion === '1.1')
  );
}

/** Node emits no `close` for a queued response when its connection ends. */
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
