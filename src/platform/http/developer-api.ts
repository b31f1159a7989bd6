import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { idPattern } from '../ids.js';

/** Path prefix of version 1 of the developer API (product requirements, section 9). */
export const DEV_V1 = 'dev/v1';

/** The metadata of the API as a protected resource (RFC 9728 §3.1). */
export const RESOURCE_METADATA_PATH = `/.well-known/oauth-protected-resource/${DEV_V1}`;

/** The origin of the service in examples. The pages and documents that it serves have its own. */
export const EXAMPLE_ORIGIN = 'https://dev.example.com';

/** Synchronous middleware. */
type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/** Combines middlewares into one, because Express checks each layer of its router for every request. */
export function compose(...middlewares: readonly Middleware[]): Middleware {
  return middlewares.reduceRight<Middleware>(
    (rest, first) => (request, response, next) =>
      first(request, response, (error?: unknown) => {
        if (error === undefined) rest(request, response, next);
        else next(error);
      }),
    (_request, _response, next) => next(),
  );
}

/** Response headers that cross-origin scripts may read, in addition to the CORS-safelisted ones. */
export const EXPOSED_HEADERS = [
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
];
/** `Cache-Control` of the developer API. */
export const PRIVATE = 'private, no-cache';
const METHODS = ['DELETE', 'GET', 'HEAD', 'POST'];

/** Lifetime of a preflight result: the maximum of Chromium. */
const PREFLIGHT_MAX_AGE_SECONDS = 7200;

const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

/**
 * Middleware that sets the cache and CORS headers of the developer API (Fetch standard, "CORS protocol"), and responds to preflights.
 * Any origin may call the API and read all responses: requests authenticate with an access token, and cookies are ignored. Allows
 * preflights for every path, so that a script can read the 404 of a wrong path.
 */
export function developerApiHeaders(
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  response.set({
    'Cache-Control': PRIVATE,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
  });
  if (isPreflight(request)) allowPreflight(request, response, METHODS);
  else next();
}

/** Middleware for public documents: scripts of any origin may read them. */
export function publicDocumentHeaders(
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  const reads = ['GET', 'HEAD'];
  const preflight = isPreflight(request);
  if (preflight || reads.includes(request.method)) response.set('Access-Control-Allow-Origin', '*');
  if (preflight) allowPreflight(request, response, reads);
  else next();
}

function allowPreflight(request: Request, response: Response, methods: readonly string[]): void {
  response.set({
    'Access-Control-Allow-Methods': methods.join(', '),
    // Any header, such as those of tracing libraries: the API ignores the ones that it does not know, and no cookie counts.
    'Access-Control-Allow-Headers': request.get('access-control-request-headers') ?? '',
    'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_SECONDS),
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

/** The response to DELETE (product requirements, section 2). */
@ApiSchema({ name: 'Deleted', description: 'The deleted object.' })
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

/** The values of the RateLimit headers: a quota, such as posts per month, and how much of it is left. */
export interface QuotaState {
  /** Name of the policy, in visible ASCII without quotes. */
  policy: string;
  quota: number;
  /** Length of the period. */
  windowSeconds: number;
  remaining: number;
  /** Seconds until `remaining` rises: when a calendar month ends, or the oldest request leaves a sliding window. */
  resetSeconds: number;
}

/** Response headers of the IETF draft "RateLimit header fields for HTTP" (structured fields, RFC 9651). */
export function rateLimitHeaders(state: QuotaState): Record<string, string> {
  const { policy, quota, windowSeconds, remaining, resetSeconds } = state;
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${windowSeconds}`,
    RateLimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}

/** The OpenAPI documentation of these headers, for the monthly quota. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description:
      "The app's quota: q posts in a window of w seconds, the calendar month (UTC). Missing when the app's posts are unlimited.",
    schema: { type: 'string' as const, pattern: '^"posts-month";q=[0-9]+;w=[0-9]+$' },
    example: '"posts-month";q=100;w=2592000',
  },
  RateLimit: {
    description: 'The rest of the quota: r posts, for t seconds until the month ends.',
    schema: { type: 'string' as const, pattern: '^"posts-month";r=[0-9]+;t=[0-9]+$' },
    example: '"posts-month";r=87;t=826200',
  },
};

/** The policy of the limit of comments and deletions (`LimitWrites`). */
export const WRITES_MINUTE = 'writes-minute';

/** The OpenAPI documentation of these headers, for the limit of comments and deletions. */
export const WRITE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description:
      "The limit of the app's comments and deletions for the user: q in a sliding window of w seconds. Missing when they are unlimited.",
    schema: { type: 'string' as const, pattern: '^"writes-minute";q=[0-9]+;w=60$' },
    example: '"writes-minute";q=60;w=60',
  },
  RateLimit: {
    description:
      'The rest of the limit: r comments and deletions. It rises in t seconds, when the oldest one leaves the window.',
    schema: { type: 'string' as const, pattern: '^"writes-minute";r=[0-9]+;t=[0-9]+$' },
    example: '"writes-minute";r=57;t=42',
  },
};
