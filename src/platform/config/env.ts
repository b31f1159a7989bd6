import { isSupportedCountry } from 'libphonenumber-js/max';
import { z } from 'zod';
import { colorsOf, readLogo } from './brand.js';
import { parseDatabaseUrl } from './database-url.js';
import { parseRateLimits } from './rate-limits.js';
import { parseTrustProxy } from './trust-proxy.js';
import { parseTwilioFrom } from './twilio-from.js';

/** The largest number that a signed 32-bit column can hold. */
const MAX_INT = 2_147_483_647;

/** An hour: longer than any sensible timeout, and short enough for the timers and server settings that are derived from it. */
const MAX_TIMEOUT_MS = 3_600_000;

/** As in `RATE_LIMITS`. */
const UNLIMITED = 0;

/** NIST SP 800-63B §3.1.3.2. */
const MAX_OTP_SECONDS = 600;

const flag = oneOf(['0', '1']).transform((value) => value === '1');
const count = wholeNumber(0);
const seconds = wholeNumber(1);
const timeout = (min: number) => wholeNumber(min, MAX_TIMEOUT_MS);
const days = wholeNumber(1);

const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((value) => !/^https?:\/\/[^/]*@/.test(value), 'must not contain a user name or password');

const origin = address
  .refine(
    isOrigin,
    'must be an origin such as https://dev.example.com, without a path, query or fragment',
  )
  .transform((value) => new URL(value).origin);

const baseUrl = address
  .refine(hasNoQuery, 'must not have a query or fragment')
  .transform((value) => value.replace(/[/?#]+$/, ''));

/** Decimal digits only: rejects blanks, 0x10 and 1e3. */
function wholeNumber(min: number, max = MAX_INT) {
  return z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

/** An e-mail address, or an https URL, as a URI (RFC 9116 §2.5.3). @throws if it is neither */
function parseContact(value: string): string {
  const uri = /^[^\s:/@]+@[^\s:/@]+$/.test(value) ? `mailto:${value}` : value;
  if (!/^(https:\/\/|mailto:[^\s@]+@)[^\s@]+$/.test(uri) || !URL.canParse(uri))
    throw new Error('must be an e-mail address or an https URL');
  return uri;
}

/** Invalid URLs pass this check and `hasNoQuery`, because `address` reports them. */
function isOrigin(value: string): boolean {
  return !URL.canParse(value) || (new URL(value).pathname === '/' && hasNoQuery(value));
}

function hasNoQuery(value: string): boolean {
  if (!URL.canParse(value)) return true;
  const { search, hash } = new URL(value);
  return search === '' && hash === '';
}

function oneOf<const T extends readonly string[]>(values: T) {
  const last = values.length - 1;
  return z.enum(values, {
    error: `must be ${values.slice(0, last).join(', ')} or ${values[last]}`,
  });
}

const MIN_WEBHOOK_KEY_BYTES = 16;

function hasWebhookKey(secret: string): boolean {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  return key.length >= MIN_WEBHOOK_KEY_BYTES;
}

/** Two months, so that the usage of a month can be verified until the end of the next one. */
const MIN_CALL_LOG_DAYS = 62;

/** A text with its own parser, whose error is the problem of the variable. `prefault` sets a default that is parsed, too. */
function parsed<T>(parse: (text: string) => T) {
  return z.string().transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue((error as Error).message);
      return z.NEVER;
    }
  });
}

/** Codes that people use for a country whose ISO 3166-1 code is another one. */
const COUNTRY_ALIASES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

/** @throws Error with a message that follows the name of the variable */
function parseCountry(code: string): string {
  if (isSupportedCountry(code)) return code;
  const upperCase = code.toUpperCase();
  const known =
    COUNTRY_ALIASES[upperCase] ?? (isSupportedCountry(upperCase) ? upperCase : undefined);
  throw new Error(
    `"${code}" is not a country with phone numbers; ${known === undefined ? 'use two-letter codes such as US or GB' : `the code is ${known}`}`,
  );
}

/** Posts per month by the name of the plan; null for unlimited. */
export type Plans = Readonly<Record<string, number | null>>;

/** @throws Error with a message that follows the name of the variable */
function parsePlans(text: string): Plans {
  const plans: Record<string, number | null> = {};
  for (const entry of text.split(',')) {
    const [, name = '', limit] = /^([a-z][a-z0-9-]{0,31})=(\d+|unlimited)$/.exec(entry) ?? [];
    if (limit === undefined) throw new Error('must look like partner=1000,first-party=unlimited');
    if (['default', 'custom'].includes(name))
      throw new Error('must not define "default" or "custom", which are reserved');
    if (Number(limit) > MAX_INT)
      throw new Error(`must not exceed ${MAX_INT} posts; use unlimited instead`);
    plans[name] = limit === 'unlimited' ? null : Number(limit);
  }
  return plans;
}

/** Documents a variable: what it does, and who changes it or where. */
function documented<T extends z.ZodType>(schema: T, description: string, changedBy: string): T {
  return schema.meta({ description, changedBy });
}

/** Documents variables that the same persons change. */
const changedBy =
  (who: string) =>
  <T extends z.ZodType>(schema: T, description: string): T =>
    documented(schema, description, who);

const inProduction = changedBy('Every production installation.');
const forTwilio = changedBy('A customer of Twilio.');
const forGateway = changedBy('A network with its own gateway.');
const forPayer = changedBy('Every operator who pays for messages.');
const forClientCertificate = changedBy('An operator whose database demands client certificates.');
const forLoadShedding = changedBy('An operator who tunes load shedding.');
const forPlans = changedBy('An operator who defines plans.');
const forSecurity = changedBy('A security officer.');
const forPrivacy = changedBy('A privacy officer.');

const service = {
  NODE_ENV: inProduction(
    oneOf(['development', 'test', 'production']).default('development'),
    'With `production`, the service refuses to start with unsafe settings. Must be set if `PUBLIC_URL` is https and not on this machine.',
  ),
  PUBLIC_URL: inProduction(
    origin.optional(),
    'Origin of the service in browsers, and OAuth issuer. Default: `http://localhost:PORT`. Never derived from a request.',
  ),
  SITE_URL: documented(
    baseUrl.optional(),
    'Base URL of permalinks to posts. Default: `PUBLIC_URL`, where the service shows public posts itself.',
    'Every production installation: posts are content of users, and belong on another host than the sign-in pages.',
  ),
  PORT: documented(
    wholeNumber(0, 65_535).default(3000),
    'Port of the service.',
    'Where the port is taken.',
  ),
  HOST: documented(
    z.string().optional(),
    'Address to listen on. Default: all interfaces.',
    'Behind a proxy on the same machine: `127.0.0.1`.',
  ),
  TRUST_PROXY: documented(
    parsed(parseTrustProxy).prefault('0'),
    'Trusted reverse proxies, by address: `10.0.0.5,2001:db8::/64`, or the names `loopback`, `linklocal` and `uniquelocal`. The client address is the last one in `X-Forwarded-For` that is not of a trusted proxy. A number is the number of proxies; use it only if no client can reach the port without them, because such a client can choose its address. 0 trusts none.',
    'Every installation behind a reverse proxy.',
  ),
  REQUEST_TIMEOUT_MS: documented(
    timeout(100).default(30_000),
    'Timeout, in milliseconds, for the headers of a request and again for its body. A slower request gets 408; if its headers are late, up to a second after the timeout.',
    'An operator whose clients have slow connections.',
  ),
  KEEP_ALIVE_TIMEOUT_MS: documented(
    timeout(1000).default(75_000),
    'Time, in milliseconds, after which the service closes an idle connection. Must be longer than the proxy or load balancer keeps idle connections, which is 60 seconds for nginx and AWS, and 600 for Google.',
    'An operator whose load balancer keeps idle connections for longer than a minute.',
  ),
  SHUTDOWN_DELAY_MS: documented(
    timeout(0).optional(),
    'Time, in milliseconds, for which the service continues to accept connections after SIGTERM while `/readyz` returns 503. Default: 5000 in production, else 0.',
    'An operator whose load balancer checks health less often than every 5 seconds.',
  ),
  METRICS_PORT: documented(
    z
      .union([z.literal('off'), wholeNumber(0, 65_535)], { error: 'must be a port or off' })
      .default(9464),
    'Port of `/metrics` for Prometheus; `off` for none.',
    'Where the port is taken, or metrics are not collected.',
  ),
  METRICS_HOST: documented(
    z.string().default('127.0.0.1'),
    'Address that `/metrics` listens on. `container` is all addresses of a container, whose network others cannot reach; the image of the Dockerfile sets it.',
    'An operator whose Prometheus runs on another machine. Protect the port with a firewall.',
  ),
  LOG_LEVEL: documented(
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    'Least severe level that is logged.',
    'On call, to see health checks and details (`debug`).',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: documented(
    baseUrl.optional(),
    'Base URL of an OpenTelemetry collector that accepts OTLP over HTTP, such as `http://localhost:4318`. Default: no traces. docs/logs-and-metrics.md lists further variables of OpenTelemetry.',
    'An operator who collects traces.',
  ),
  DEMO: documented(
    flag.optional(),
    '1 seeds demo data into an empty database, 0 does not. Default: 1 on SQLite outside production. In production, 1 is refused.',
    'A developer who wants the demo on MySQL, or an empty database on SQLite.',
  ),
};

const brand = {
  NETWORK_NAME: inProduction(
    z
      .string()
      .max(40, 'must have at most 40 characters')
      .refine(
        (name) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(name),
        'must be one line of visible characters',
      )
      .optional(),
    'Name of the network, on pages, in text messages and in the documentation. Default: "Neighbourhood network", in the language of the page.',
  ),
  NETWORK_LOGO: inProduction(
    parsed(readLogo).optional(),
    'Path of the logo: PNG or SVG, square, at most 256 KiB. The service reads it at start and serves it from its own origin. Default: a house.',
  ),
  NETWORK_COLOR: inProduction(
    parsed(colorsOf).optional(),
    'Colour of buttons and links, such as `#0d5c4d`, with a contrast of at least 4.5 to the light background (WCAG AA). Dark pages use a lighter colour of the same hue.',
  ),
  PRIVACY_URL: inProduction(
    address.optional(),
    'Privacy policy of the network: linked on each page, and `op_policy_uri` of the metadata.',
  ),
  TERMS_URL: inProduction(
    address.optional(),
    'Terms of the network: linked on each page, and `op_tos_uri` of the metadata.',
  ),
  SUPPORT_URL: inProduction(
    address.optional(),
    'Where users get help: linked on each page, and the contact in the OpenAPI document.',
  ),
  SECURITY_CONTACT: inProduction(
    parsed(parseContact).optional(),
    'Where to report vulnerabilities: an e-mail address or an https URL, for `/.well-known/security.txt` (RFC 9116). Without it, that file does not exist.',
  ),
};

const database = {
  DATABASE_URL: inProduction(
    parsed(parseDatabaseUrl).prefault('sqlite:./data/service.sqlite'),
    '`sqlite:<path>`, or `mysql://user:password@host:3306/name` for MySQL and MariaDB. Percent-encode special characters, such as `%40` for @. Several hosts, separated by commas, are replicated servers of which one accepts writes; the service finds it.',
  ),
  DATABASE_SSL: documented(
    oneOf(['off', 'required', 'verify-ca', 'verify-full']).default('off'),
    'TLS of all database connections. `required` encrypts, but accepts any certificate; `verify-ca` also checks who signed it; `verify-full` also checks the name of the host.',
    'Every installation whose database is not on the same machine: `verify-full`.',
  ),
  DATABASE_SSL_CA: documented(
    z.string().optional(),
    'CA certificates that sign the certificate of the server: a path, or PEM. Default: the CAs of Node.js.',
    'An operator whose database has a certificate of a private CA, as managed databases do.',
  ),
  DATABASE_SSL_CERT: forClientCertificate(
    z.string().optional(),
    'Certificate of the service, with `DATABASE_SSL_KEY`: a path, or PEM.',
  ),
  DATABASE_SSL_KEY: forClientCertificate(
    z.string().optional(),
    'Private key of `DATABASE_SSL_CERT`: a path, or PEM.',
  ),
  MIGRATE: documented(
    flag.optional(),
    '1 migrates the database at start, 0 does not. Default: 1 outside production.',
    'An installation of one process that may be down while it migrates.',
  ),
  DB_POOL_SIZE: documented(
    wholeNumber(1).default(10),
    'Maximum number of connections of one process.',
    'An operator who adds processes: the server limits the sum.',
  ),
  DB_TIMEOUT_MS: documented(
    timeout(100).default(5000),
    'Timeout, in milliseconds, of the wait for a lock, which MySQL and MariaDB limit in whole seconds, rounded up. On MySQL and MariaDB, it is also the timeout of a statement and of the wait for a connection, and the time limit for the database work of a request, from when the request leaves the queue (`DB_QUEUE_LIMIT`). If a transaction that several requests share fails although the database is available, each of them is retried alone, and the time limit starts again. MySQL itself stops only reads at the timeout. If a write takes longer on MySQL, or a server hangs, the service closes the connection after this time, rounded up to seconds, plus 2 s. Migrations have no statement timeout.',
    'An operator with a slow or distant database.',
  ),
  DB_QUEUE_LIMIT: forLoadShedding(
    wholeNumber(1).default(1000),
    'A process runs at most five requests per connection (`DB_POOL_SIZE`) at once, and at most two thirds of them for one app. This many more may wait in the queue of the process, and this many in the queue of each app. Further requests get 503 at once.',
  ),
  DB_QUEUE_TIMEOUT_MS: forLoadShedding(
    timeout(1).default(1000),
    'Maximum time in these queues, in milliseconds, after which the request gets 503.',
  ),
};

const messages = {
  SMS_SENDER: inProduction(
    oneOf(['console', 'file', 'webhook', 'twilio']).default('console'),
    'How text messages are sent. `console` is refused in production.',
  ),
  SMS_FILE: documented(
    z.string().default('./data/sms.jsonl'),
    'For `file`: path of the file. Each message is one JSON line with `to` and `text`.',
    'A test environment without a gateway.',
  ),
  SMS_WEBHOOK_URL: forGateway(
    address.optional(),
    'For `webhook`: URL that receives each message by POST.',
  ),
  SMS_WEBHOOK_SECRET: forGateway(
    z
      .string()
      .refine(hasWebhookKey, `must contain a key of at least ${MIN_WEBHOOK_KEY_BYTES} bytes`)
      .optional(),
    'For `webhook`: key that signs each message: `whsec_` and base64, as the libraries of Standard Webhooks read it, or plain text; at least 16 bytes. docs/gateways.md has the protocol.',
  ),
  TWILIO_ACCOUNT_SID: forTwilio(
    z
      .string()
      .regex(
        /^AC/,
        'must begin with AC; the SID of an API key, which begins with SK, belongs in TWILIO_API_KEY',
      )
      .optional(),
    'For `twilio`: account SID, which begins with `AC`.',
  ),
  TWILIO_API_KEY: forTwilio(
    z.string().regex(/^SK/, 'must be the SID of an API key, which begins with SK').optional(),
    'For `twilio`: SID of an API key, which begins with `SK`. Twilio recommends a key, which can be revoked alone, instead of the auth token. A standard key suffices.',
  ),
  TWILIO_API_SECRET: forTwilio(z.string().optional(), 'For `twilio`: secret of `TWILIO_API_KEY`.'),
  TWILIO_AUTH_TOKEN: forTwilio(
    z.string().optional(),
    'For `twilio`: auth token of the account. Not used with `TWILIO_API_KEY`.',
  ),
  TWILIO_FROM: forTwilio(
    parsed(parseTwilioFrom).optional(),
    'For `twilio`: sending number such as `+14155550100`, short code, name of at most 11 letters and digits, or SID of a messaging service: `MG` and 32 hexadecimal digits.',
  ),
  TWILIO_API_URL: documented(
    baseUrl.default('https://api.twilio.com'),
    'For `twilio`: base URL of its API. Other regions have their own, such as `https://api.dublin.ie1.twilio.com`, and their own credentials.',
    'A customer of Twilio outside the United States region.',
  ),
};

const signIn = {
  OTP_PEPPER: inProduction(
    z.string().min(32, 'must have at least 32 characters').optional(),
    'Key for hashing one-time passwords, at least 32 characters. Required in production.',
  ),
  OTP_DEFAULT_COUNTRY: documented(
    parsed(parseCountry).optional(),
    'Country of phone numbers that are entered without a leading +, as a two-letter code such as `US`.',
    'A network in one country.',
  ),
  OTP_COUNTRIES: forPayer(
    parsed((list) => list.split(',').map(parseCountry)).optional(),
    'Countries that messages are sent to, such as `US,CA`. A number whose country is unknown, as with a new area code, counts as one of the main country of its calling code. Default: all.',
  ),
  OTP_SECONDS: documented(
    wholeNumber(1, MAX_OTP_SECONDS).default(300),
    'Lifetime of a one-time password; at most 600 (NIST SP 800-63B).',
    'An operator whose messages arrive late.',
  ),
  OTP_DAILY_TOTAL: forPayer(
    z
      .string()
      .regex(
        /^(?:[1-9]\d{0,8}|unlimited)$/,
        'must be a whole number from 1 to 999999999, or unlimited; 0 would not stop messages',
      )
      .transform((text) => (text === 'unlimited' ? UNLIMITED : Number(text)))
      .default(10_000),
    'Maximum number of messages to all phones in a day, or `unlimited`. The service logs an error when it is reached.',
  ),
};

const tokens = {
  OAUTH_ACCESS_TOKEN_SECONDS: forSecurity(seconds.default(3600), 'Lifetime of an access token.'),
  OAUTH_REFRESH_IDLE_SECONDS: forSecurity(
    seconds.default(2_592_000),
    'Lifetime of an unused refresh token.',
  ),
  OAUTH_GRANT_SECONDS: forSecurity(
    seconds.default(15_552_000),
    'Lifetime of a grant, even if it is refreshed.',
  ),
};

const limits = {
  RATE_LIMITS: documented(
    parsed(parseRateLimits).prefault(''),
    'Rate limits that differ from their defaults, such as `token-calls=20000,phone-messages-per-hour=3`; 0 is no limit, so it does not stop anything. A demo (`DEMO`) has higher limits of text messages.',
    'An operator with one very busy app, or with many users behind one address.',
  ),
  QUOTA_DEFAULT_LIMIT: forPlans(
    count.default(100),
    'Posts per calendar month (UTC) of an app without a plan.',
  ),
  QUOTA_PLANS: forPlans(
    parsed(parsePlans).prefault('partner=1000,first-party=unlimited'),
    'Plans and their posts per month. An app on a removed plan keeps the limit that the plan had when it was assigned.',
  ),
};

const retention = {
  CALL_LOG_DAYS: forPrivacy(
    wholeNumber(MIN_CALL_LOG_DAYS).default(400),
    'Days until a call is deleted from the call log; at least 62. Daily totals stay.',
  ),
  AUDIT_LOG_DAYS: forPrivacy(
    days.default(730),
    'Days until an event is deleted from the audit log.',
  ),
  DELETED_POST_DAYS: forPrivacy(
    days.default(30),
    'Days for which a deleted post or comment can be restored.',
  ),
};

/** The variables in the groups and the order of `.env.example` and docs/configuration.md, which are generated from them. */
export const ENV_GROUPS = {
  Service: service,
  'Identity of the network': brand,
  Database: database,
  'Text messages': messages,
  'One-time passwords': signIn,
  Tokens: tokens,
  'Rate limits and quotas': limits,
  Retention: retention,
};

/** All environment variables. This schema requires none; `loadConfig` requires some in production and for some SMS senders. */
export const envSchema = z.object({
  ...service,
  ...brand,
  ...database,
  ...messages,
  ...signIn,
  ...tokens,
  ...limits,
  ...retention,
});

export type Env = z.infer<typeof envSchema>;
