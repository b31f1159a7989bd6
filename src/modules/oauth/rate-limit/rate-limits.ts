import { RATE_LIMITS, type RateLimits } from '../../../platform/config/rate-limits.js';

/**
 * By whom a limit counts requests. `client` is the authenticated app, plus the address if the app is public. `app-and-address` is the
 * client_id that the request claims, without authentication, plus the address. `browser` is the browser cookie or, if there is none,
 * the address. `stranger-…` is the address, or the network that contains it, but not for trusted devices: otherwise strangers on the
 * same network could lock them out.
 */
export type RequestKey =
  | 'client'
  | 'app-and-address'
  | 'address'
  | 'browser'
  | 'stranger-address'
  | 'stranger-network56'
  | 'stranger-network48';

type Row = readonly [setting: keyof RateLimits, by: string, factor?: number];

/**
 * The limits of the endpoints by their names in the metric and the audit log: the setting in `RATE_LIMITS`, by whom it counts, and how
 * many times the setting it allows. A visitor with a /56 or a /48 must not have a limit for each /64. The names are part of the keys
 * of stored counts, which processes of 1.0.0 share: a renamed limit would start at 0.
 */
export const LIMITS = {
  'token-calls-by-client': ['token-calls', 'client'],
  'token-failures-by-app-and-address': ['token-failures', 'app-and-address'],
  'token-failures-by-address': ['token-address-failures', 'address'],
  'revocation-calls-by-client': ['token-calls', 'client'],
  'revocation-failures-by-app-and-address': ['token-failures', 'app-and-address'],
  'revocation-failures-by-address': ['token-address-failures', 'address'],
  'introspection-calls-by-client': ['token-calls', 'client'],
  'introspection-failures-by-app-and-address': ['token-failures', 'app-and-address'],
  'introspection-failures-by-address': ['token-address-failures', 'address'],
  'grant-refreshes-per-hour': ['grant-refreshes-per-hour', 'app-and-user'],
  'authorize-calls-by-address': ['authorize-calls', 'stranger-address'],
  'authorize-calls-by-network56': ['authorize-calls', 'stranger-network56', 2],
  'authorize-calls-by-network48': ['authorize-calls', 'stranger-network48', 5],
  // The forms of sign-in, consent and account.
  'decision-calls-by-browser': ['sign-in-calls', 'browser'],
  'decision-calls-by-address': ['sign-in-address-calls', 'stranger-address'],
  'decision-failures-by-browser': ['sign-in-failures', 'browser'],
  'decision-failures-by-address': ['sign-in-address-failures', 'stranger-address'],
  'otp-guesses': ['phone-failures', 'phone'],
  'otp-wrong-codes': ['wrong-codes-per-day', 'network'],
  'otp-pause': ['phone-messages-per-minute', 'phone'],
  'otp-hourly': ['phone-messages-per-hour', 'phone'],
  'otp-daily': ['phone-messages-per-day', 'phone'],
  'otp-address': ['address-messages-per-hour', 'address'],
  'otp-network56': ['address-messages-per-hour', 'network56', 2],
  'otp-network48': ['address-messages-per-hour', 'network48', 5],
} as const satisfies Readonly<Record<string, Row>>;

export type RateLimitName = keyof typeof LIMITS;

/** A limit that counts requests. */
export type RequestLimitName = {
  [N in RateLimitName]: (typeof LIMITS)[N][1] extends RequestKey ? N : never;
}[RateLimitName];

/** A maximum number of attempts within a sliding window. */
export interface RateLimit {
  name: string;
  /** 0 means unlimited. */
  max: number;
  windowMs: number;
}

export function limitsByName(settings: RateLimits): Readonly<Record<RateLimitName, RateLimit>> {
  const rows: readonly [string, Row][] = Object.entries(LIMITS);
  const limits = rows.map(([name, [setting, , factor = 1]]) => {
    const [, windowMs] = RATE_LIMITS[setting];
    return [name, { name, max: settings[setting] * factor, windowMs }];
  });
  return Object.fromEntries(limits) as Record<RateLimitName, RateLimit>;
}
