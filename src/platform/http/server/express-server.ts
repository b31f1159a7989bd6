import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express, Request, Response } from 'express';

/**
 * The status that refuses a request of which two readers may believe two things: whom it is for (RFC 9112 §3.2), or where it ends
 * (§6.1). Undefined for all others. Its connection is to be closed: nothing that follows can be believed.
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

/** Where nothing is. */
const NOWHERE = '/unreadable';

/**
 * A target in absolute form (RFC 9112 §3.2.2) that is no URL becomes one that leads nowhere: Express would answer it in its own
 * words, before anything of ours has seen the request.
 */
export function readTargets(server: Server): void {
  server.prependListener('request', (request: { url?: string }) => {
    const { url = '' } = request;
    if (!url.startsWith('/') && !isReadable(url)) request.url = NOWHERE;
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
  /** Connections whose last answer was given. */
  const ending = new WeakSet<Socket>();
  class ApplicationRequest extends IncomingMessage {}
  class ApplicationResponse extends ServerResponse<ApplicationRequest> {
    /** Whoever answers works on the request no longer, however slowly it is read, and though its caller may have left. */
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
      // What follows the last request is not to be looked at (RFC 9112 §9.6): nobody would be told what became of it.
      if (ending.has(incoming.socket)) return;
      if (outgoing.socket === null) closeWithConnection(outgoing);
      const refusal = validateFraming(incoming);
      if (refusal) outgoing.setHeader('Connection', 'close').writeHead(refusal).end();
      else application(incoming as Request, outgoing as Response);
      if (isLast(outgoing)) ending.add(incoming.socket);
    },
  );
}

/** Whether its connection ends with it: as it says, or as Node says by itself to a request without a host. */
function isLast(response: ServerResponse): boolean {
  const { headers, httpVersion } = response.req;
  return (
    response.getHeader('connection') === 'close' ||
    (headers.host === undefined && httpVersion === '1.1')
  );
}

/** Node does not close an answer that still waits behind others when their connection ends. */
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
