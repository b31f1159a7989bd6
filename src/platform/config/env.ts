import { z } from 'zod';

/** The largest number that a signed 32-bit column and a timer can hold. */
const MAX_INT = 2_147_483_647;

const flag = z.enum(['0', '1']).transform((value) => value === '1');
const count = wholeNumber(0);
const seconds = wholeNumber(1);

const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((value) => !/^https?:\/\/[^/]*@/.test(value), 'must not hold a user name or password');

const origin = address
  .refine(
    isOrigin,
    'must be an origin such as https://dev.example.com, without a path, query or fragment',
  )
  .transform((value) => new URL(value).origin);

const baseUrl = address
  .refine(hasNoQuery, 'must not have a query or fragment')
  .transform((value) => value.replace(/[/?#]+$/, ''));

/** Decimal digits only: blanks, 0x10 and 1e3 are refused. */
function wholeNumber(min: number, max = MAX_INT) {
  return z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

/** Invalid URLs pass here and below, because `address` reports them. */
function isOrigin(value: string): boolean {
  return !URL.canParse(value) || (new URL(value).pathname === '/' && hasNoQuery(value));
}

function hasNoQuery(value: string): boolean {
  if (!URL.canParse(value)) return true;
  const { search, hash } = new URL(value);
  return search === '' && hash === '';
}

const SERVER_LIST = /^((?:mysql|mariadb):\/\/(?:[^@/]*@)?)([^/?#@]*,[^/?#@]*)((?:[/?#].*)?)$/;

/** Splits `mysql://user:password@first:3306,second:3306/name` into one URL for each server. */
export function urlOfEachServer(databaseUrl: string): string[] {
  const [, start = '', servers, rest = ''] = SERVER_LIST.exec(databaseUrl) ?? [];
  if (servers === undefined) return [databaseUrl];
  return servers.split(',').map((server) => `${start}${server}${rest}`);
}

export function namesServers(databaseUrl: string): boolean {
  const urls = urlOfEachServer(databaseUrl);
  return (
    urls.length === 1 || urls.every((url) => URL.canParse(url) && new URL(url).hostname !== '')
  );
}

const MIN_WEBHOOK_KEY_BYTES = 16;

function holdsWebhookKey(secret: string): boolean {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  return key.length >= MIN_WEBHOOK_KEY_BYTES;
}

/** Keeps the calls of a month until the end of the next one, so that its usage can be verified. */
const MIN_CALL_LOG_DAYS = 62;

/**
 * Every environment variable, in the order of `.env.example`, which is generated from here.
 * All are optional; the descriptions are the operator's documentation.
 */
export const envSchema = z.object({
  // Service
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe('In production, unsafe settings are refused at start.'),
  PORT: wholeNumber(0, 65_535).default(3000).describe('Port of the service.'),
  HOST: z.string().optional().describe('Address to listen on; all interfaces by default.'),
  PUBLIC_URL: origin
    .optional()
    .describe(
      'Origin and OAuth issuer, as browsers see it; http://localhost:PORT by default. Never taken from a request.',
    ),
  SITE_URL: baseUrl
    .optional()
    .describe(
      'Base URL of permalinks; PUBLIC_URL by default, where the service shows public posts itself.',
    ),
  DOCS_CLIENT_ID: z
    .string()
    .optional()
    .describe(
      'Public app whose redirect is PUBLIC_URL/docs/oauth2-redirect.html, for "Authorize" in the documentation.',
    ),
  TRUST_PROXY: count
    .default(0)
    .describe('Number of reverse proxies in front, whose X-Forwarded-For is believed.'),
  REQUEST_TIMEOUT_MS: wholeNumber(100)
    .default(30_000)
    .describe(
      'Longest time, in milliseconds, for the headers of a request to arrive, and again for its body; then it is answered 408, for headers up to a second later.',
    ),
  SHUTDOWN_DELAY_MS: count
    .optional()
    .describe(
      'How long, in milliseconds, the service goes on serving after SIGTERM while it is not ready; 5000 by default in production, else 0.',
    ),
  METRICS_PORT: z
    .union([z.literal('off'), wholeNumber(0, 65_535)], { error: 'must be a port or off' })
    .default(9464)
    .describe('Port of the metrics for Prometheus, at /metrics; off serves none.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Least severe level that is logged.'),

  // Database
  DATABASE_URL: z
    .string()
    .regex(
      /^(sqlite:.+|(mysql|mariadb):\/\/.+)$/,
      'must be sqlite:<path> or mysql://user:password@host:port/name',
    )
    .refine(namesServers, {
      message:
        'must name each server as host:port, as in mysql://user:password@first:3306,second:3306/name',
    })
    .default('sqlite:./data/service.sqlite')
    .describe(
      'sqlite:<path>, or mysql://user:password@host:3306/name for MySQL and MariaDB. Several hosts, with commas between them, name replicated servers, one of which accepts writes at a time; the service finds it.',
    ),
  DB_TIMEOUT_MS: wholeNumber(100)
    .default(5000)
    .describe(
      'Timeout, in milliseconds, of the wait for a free connection, of a statement and (rounded up to whole seconds) of a lock. On a server it is also the deadline of a request, from its permit on: after it, the request starts no more statements. A write that is retried after a failed group commit gets a second timeout. A server that does not respond, or a MySQL statement that writes, is given up after this time, rounded up to seconds, plus 2 s. Migration statements have no timeout.',
    ),
  DB_POOL_SIZE: wholeNumber(1).default(10).describe('Most connections of one process.'),
  DB_QUEUE_LIMIT: wholeNumber(1)
    .default(1000)
    .describe('Requests that may queue in one process. Further ones get 503 at once.'),
  DB_QUEUE_TIMEOUT_MS: wholeNumber(1)
    .default(1000)
    .describe('Longest time in that queue, in milliseconds. Then the request gets 503.'),
  MIGRATE: flag
    .optional()
    .describe('1 migrates the database at start, 0 does not; 1 by default outside production.'),
  DEMO: flag
    .optional()
    .describe(
      '1 seeds demo data into an empty database, 0 does not; 1 by default on SQLite. Refused in production.',
    ),

  // Text messages
  SMS_SENDER: z
    .enum(['console', 'file', 'webhook', 'twilio'])
    .default('console')
    .describe('How one-time passwords are sent. The console sender is refused in production.'),
  SMS_FILE: z
    .string()
    .default('./data/sms.jsonl')
    .describe('Of the file sender: one JSON line per message, with to and text.'),
  SMS_TIMEOUT_MS: wholeNumber(100)
    .default(5000)
    .describe('Longest time, in milliseconds, of one call to a gateway.'),
  SMS_WEBHOOK_URL: address.optional().describe('Of the webhook sender: where messages are posted.'),
  SMS_WEBHOOK_SECRET: z
    .string()
    .refine(holdsWebhookKey, `must hold a key of at least ${MIN_WEBHOOK_KEY_BYTES} bytes`)
    .optional()
    .describe(
      'Of the webhook sender: the key that signs each message, as text or as whsec_ and base64; at least 16 bytes.',
    ),
  TWILIO_ACCOUNT_SID: z.string().optional().describe('Of the twilio sender.'),
  TWILIO_AUTH_TOKEN: z.string().optional().describe('Of the twilio sender.'),
  TWILIO_FROM: z
    .string()
    .optional()
    .describe('Of the twilio sender: the sending number or messaging service.'),
  TWILIO_API_URL: baseUrl
    .default('https://api.twilio.com')
    .describe('Of the twilio sender: base URL of its HTTP API; https://api.twilio.com by default.'),

  // Lifetimes and rate limits of the authorization server
  OAUTH_CODE_SECONDS: seconds.default(300).describe('Lifetime of an authorization code.'),
  OAUTH_ACCESS_TOKEN_SECONDS: seconds.default(3600).describe('Lifetime of an access token.'),
  OAUTH_REFRESH_IDLE_SECONDS: seconds
    .default(2_592_000)
    .describe('Lifetime of an unused refresh token.'),
  OAUTH_GRANT_SECONDS: seconds
    .default(15_552_000)
    .describe('Lifetime of a grant, even if it is refreshed.'),
  OAUTH_TRANSACTION_SECONDS: seconds
    .default(900)
    .describe('Time from the sign-in page to the decision.'),
  OAUTH_SESSION_SECONDS: seconds
    .default(1800)
    .describe('Lifetime of a sign-in session after its last use.'),
  OAUTH_WINDOW_SECONDS: seconds.default(900).describe('Rolling window of the limits below.'),
  OAUTH_TOKEN_FAILURES: count
    .default(20)
    .describe(
      'Failed token requests per app and address. Revocation and introspection have limits of their own, equal to this one and the next two. 0 switches a limit off, here and below. All processes share limits of failures.',
    ),
  OAUTH_TOKEN_ADDRESS_FAILURES: count.default(100).describe('Failed token requests per address.'),
  OAUTH_TOKEN_CALLS: count
    .default(7500)
    .describe(
      'Token requests per confidential app, and per app and address for public ones. Limits of all requests hold for each process.',
    ),
  OAUTH_AUTHORIZE_CALLS: count.default(600).describe('Authorization requests per address.'),
  OAUTH_DECISION_FAILURES: count.default(20).describe('Failed sign-ins and decisions per browser.'),
  OAUTH_DECISION_ADDRESS_FAILURES: count
    .default(60)
    .describe('Failed sign-ins and decisions per address.'),
  OAUTH_DECISION_CALLS: count.default(60).describe('Sign-in steps and decisions per browser.'),
  OAUTH_DECISION_ADDRESS_CALLS: count
    .default(1800)
    .describe('Sign-in steps and decisions per address.'),

  // One-time passwords
  OTP_PEPPER: z
    .string()
    .min(32)
    .optional()
    .describe(
      'Key under which one-time passwords are stored, at least 32 characters. Required in production; elsewhere a fixed key for development by default.',
    ),
  OTP_DEFAULT_COUNTRY: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be a two-letter country code such as US')
    .optional()
    .describe('Country of phone numbers typed without a leading +, as two letters.'),
  OTP_COUNTRIES: z
    .string()
    .regex(/^[A-Z]{2}(,[A-Z]{2})*$/, 'must be two-letter country codes such as US,CA')
    .optional()
    .describe('Countries to whose numbers messages are sent, such as US,CA; all by default.'),
  OTP_SECONDS: seconds.default(300).describe('Lifetime of a one-time password.'),
  OTP_PHONE_FAILURES: count.default(10).describe('Wrong one-time passwords per phone.'),
  OTP_RESEND_SECONDS: count.default(60).describe('Time between two messages to one phone.'),
  OTP_PHONE_HOURLY: count.default(5).describe('Messages to one phone per hour.'),
  OTP_PHONE_DAILY: count.default(10).describe('Messages to one phone per day.'),
  OTP_ADDRESS_HOURLY: count.default(20).describe('Messages asked for from one address per hour.'),
  OTP_DAILY_TOTAL: count
    .default(10_000)
    .describe('Messages to all phones together per day; reaching it is logged as an error.'),

  // Quotas of apps
  QUOTA_DEFAULT_LIMIT: count
    .default(100)
    .describe('Posts per app and calendar month (UTC) for apps without a plan.'),
  QUOTA_PLANS: z
    .string()
    .regex(
      /^([a-z][a-z0-9-]{0,31}=(\d+|unlimited)(,[a-z][a-z0-9-]{0,31}=(\d+|unlimited))*)?$/,
      'must look like partner=1000,first-party=unlimited',
    )
    .refine(
      (plans) => !/(^|,)(default|custom)=/.test(plans),
      'must not give "default" or "custom", which are not plans',
    )
    .refine(
      (plans) => (plans.match(/\d+(?=,|$)/g) ?? []).every((posts) => Number(posts) <= MAX_INT),
      `must not give more than ${MAX_INT} posts; write unlimited instead`,
    )
    .default('partner=1000,first-party=unlimited')
    .describe(
      'Named plans and their posts per month. An app on a plan follows its number; when the plan is gone, it keeps the last number it was given.',
    ),

  // Retention
  CALL_LOG_DAYS: wholeNumber(MIN_CALL_LOG_DAYS)
    .default(400)
    .describe(
      'How many days a developer API call stays in the call log; at least 62. Its part in the daily totals stays.',
    ),
  AUDIT_LOG_DAYS: wholeNumber(1)
    .default(730)
    .describe('How many days an event stays in the audit log.'),
  DELETED_POST_DAYS: wholeNumber(1)
    .default(30)
    .describe('How many days a deleted post or comment can be restored; then it is gone for good.'),
});

export type Env = z.infer<typeof envSchema>;
