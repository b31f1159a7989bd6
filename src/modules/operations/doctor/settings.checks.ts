import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { SECOND } from '../../../platform/clock.js';
import type { AppConfig, SmsConfig } from '../../../platform/config/app-config.js';
import { ConfigError } from '../../../platform/config/load-config.js';
import { describeFailure, httpCall } from '../../../platform/http/http-client.js';
import {
  type Check,
  examine,
  failed,
  type Finding,
  type ExamineSettings,
  type NamedFinding,
  ok,
  sentenceOf,
  warning,
} from './check.js';

/** Why this process cannot write or create the file; undefined if it can. */
async function obstacleToWriting(file: string): Promise<string | undefined> {
  const path = resolve(file);
  const nearest = await nearestExisting(path);
  if (nearest !== path && !(await stat(nearest)).isDirectory()) return `${nearest} is no folder.`;
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

/** Settings that production refuses. */
function developmentWarnings({
  production,
  secure,
  sms,
  demo,
  hasOwnPepper,
}: AppConfig): Finding[] {
  if (production) return [];
  const found = [warning('NODE_ENV is not production.', 'NODE_ENV=production')];
  if (!secure) found.push(warning('PUBLIC_URL is not https.', 'PUBLIC_URL=https://…'));
  if (sms.sender === 'console')
    found.push(warning('One-time passwords are printed to the log.', 'SMS_SENDER=webhook'));
  if (demo) found.push(warning('An empty database is filled with a demo.', 'DEMO=0'));
  if (!hasOwnPepper)
    found.push(
      warning(
        'One-time passwords are stored under a key that everybody knows.',
        'OTP_PEPPER="$(openssl rand -base64 48)"',
      ),
    );
  return found;
}

function unsafeSettings(config: AppConfig): Finding[] {
  const found: Finding[] = [];
  if (config.sms.sender === 'file')
    found.push(warning('One-time passwords are written to a file.', 'SMS_SENDER=webhook'));
  if (config.secure && config.server.trustProxy === 0)
    found.push(
      warning(
        'PUBLIC_URL is https, which a proxy in front must speak, but no proxy is trusted: all callers count as one address.',
        'TRUST_PROXY=1',
      ),
    );
  if (config.rateLimits['phone-failures'] === 0)
    found.push(
      warning(
        'Nothing limits guesses at one-time passwords.',
        'Remove phone-failures from RATE_LIMITS.',
      ),
    );
  return found;
}

const METRICS_TIMEOUT_MS = 2 * SECOND;
const ANOTHER_PORT = 'Set METRICS_PORT to a free port, or to off.';

/** Whether a service on this machine serves its metrics. */
async function metricsFinding({ metricsPort, port, host }: AppConfig['server']): Promise<Finding> {
  if (metricsPort === null) return ok('Metrics are off.');
  if (metricsPort === port) return failed('METRICS_PORT is PORT.', ANOTHER_PORT);
  const name = host?.includes(':') ? `[${host}]` : (host ?? '127.0.0.1');
  const url = `http://${name}:${metricsPort}/metrics`;
  const response = await httpCall(url, METRICS_TIMEOUT_MS, { method: 'GET' });
  if ('kind' in response)
    return warning(
      `Nothing answers at ${url}: no service runs here.`,
      'node dist/src/bundle/main.js',
    );
  const type = response.headers.get('content-type') ?? '';
  return response.status === 200 && type.startsWith('text/plain')
    ? ok(`Metrics are at ${url}.`)
    : failed(`Another program answers at ${url} (${response.status}).`, ANOTHER_PORT);
}

const REFUSED = new Set([401, 403, 404]);

/** Whether the sender of messages is reachable. Sends none. */
async function gatewayFinding(sms: SmsConfig): Promise<Finding> {
  switch (sms.sender) {
    case 'console':
      return ok('Messages are printed by the service.');
    case 'file': {
      const obstacle = await obstacleToWriting(sms.file);
      if (obstacle !== undefined)
        return failed(obstacle, 'Let the service write it, or set SMS_FILE.');
      return ok(`Messages are written to ${sms.file}.`);
    }
    case 'webhook':
      return reached(sms.url, sms.timeoutMs, { method: 'HEAD' });
    case 'twilio': {
      const { apiUrl, accountSid, authToken, timeoutMs } = sms;
      const credentials = Buffer.from(`${accountSid}:${authToken}`, 'utf8').toString('base64');
      const account = `${apiUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}.json`;
      const headers = { authorization: `Basic ${credentials}` };
      return reached(account, timeoutMs, { method: 'GET', headers }, REFUSED);
    }
  }
}

/** Shows only the origin, because the path may hold a secret. A gateway may refuse HEAD and still accept messages. */
async function reached(
  url: string,
  timeoutMs: number,
  init: { method: string; headers?: Record<string, string> },
  refused: ReadonlySet<number> = new Set(),
): Promise<Finding> {
  const gateway = `The gateway at ${new URL(url).origin}`;
  const response = await httpCall(url, timeoutMs, init);
  if ('kind' in response)
    return failed(`${gateway} ${describeFailure(response)}.`, `curl -v ${new URL(url).origin}`);
  if (refused.has(response.status))
    return failed(
      `${gateway} refuses the account (${response.status}).`,
      'Correct TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN.',
    );
  if (response.status >= 500)
    return warning(`${gateway} is out of order (${response.status}).`, 'Ask its operator.');
  return ok(`${gateway} answers.`);
}

const MEGABYTE = 1024 ** 2;
/** SQLite's write-ahead log may grow to this during a long read. */
const ENOUGH_MB = 1024;
const MIN_MB = 100;
const SCHEME = 'sqlite:';

async function fileFinding(file: string): Promise<Finding> {
  const folder = dirname(resolve(file));
  // SQLite creates files beside it.
  const obstacle = (await obstacleToWriting(file)) ?? (await obstacleToWriting(`${folder}/new`));
  return obstacle === undefined
    ? ok(`${file} and its folder can be written.`)
    : failed(obstacle, `chown "$(id -u)" ${folder} ${resolve(file)}`);
}

async function spaceFinding(file: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(await nearestExisting(resolve(file)));
  const free = Math.floor((bavail * bsize) / MEGABYTE);
  const sentence = `${free} MB are free on the disk of ${file}.`;
  const remedy = 'Make room on that disk, or move the file to another one.';
  if (free < MIN_MB) return failed(sentence, remedy);
  return free < ENOUGH_MB ? warning(sentence, remedy) : ok(sentence);
}

/** Examines what depends only on the configuration. */
export function examineSettings(
  config: AppConfig,
  settings: ExamineSettings,
): Promise<NamedFinding[]> {
  const warnings = [...developmentWarnings(config), ...unsafeSettings(config)];
  const valid = [ok('The configuration is valid.')];
  const { url } = config.database;
  const file = url.startsWith(SCHEME) ? url.slice(SCHEME.length) : ':memory:';
  const storage = async (): Promise<Finding[]> => [
    await fileFinding(file),
    await spaceFinding(file),
  ];
  const checks: Check[] = [
    { name: 'configuration', run: async () => (warnings.length > 0 ? warnings : valid) },
    ...(file === ':memory:' ? [] : [{ name: 'storage', run: storage }]),
    { name: 'sms', run: async () => [await gatewayFinding(config.sms)] },
    { name: 'metrics', run: async () => [await metricsFinding(config.server)] },
  ];
  return examine(checks, settings);
}

/** The findings of an invalid configuration. */
export function configurationFindings({ problems }: ConfigError): NamedFinding[] {
  return problems.map((problem) => ({
    check: 'configuration',
    ...failed(`${problem}.`, 'Correct the variable: .env.example tells what it takes.'),
  }));
}

/** The finding of an application that does not start, such as without a database. */
export function startFinding(error: unknown): NamedFinding {
  const remedy = 'Look at DATABASE_URL, and whether that database runs and lets this machine in.';
  return { check: 'database', ...failed(sentenceOf(error), remedy) };
}
