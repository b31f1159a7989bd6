import { HOUR, MINUTE } from '../../../platform/clock.js';
import type { AppConfig } from '../../../platform/config/app-config.js';

/** The default sliding window (product requirements, section 8). */
export const WINDOW_MS = 15 * MINUTE;

/** Endpoints that apps call. */
const CLIENT_ENDPOINTS = ['token', 'revocation', 'introspection'] as const;

/** A group of routes that share limits. `decision` is the group of all forms of the pages: sign-in, consent and account. */
export type RateLimitGroup = (typeof CLIENT_ENDPOINTS)[number] | 'authorize' | 'decision';

/**
 * The property of a request by which a limit counts. `client` is the authenticated app, plus the address if the app is public.
 * `app-and-address` is the client_id that the request claims, without authentication, plus the address. `browser` is the browser
 * cookie or, if there is none, the address. `network56` and `network48` are the /56 and the /48 of an IPv6 address, or the IPv4
 * address.
 */
export type RequestKey =
  'client' | 'app-and-address' | 'address' | 'network56' | 'network48' | 'browser';

/** How many times the limit of an address applies to a network. A visitor with a /56 or a /48 must not have a limit for each /64. */
export const NETWORK_FACTORS = { network56: 2, network48: 5 } as const;

/** A maximum number of attempts within a sliding window. */
export interface RateLimit {
  name: string;
  /** 0 means unlimited. */
  maxAttempts: number;
  windowMs: number;
}

/** A limit of the requests to a group of routes, counted separately for each value of `countedBy`. */
export interface RequestLimit extends RateLimit {
  group: RateLimitGroup;
  countedBy: RequestKey;
}

/** Limits of failed attempts. */
export function failureLimits({ rateLimits }: AppConfig): RequestLimit[] {
  return limits('failures', [
    ...CLIENT_ENDPOINTS.flatMap((group): LimitParts[] => [
      [group, 'app-and-address', rateLimits['token-failures']],
      [group, 'address', rateLimits['token-address-failures']],
    ]),
    ['decision', 'browser', rateLimits['sign-in-failures']],
    ['decision', 'address', rateLimits['sign-in-address-failures']],
  ]);
}

/** Limits of all calls. */
export function callLimits({ rateLimits }: AppConfig): RequestLimit[] {
  return limits('calls', [
    ...CLIENT_ENDPOINTS.map((group): LimitParts => [group, 'client', rateLimits['token-calls']]),
    ['authorize', 'address', rateLimits['authorize-calls']],
    ['authorize', 'network56', rateLimits['authorize-calls'] * NETWORK_FACTORS.network56],
    ['authorize', 'network48', rateLimits['authorize-calls'] * NETWORK_FACTORS.network48],
    ['decision', 'browser', rateLimits['sign-in-calls']],
    ['decision', 'address', rateLimits['sign-in-address-calls']],
  ]);
}

/** The limit of refreshes, counted separately for each grant. */
export function refreshLimit({ rateLimits }: AppConfig): RateLimit {
  const name = 'grant-refreshes-per-hour';
  return { name, maxAttempts: rateLimits[name], windowMs: HOUR };
}

type LimitParts = [group: RateLimitGroup, countedBy: RequestKey, maxAttempts: number];

function limits(attempts: 'failures' | 'calls', parts: readonly LimitParts[]): RequestLimit[] {
  return parts
    .filter(([, , maxAttempts]) => maxAttempts > 0)
    .map(([group, countedBy, maxAttempts]) => ({
      name: `${group}-${attempts}-by-${countedBy}`,
      group,
      countedBy,
      maxAttempts,
      windowMs: WINDOW_MS,
    }));
}
