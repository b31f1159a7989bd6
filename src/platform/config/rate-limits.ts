/** Maximum value of a limit. */
const MAX_LIMIT = 2_147_483_647;

/**
 * Every rate limit that an operator can change: its default and what it counts. Limits without a period count 15 minutes (source
 * document, section 8). Failures and messages are counted in the database for all processes together, calls in each process.
 */
export const RATE_LIMITS = {
  'token-calls': [7500, 'token requests of a confidential app, or of a public app and an address'],
  'token-failures': [20, 'failed token requests of an app and an address'],
  'token-address-failures': [100, 'failed token requests of an address'],
  'authorize-calls': [600, 'authorization requests of an address'],
  'sign-in-calls': [60, 'forms of sign-in and consent sent by a browser'],
  'sign-in-address-calls': [1800, 'forms of sign-in and consent sent from an address'],
  'sign-in-failures': [20, 'failed sign-ins and decisions of a browser'],
  'sign-in-address-failures': [60, 'failed sign-ins and decisions of an address'],
  'phone-failures': [10, 'wrong one-time passwords for a phone'],
  'phone-messages-per-minute': [1, 'text messages to a phone'],
  'phone-messages-per-hour': [5, 'text messages to a phone'],
  'phone-messages-per-day': [10, 'text messages to a phone'],
  'address-messages-per-hour': [20, 'text messages requested from an address'],
} as const satisfies Readonly<Record<string, readonly [limit: number, counts: string]>>;

export type RateLimitName = keyof typeof RATE_LIMITS;

/** The limit of each name; 0 is no limit. */
export type RateLimits = Readonly<Record<RateLimitName, number>>;

/**
 * Reads `name=limit,name=limit`. Other limits keep their defaults.
 * @throws Error with a message that follows the name of the variable
 */
export function parseRateLimits(text: string): RateLimits {
  const limits: Record<string, number> = {};
  for (const [name, [limit]] of Object.entries(RATE_LIMITS)) limits[name] = limit;
  const given = new Set<string>();
  for (const entry of text.split(',').filter(Boolean)) {
    const [, name = '', digits] = /^([a-z-]+)=(\d+)$/.exec(entry) ?? [];
    if (digits === undefined)
      throw new Error('must look like token-calls=20000,phone-messages-per-hour=3');
    if (!Object.hasOwn(limits, name))
      throw new Error(
        `has an unknown limit "${name}"; the limits are ${Object.keys(limits).join(', ')}`,
      );
    if (given.has(name)) throw new Error(`must not set ${name} twice`);
    if (Number(digits) > MAX_LIMIT) throw new Error(`must not exceed ${MAX_LIMIT}`);
    given.add(name);
    limits[name] = Number(digits);
  }
  return Object.freeze(limits as RateLimits);
}
