import { SECOND } from '../../../platform/clock.js';
import type { AppConfig } from '../../../platform/config/app-config.js';

/** The endpoints that apps call. */
const CLIENT_ENDPOINTS = ['token', 'revocation', 'introspection'] as const;

/** The routes that share a limit. `decision` are the forms of sign-in and consent. */
export type LimitedRoutes = (typeof CLIENT_ENDPOINTS)[number] | 'authorize' | 'decision';

/** The key of a count. `client` is an authenticated app, with the address if the app is public. */
export type RequestKey = 'client' | 'app-and-address' | 'address' | 'browser';

/** A number of attempts within a rolling window; a limit of 0 is no limit. */
export interface RateLimit {
  name: string;
  limit: number;
  windowMs: number;
}

export interface RequestLimit extends RateLimit {
  routes: LimitedRoutes;
  by: RequestKey;
}

/** Limits of failed attempts. */
export function failureLimits({ rateLimits }: AppConfig): RequestLimit[] {
  const { tokenFailures, tokenAddressFailures } = rateLimits;
  const { decisionFailures, decisionAddressFailures } = rateLimits;
  return limits('failures', rateLimits.windowSeconds, [
    ...CLIENT_ENDPOINTS.flatMap((routes): Row[] => [
      [routes, 'app-and-address', tokenFailures],
      [routes, 'address', tokenAddressFailures],
    ]),
    ['decision', 'browser', decisionFailures],
    ['decision', 'address', decisionAddressFailures],
  ]);
}

/** Limits of all calls. */
export function callLimits({ rateLimits }: AppConfig): RequestLimit[] {
  const { tokenCalls, authorizeCalls, decisionCalls, decisionAddressCalls } = rateLimits;
  return limits('calls', rateLimits.windowSeconds, [
    ...CLIENT_ENDPOINTS.map((routes): Row => [routes, 'client', tokenCalls]),
    ['authorize', 'address', authorizeCalls],
    ['decision', 'browser', decisionCalls],
    ['decision', 'address', decisionAddressCalls],
  ]);
}

type Row = [routes: LimitedRoutes, by: RequestKey, limit: number];

/** The window of the source document, section 8: rolling, roughly 15 minutes. */
function limits(counted: string, windowSeconds: number, rows: readonly Row[]): RequestLimit[] {
  const windowMs = windowSeconds * SECOND;
  return rows
    .filter(([, , limit]) => limit > 0)
    .map(([routes, by, limit]) => ({
      name: `${routes}-${counted}-by-${by}`,
      routes,
      by,
      limit,
      windowMs,
    }));
}
