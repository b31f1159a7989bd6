import type { NextFunction, Request, Response } from 'express';

/** Headers of answers that scripts of other origins may read beside those that every browser shows them. */
export const EXPOSED = [
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
];
const REQUEST_HEADERS = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'x-request-id',
];
const METHODS = ['DELETE', 'GET', 'HEAD', 'POST'];

/** Seconds for which a browser need not ask again: Chromium remembers no longer. */
const MAX_AGE = 7200;

const ASKED_BY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

/**
 * What all answers of the developer API have in common. Scripts of any origin may call it and read every answer, the errors
 * too (Fetch standard, "CORS protocol"): what opens it is a token that the caller sends by hand, never a cookie. A preflight
 * is granted for every path, so that a mistyped one gets a 404 that its developer can read.
 */
export function developerApi(request: Request, response: Response, next: NextFunction): void {
  response.set({
    'Cache-Control': 'private, no-cache',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED.join(', '),
  });
  if (!isPreflight(request)) {
    next();
    return;
  }
  response.set({
    'Access-Control-Allow-Methods': METHODS.join(', '),
    'Access-Control-Allow-Headers': REQUEST_HEADERS.join(', '),
    'Access-Control-Max-Age': String(MAX_AGE),
  });
  response.vary(ASKED_BY).status(204).end();
}

function isPreflight({ method, headers }: Request): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
