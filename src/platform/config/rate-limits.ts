import { DAY, HOUR, MINUTE } from '../clock.js';

/** Maximum value of a limit. */
const MAX_LIMIT = 2_147_483_647;

const WINDOW_MS = 15 * MINUTE;
/** Of a limit of what exists at a time. */
const NO_WINDOW_MS = Infinity;

/**
 * Every limit that the environment variable RATE_LIMITS can change: its default, its sliding window and what it counts (product
 * requirements, section 8). Failures, messages and grants are counted in the database for all processes together, calls in each
 * process. The limits of token requests also apply to revocation and to introspection, counted separately.
 */
export const RATE_LIMITS = {
  'token-calls': [
    7500,
    WINDOW_MS,
    'token requests of a confidential app, or of a public app from an IP address',
  ],
  'token-failures': [20, WINDOW_MS, 'failed token requests of an app from an IP address'],
  'token-address-failures': [100, WINDOW_MS, 'failed token requests from an IP address'],
  'grant-refreshes-per-hour': [
    120,
    HOUR,
    'refreshes by an app for a user, including repeats of lost responses',
  ],
  'authorize-calls': [
    600,
    WINDOW_MS,
    'authorization requests from an IPv4 address or an IPv6 /64; a /56 may send twice as many, a /48 five times',
  ],
  'sign-in-calls': [60, WINDOW_MS, 'sign-in, consent and account forms submitted by a browser'],
  'sign-in-address-calls': [
    1800,
    WINDOW_MS,
    'sign-in, consent and account forms submitted from an IP address',
  ],
  'sign-in-failures': [
    20,
    WINDOW_MS,
    'wrong one-time passwords, and wrong tokens of forms, submitted by a browser',
  ],
  'sign-in-address-failures': [
    60,
    WINDOW_MS,
    'wrong one-time passwords, and wrong tokens of forms, submitted from an IP address',
  ],
  'phone-failures': [
    10,
    WINDOW_MS,
    'wrong one-time passwords for a phone number, and the same number again from its trusted devices together',
  ],
  'wrong-codes-per-day': [
    200,
    DAY,
    'wrong one-time passwords in the whole network; beyond it, browsers that did not sign in before get one-time passwords of eight digits',
  ],
  'phone-messages-per-minute': [
    1,
    MINUTE,
    'text messages to a phone number, and the same number again to its trusted devices together',
  ],
  'phone-messages-per-hour': [5, HOUR, 'text messages, counted the same way'],
  'phone-messages-per-day': [10, DAY, 'text messages, counted the same way'],
  'address-messages-per-hour': [
    20,
    HOUR,
    'text messages requested from an IPv4 address or an IPv6 /64; a /56 may request twice as many, a /48 five times',
  ],
  'grant-writes-per-minute': [
    60,
    MINUTE,
    'new comments, and deletions of posts and comments, by an app for a user',
  ],
  'grants-per-user': [
    20,
    NO_WINDOW_MS,
    'grants of a user to an app that are in use; a further consent ends the oldest',
  ],
} as const satisfies Readonly<
  Record<string, readonly [limit: number, windowMs: number, counts: string]>
>;

export type RateLimitName = keyof typeof RATE_LIMITS;

/** The defaults of a demo, whose only user may sign in again and again. */
export const DEMO_RATE_LIMITS: Partial<RateLimits> = {
  'phone-messages-per-minute': 60,
  'phone-messages-per-hour': 200,
  'phone-messages-per-day': 1000,
  'address-messages-per-hour': 200,
};

/** The limit of each name; 0 means unlimited. */
export type RateLimits = Readonly<Record<RateLimitName, number>>;

export const DEFAULT_RATE_LIMITS = Object.fromEntries(
  Object.entries(RATE_LIMITS).map(([name, [limit]]) => [name, limit]),
) as RateLimits;

/**
 * Reads `name=limit,name=limit`.
 * @throws Error with a message that follows the name of the variable
 */
export function parseRateLimits(text: string): Partial<RateLimits> {
  const limits: Record<string, number> = {};
  for (const entry of text.split(',').filter(Boolean)) {
    const [, name = '', digits] = /^([a-z-]+)=(\d+)$/.exec(entry) ?? [];
    if (digits === undefined)
      throw new Error('must look like token-calls=20000,phone-messages-per-hour=3');
    if (!Object.hasOwn(RATE_LIMITS, name))
      throw new Error(
        `has an unknown limit "${name}"; the limits are ${Object.keys(RATE_LIMITS).join(', ')}`,
      );
    if (Object.hasOwn(limits, name)) throw new Error(`must not set ${name} twice`);
    if (Number(digits) > MAX_LIMIT) throw new Error(`must not set ${name} above ${MAX_LIMIT}`);
    limits[name] = Number(digits);
  }
  return limits;
}
