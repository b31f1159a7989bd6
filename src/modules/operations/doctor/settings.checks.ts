import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DAY, SECOND } from '../../../platform/clock.js';
import type { AppConfig, SmsConfig } from '../../../platform/config/app-config.js';
import { ConfigError } from '../../../platform/config/load-config.js';
import { isLoopback } from '../../../platform/config/loopback.js';
import { isAlphanumericSender } from '../../../platform/config/twilio-from.js';
import { RATE_LIMITS, type RateLimitName } from '../../../platform/config/rate-limits.js';
import {
  databaseFile,
  DatabaseFileError,
  sharedFiles,
} from '../../../platform/database/sqlite-file.js';
import {
  describeFailure,
  httpCall,
  type RequestFailure,
} from '../../../platform/http/http-client.js';
import { parseIpAddress } from '../../../platform/http/http-request-context.js';
import { permissionRemedy } from '../../../platform/permission-model.js';
import {
  expensiveMessage,
  segmentsOfMessages,
} from '../../oauth/sign-in/sms/one-time-password-message.js';
import {
  callTwilio,
  describeTwilioCode,
  twilioCode,
  type TwilioConfig,
} from '../../oauth/sign-in/sms/twilio.js';
import {
  capitalized,
  type Check,
  runChecks,
  failed,
  type Finding,
  type CheckOptions,
  type NamedFinding,
  ok,
  messageOf,
  warning,
} from './check.js';

/** Returns the reason why this process cannot write or create the file, or undefined. */
async function writeProblem(file: string): Promise<string | undefined> {
  const path = resolve(file);
  const nearest = await nearestExisting(path);
  if (nearest !== path && !(await stat(nearest)).isDirectory())
    return `${nearest} is not a folder.`;
  try {
    await access(nearest, constants.W_OK);
    return undefined;
  } catch (error) {
    return `${nearest} cannot be written: ${(error as NodeJS.ErrnoException).code}.`;
  }
}

/** The path itself, or its nearest existing parent folder. */
async function nearestExisting(path: string): Promise<string> {
  try {
    await access(path);
    return path;
  } catch {
    const folder = dirname(path);
    return folder === path ? path : nearestExisting(folder);
  }
}

/** A warning, if it applies to the configuration. */
type Rule = readonly [applies: boolean, summary: string, remedy: string];

/** Settings that production rejects. */
function developmentRules({ secure, sms, demo, hasOwnPepper }: AppConfig): Rule[] {
  return [
    [true, 'NODE_ENV is not production.', 'NODE_ENV=production'],
    [!secure, 'PUBLIC_URL is not https.', 'PUBLIC_URL=https://…'],
    [sms.sender === 'console', 'One-time passwords are printed to the log.', 'SMS_SENDER=webhook'],
    [demo, 'An empty database is seeded with demo data.', 'DEMO=0'],
    [
      !hasOwnPepper,
      'One-time passwords are hashed with the public default pepper.',
      'OTP_PEPPER="$(openssl rand -base64 48)"',
    ],
  ];
}

/** Countries that do not support names as senders, of those that most networks are in. */
const WITHOUT_NAMES: ReadonlySet<string> = new Set(['US', 'CA']);

/** Settings that are unsafe anywhere. */
function commonRules({
  secure,
  sms,
  server,
  production,
  brand,
  database,
  rateLimits,
  otp,
}: AppConfig): Rule[] {
  const { trustProxy, host } = server;
  const name = sms.sender === 'twilio' && isAlphanumericSender(sms.from) ? sms.from : undefined;
  const { address, tls } = database;
  const servers = address.engine === 'server' ? address.servers : [];
  const remote = servers.find((one) => !isLoopback(one.host));
  return [
    [sms.sender === 'file', 'One-time passwords are written to a file.', 'SMS_SENDER=webhook'],
    [
      name !== undefined && (otp.countries ?? ['US', 'CA']).some((one) => WITHOUT_NAMES.has(one)),
      `TWILIO_FROM is the name ${name}, which is lost in the United States and Canada: their networks accept only numbers.`,
      'Set TWILIO_FROM to a number or a messaging service, or leave US and CA out of OTP_COUNTRIES.',
    ],
    [
      secure && trustProxy === 0,
      'PUBLIC_URL is https, but no proxy is trusted. All clients share the IP address of the proxy.',
      'Set TRUST_PROXY to the addresses of the proxies, such as 10.0.0.5 or 10.0.0.0/24.',
    ],
    [
      production && brand.name === undefined,
      'NETWORK_NAME is not set: pages and messages say "Neighbourhood network".',
      'Set NETWORK_NAME to the name of your network.',
    ],
    [
      typeof trustProxy === 'number' && trustProxy > 0 && listensOnAllInterfaces(host),
      'TRUST_PROXY is a number, and the service listens on all interfaces. A client that reaches the port without the proxies chooses its IP address.',
      'Set TRUST_PROXY to the addresses of the proxies, such as 10.0.0.5 or 10.0.0.0/24, or set HOST=127.0.0.1.',
    ],
    [
      remote !== undefined && !tls,
      `Connections to ${remote?.host} are in plain text.`,
      'DATABASE_SSL=verify-full',
    ],
    [
      rateLimits['phone-failures'] === 0,
      'Guesses of one-time passwords are not limited.',
      'Remove phone-failures from RATE_LIMITS.',
    ],
  ];
}

/** Settings that take away what protects members, or what an operator on call needs. */
function productionRules(config: AppConfig): Rule[] {
  const { lifetimes, otp, server, siteUrl, publicUrl } = config;
  return [
    lifetimeRule('OAUTH_ACCESS_TOKEN_SECONDS', lifetimes.accessToken, 1),
    lifetimeRule('OAUTH_REFRESH_IDLE_SECONDS', lifetimes.refreshIdle, 180),
    lifetimeRule('OAUTH_GRANT_SECONDS', lifetimes.grant, 366),
    ...rateLimitRules(config),
    [
      otp.dailyTotal === 0,
      'The number of text messages in a day is not limited.',
      'Set OTP_DAILY_TOTAL to a few times the messages of a usual day, or remove it.',
    ],
    [
      ['silent', 'fatal', 'error'].includes(server.logLevel),
      `LOG_LEVEL is ${server.logLevel}, so requests and warnings are not logged.`,
      'LOG_LEVEL=info',
    ],
    [
      server.metricsPort !== null &&
        !server.isMetricsHostOfContainer &&
        listensOnAllInterfaces(server.metricsHost),
      'METRICS_HOST is all addresses of this machine, so others may read the metrics.',
      'Set METRICS_HOST to an internal address, and protect METRICS_PORT with a firewall.',
    ],
    [
      new URL(siteUrl).origin === publicUrl,
      'SITE_URL is not on another host than PUBLIC_URL: posts of users are shown beside the sign-in pages.',
      'Set SITE_URL to the site that shows posts.',
    ],
  ];
}

function lifetimeRule(name: string, seconds: number, maxDays: number): Rule {
  const days = maxDays === 1 ? '1 day' : `${maxDays} days`;
  return [
    seconds * SECOND > maxDays * DAY,
    `${name} is ${seconds}, more than ${days}: a stolen token is valid for as long.`,
    `Remove ${name}, or set a shorter lifetime.`,
  ];
}

/** Limits above this multiple of their default hardly limit anything. */
const MAX_LIMIT_FACTOR = 100;

/** The limits of sign-ins, failures and messages. `commonRules` has `phone-failures=0`. */
function rateLimitRules({ rateLimits }: AppConfig): Rule[] {
  return Object.entries(RATE_LIMITS)
    .filter(([name]) => /^sign-in-|-(failures|messages)\b|^wrong-codes-/.test(name))
    .map(([name, [standard]]) => {
      const limit = rateLimits[name as RateLimitName];
      const isOff = limit === 0 && name !== 'phone-failures';
      return [
        isOff || limit > standard * MAX_LIMIT_FACTOR,
        `The rate limit ${name}=${limit} limits nothing; its default is ${standard}.`,
        `Remove ${name} from RATE_LIMITS.`,
      ];
    });
}

function listensOnAllInterfaces(host?: string): boolean {
  return host === undefined || ['0.0.0.0', '::'].includes(parseIpAddress(host) ?? '');
}

const METRICS_TIMEOUT_MS = 2 * SECOND;
const METRICS_PORT_REMEDY = 'Set METRICS_PORT to a free port, or to off.';

/** The host of a URL for a server on this machine that listens on this address. */
function localAddress(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** Checks whether a service on this machine serves its metrics. */
async function metricsFinding({
  metricsPort,
  metricsHost,
  port,
}: AppConfig['server']): Promise<Finding> {
  if (metricsPort === null) return ok('Metrics are off.');
  if (metricsPort === port) return failed('METRICS_PORT is the same as PORT.', METRICS_PORT_REMEDY);
  const url = `http://${localAddress(metricsHost)}:${metricsPort}/metrics`;
  const response = await httpCall(url, METRICS_TIMEOUT_MS, { method: 'GET' });
  if ('kind' in response)
    return warning(
      `No response from ${url}. The service is not running on this machine.`,
      'node dist/src/bundle/main.js',
    );
  const type = response.headers.get('content-type') ?? '';
  return response.status === 200 && type.startsWith('text/plain')
    ? ok(`Metrics are at ${url}.`)
    : failed(`Another program responds at ${url} (${response.status}).`, METRICS_PORT_REMEDY);
}

/** Checks the SMS gateway without sending a message. */
async function gatewayFinding(sms: SmsConfig): Promise<Finding> {
  switch (sms.sender) {
    case 'console':
      return ok('Messages are printed by the service.');
    case 'file': {
      const problem = await writeProblem(sms.file);
      if (problem !== undefined) return failed(problem, 'Make the file writable, or set SMS_FILE.');
      return ok(`Messages are written to ${sms.file}.`);
    }
    case 'webhook':
      return webhookFinding(sms);
    case 'twilio':
      return twilioFinding(sms);
  }
}

/** Only the origin, because the path may contain a secret. */
function gatewayAt(url: string): string {
  return `The gateway at ${new URL(url).origin}`;
}

function unreachable(url: string, failure: RequestFailure): Finding {
  const problem = `${gatewayAt(url)} ${describeFailure(failure)}.`;
  return failed(problem, `curl -v ${new URL(url).origin}`);
}

/** A redirect, 429 or 5xx; undefined for any other status, which the check of each gateway judges. */
function statusFinding(url: string, status: number): Finding | undefined {
  const gateway = gatewayAt(url);
  if (status >= 300 && status < 400)
    return failed(
      `${gateway} redirects (${status}). Messages are not sent to the new address.`,
      'Correct the URL in the settings, or find the proxy that redirects.',
    );
  if (status === 429 || status >= 500)
    return warning(`${gateway} returned ${status}.`, 'Contact its operator.');
  return undefined;
}

/** Most responses to HEAD prove only that there is a server, because a gateway may accept nothing but POST. */
async function webhookFinding({
  url,
  timeoutMs,
}: Extract<SmsConfig, { sender: 'webhook' }>): Promise<Finding> {
  const response = await httpCall(url, timeoutMs, { method: 'HEAD' });
  if ('kind' in response) return unreachable(url, response);
  const problem = statusFinding(url, response.status);
  if (problem !== undefined) return problem;
  const gateway = gatewayAt(url);
  if (response.status === 410)
    return failed(`${gateway} returned 410: this URL is gone.`, 'Correct SMS_WEBHOOK_URL.');
  if (response.status === 404)
    return warning(
      `${gateway} returned 404 to HEAD.`,
      'Check the path of SMS_WEBHOOK_URL, unless the gateway responds so to everything but POST.',
    );
  return ok(`${gateway} responds.`);
}

async function twilioFinding(sms: TwilioConfig): Promise<Finding> {
  // Only the auth token and main keys may read the account; a standard key may read messages.
  const usesKey = sms.username !== sms.accountSid;
  const path = usesKey ? '/Messages.json?PageSize=1' : '.json';
  const response = await callTwilio(sms, path, { method: 'GET' });
  if ('kind' in response) return unreachable(sms.apiUrl, response);
  const { status, json } = response;
  const problem = statusFinding(sms.apiUrl, status);
  if (problem !== undefined) return problem;
  const gateway = gatewayAt(sms.apiUrl);
  if (status !== 200) {
    const code = twilioCode(json.code);
    const reason = `${status}${code === undefined ? '' : `, ${describeTwilioCode(code)}`}`;
    return [401, 403, 404].includes(status)
      ? failed(
          `${gateway} rejects the credentials (${reason}).`,
          usesKey
            ? 'Correct TWILIO_ACCOUNT_SID, TWILIO_API_KEY and TWILIO_API_SECRET. The key must be able to read messages.'
            : 'Correct TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN.',
        )
      : failed(`${gateway} returned ${reason}.`, 'Correct TWILIO_API_URL.');
  }
  if (json.status === 'suspended' || json.status === 'closed')
    return failed(
      `The account of Twilio is ${json.status}.`,
      'Look at the account in the console of Twilio.',
    );
  return (usesKey ? Array.isArray(json.messages) : json.status === 'active')
    ? ok(`${gateway} responds.`)
    : failed(
        `${gateway} is not Twilio: its response has no ${usesKey ? 'messages' : 'account'}.`,
        'Correct TWILIO_API_URL, or find the proxy that responds instead.',
      );
}

/** What a message costs. */
function messageFinding(config: AppConfig): Finding {
  const expensive = expensiveMessage(config);
  return expensive
    ? warning(`${expensive.summary}.`, expensive.remedy)
    : ok(`A one-time password has ${segmentsOfMessages(config)}.`);
}

const MEGABYTE = 1024 ** 2;
/** The write-ahead log of SQLite may grow to this size during a long read. */
const RECOMMENDED_FREE_MB = 1024;
const MIN_FREE_MB = 100;

async function fileFinding(file: string): Promise<Finding> {
  const folder = dirname(resolve(file));
  // SQLite creates further files in the same folder.
  const problem = (await writeProblem(file)) ?? (await writeProblem(`${folder}/new`));
  return problem === undefined
    ? ok(`${file} and its folder can be written.`)
    : failed(problem, `chown "$(id -u)" ${folder} ${resolve(file)}`);
}

async function spaceFinding(file: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(await nearestExisting(resolve(file)));
  const free = Math.floor((bavail * bsize) / MEGABYTE);
  const summary = `${free} MB are free on the disk of ${file}.`;
  const remedy = 'Free up space on that disk, or move the file to another disk.';
  if (free < MIN_FREE_MB) return failed(summary, remedy);
  return free < RECOMMENDED_FREE_MB ? warning(summary, remedy) : ok(summary);
}

/** Warns if other users of this machine may access the database. */
async function accessFindings(file: string): Promise<Finding[]> {
  const paths = (await sharedFiles(file)).map(({ path }) => path).join(' ');
  if (paths === '') return [];
  return [warning(`Other users of this machine can access ${paths}.`, `chmod go= ${paths}`)];
}

async function storageFindings(file: string): Promise<Finding[]> {
  return [await fileFinding(file), ...(await accessFindings(file)), await spaceFinding(file)];
}

/** Runs the checks that only need the configuration. */
export function checkSettings(config: AppConfig, options: CheckOptions): Promise<NamedFinding[]> {
  const rules = config.production
    ? [...commonRules(config), ...productionRules(config)]
    : [...developmentRules(config), ...commonRules(config)];
  const warnings = [
    ...config.warnings.map((message) => warning(`${message}.`, 'Correct the settings.')),
    ...rules.flatMap(([applies, ...text]) => (applies ? [warning(...text)] : [])),
  ];
  const valid = ok('The configuration is valid.');
  const file = databaseFile(config.database.address);
  const checks: Check[] = [
    ['configuration', async () => (warnings.length > 0 ? warnings : valid)],
    ...(file === undefined ? [] : [['storage', () => storageFindings(file)] satisfies Check]),
    ['sms', async () => [await gatewayFinding(config.sms), messageFinding(config)]],
    ['metrics', () => metricsFinding(config.server)],
  ];
  return runChecks(checks, options);
}

/** The findings of an invalid configuration. */
export function configurationFindings({ problems }: ConfigError): NamedFinding[] {
  return problems.map((problem) => ({
    check: 'configuration',
    ...failed(`${problem}.`, 'Correct the variable. .env.example lists the valid values.'),
  }));
}

/** The finding of an application that cannot start, for example without a database. */
export function startFinding(error: unknown): NamedFinding {
  if (error instanceof DatabaseFileError)
    return {
      check: 'database',
      ...failed(`${error.problem}.`, `${capitalized(error.remedy)}.`),
    };
  const permission = permissionRemedy(error);
  const remedy =
    permission === undefined
      ? 'Check DATABASE_URL, and that the database is running and accepts connections from this machine.'
      : `${capitalized(permission)}.`;
  return { check: 'database', ...failed(messageOf(error), remedy) };
}
