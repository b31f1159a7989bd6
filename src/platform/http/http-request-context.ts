import { BlockList, isIP, SocketAddress } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Clock } from '../clock.js';
import type { TrustedProxies } from '../config/trust-proxy.js';
import type { FieldError } from '../errors.js';
import { newId } from '../ids.js';
import { duringRequest, type RequestContext } from '../request-context.js';

const BRACKETED = /^\[([^\]]*)\](?::\d+)?$/;
const IPV4_WITH_PORT = /^([\d.]+):\d+$/;
const IPV4_MAPPED = /^::ffff:([\d.]+)$/;

/**
 * Parses the IP address of a node as sockets and proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`,
 * `[2001:db8::1]:4711` (RFC 7239 §6) or `fe80::1%eth0` (RFC 4007 §11).
 * @returns the canonical address (RFC 5952 §4) without port and zone, as IPv4 if it is IPv4-mapped (RFC 4291 §2.5.5.2); null if
 * it is not an address
 */
export function parseIpAddress(node = ''): string | null {
  const bare = BRACKETED.exec(node)?.[1] ?? IPV4_WITH_PORT.exec(node)?.[1] ?? node;
  const [address = ''] = bare.split('%');
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : null;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return IPV4_MAPPED.exec(canonical)?.[1] ?? canonical;
}

/**
 * Express' setting `trust proxy`: whether a node is a trusted proxy. `hops` counts from the connection, 0, along `X-Forwarded-For` to
 * its start. `request.ip` is the first node that is not trusted.
 */
export function trustFunction(proxies: TrustedProxies): (node: string, hops: number) => boolean {
  if (typeof proxies === 'number') return (_node, hops) => hops < proxies;
  // One list would compare IPv4 addresses with IPv6 ranges, too.
  const trusted = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { address, prefix, family } of proxies)
    trusted[family].addSubnet(address, prefix, family);
  return (node) => {
    const address = parseIpAddress(node);
    if (address === null) return false;
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    return trusted[family].check(address, family);
  };
}

/**
 * Valid values of the client's `X-Request-Id`, which are safe in logs. Generated ids match, too. A repeated header does not, because
 * Node joins its values with commas.
 */
export const REQUEST_ID_PATTERN = '^[A-Za-z0-9._-]{1,64}$';
const VALID_REQUEST_ID = new RegExp(REQUEST_ID_PATTERN);

/**
 * Middleware that creates the context of the request and sets its headers. The request id is always ours: with one of its choice, a
 * client could give its request the id of another request in the logs.
 * @param currentTraceId returns the trace of the request; undefined if tracing is off
 */
export function requestContext(
  clock: Clock,
  currentTraceId?: () => string | undefined,
): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const sent = request.get('x-request-id');
    const receivedAt = clock.now();
    const requestId = newId('req', receivedAt);
    request.context = new HttpRequestContext(requestId, receivedAt, request, currentTraceId?.());
    if (sent !== undefined && VALID_REQUEST_ID.test(sent)) request.context.clientRequestId = sent;
    response.setHeader('X-Request-Id', requestId);
    // The default. Without it, shared caches may store the response for as long as they like (RFC 9111 §4.2.2).
    response.setHeader('Cache-Control', 'no-cache');
    cacheRemoteAddress(request);
    duringRequest(request.context, next, { isFinished: () => response.writableEnded });
  };
}

class HttpRequestContext implements RequestContext {
  readonly violations: FieldError[] = [];
  private knownAddress?: string | null;

  constructor(
    readonly requestId: string,
    readonly receivedAt: Date,
    private readonly request: Request,
    readonly traceId: string | undefined,
  ) {}

  /** The address of the socket, or the one that trusted proxies report. */
  get address(): string | null {
    return (this.knownAddress ??= parseIpAddress(this.request.ip));
  }
}

/** Reads the address now, because Node caches it at the first read and cannot read it once the socket is closed. */
function cacheRemoteAddress({ socket }: Request): void {
  void socket.remoteAddress;
}

/** Status in logs for a request whose client disconnected before the response was sent. */
export const CLIENT_CLOSED_REQUEST = 499;

/** Served even under overload. */
export const HEALTH_ROUTES = new Set(['/livez', '/readyz']);

/** The route of unknown paths, unsupported methods and static files in logs and metrics. */
export const UNROUTED = 'unrouted';

/** The pattern of the route, such as `/dev/v1/posts/:id`. The path itself may contain secrets. */
export function routeOf(request: Request): string {
  const { path } = (request.route ?? {}) as { path?: unknown };
  return typeof path === 'string' && !path.includes('*') ? path : UNROUTED;
}

/** The status of a closed response; 499 if it was not sent completely. */
export function responseStatus(response: Response): number {
  return response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST;
}
