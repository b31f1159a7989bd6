import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { idPattern } from '../ids.js';

/** Where version 1 of the developer API lives (source document, section 9). */
export const DEV_V1 = 'dev/v1';

/** Synchronous middleware. */
type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/** Several of them as one: each layer of Express' router is looked at for every request. */
export function compose(...middlewares: readonly Middleware[]): Middleware {
  return middlewares.reduceRight<Middleware>(
    (following, first) => (request, response, next) =>
      first(request, response, (error?: unknown) => {
        if (error === undefined) following(request, response, next);
        else next(error);
      }),
    (_request, _response, next) => next(),
  );
}

/** Response headers that scripts of other origins may read, beside the CORS-safelisted ones. */
export const EXPOSED_HEADERS = [
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

const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

/**
 * What all answers of the developer API have in common. Scripts of any origin may call it and read every answer, the errors
 * too (Fetch standard, "CORS protocol"): what opens it is a token that the caller sends by hand, never a cookie. A preflight
 * is granted for every path, so that a mistyped one gets a 404 that its developer can read.
 */
export function developerApi(request: Request, response: Response, next: NextFunction): void {
  response.set({
    'Cache-Control': 'private, no-cache',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
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
  response.vary(PREFLIGHT_VARY).status(204).end();
}

function isPreflight({ method, headers }: Request): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** The delete result of the source document, section 2. */
@ApiSchema({ name: 'Deleted', description: 'What was deleted.' })
export class DeletedResponse {
  @ApiProperty({
    description: 'Id of the post or comment.',
    pattern: `${idPattern('post').source}|${idPattern('cmt').source}`,
    example: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  id: string;

  @ApiProperty({ description: 'Always true.', enum: [true], example: true })
  deleted: true;

  static of(id: string): DeletedResponse {
    return { id, deleted: true };
  }
}

/** A number of calls per window, and what is left of it. */
export interface RateLimit {
  /** Name of the policy, in visible ASCII without quotes. */
  policy: string;
  quota: number;
  windowSeconds: number;
  remaining: number;
  /** Until `remaining` is `quota` again. */
  resetSeconds: number;
}

/** Structured fields (RFC 9651) of the IETF draft "RateLimit header fields for HTTP". */
export function rateLimitHeaders(limit: RateLimit): Record<string, string> {
  const { policy, quota, windowSeconds, remaining, resetSeconds } = limit;
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${windowSeconds}`,
    RateLimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}

/** The same for the published document. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description:
      "The app's quota: q posts in a window of w seconds, the calendar month (UTC). Missing when the app's posts are unlimited.",
    schema: { type: 'string' as const, pattern: '^"posts-month";q=\\d+;w=\\d+$' },
    example: '"posts-month";q=100;w=2592000',
  },
  RateLimit: {
    description: 'What is left of it: r posts, for t seconds until the month ends.',
    schema: { type: 'string' as const, pattern: '^"posts-month";r=\\d+;t=\\d+$' },
    example: '"posts-month";r=87;t=826200',
  },
};
