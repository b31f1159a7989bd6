import { AppConfig } from './app-config.js';
import { databaseTls, readFile } from './database-tls.js';
import { type EnvFileProblem, envFileProblems, envFilesOf, unreadVariables } from './env-files.js';
import { envSchema, type Env } from './env.js';
import { isGuessable } from './guessable.js';
import { isLoopback } from './loopback.js';
import { nearestWord } from '../text.js';

/** The message has one line per invalid variable. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** Removed variables, each with what to do instead. Setting one is an error, so that operators notice that it no longer applies. */
const REMOVED_VARIABLES: Readonly<Record<string, string>> = {
  OAUTH_TOKEN_CALLS: 'set RATE_LIMITS=token-calls=…',
  OAUTH_TOKEN_FAILURES: 'set RATE_LIMITS=token-failures=…',
  OAUTH_TOKEN_ADDRESS_FAILURES: 'set RATE_LIMITS=token-address-failures=…',
  OAUTH_AUTHORIZE_CALLS: 'set RATE_LIMITS=authorize-calls=…',
  OAUTH_DECISION_CALLS: 'set RATE_LIMITS=sign-in-calls=…',
  OAUTH_DECISION_FAILURES: 'set RATE_LIMITS=sign-in-failures=…',
  OAUTH_DECISION_ADDRESS_FAILURES: 'set RATE_LIMITS=sign-in-address-failures=…',
  OTP_PHONE_FAILURES: 'set RATE_LIMITS=phone-failures=…',
  OTP_RESEND_SECONDS: 'set RATE_LIMITS=phone-messages-per-minute=…',
  OTP_PHONE_HOURLY: 'set RATE_LIMITS=phone-messages-per-hour=…',
  OTP_PHONE_DAILY: 'set RATE_LIMITS=phone-messages-per-day=…',
  OTP_ADDRESS_HOURLY: 'set RATE_LIMITS=address-messages-per-hour=…',
  OAUTH_WINDOW_SECONDS: 'unset it; the window of rate limits is 900 seconds',
  OAUTH_CODE_SECONDS: 'unset it; a code lives for 300 seconds',
  OAUTH_TRANSACTION_SECONDS: 'unset it; a sign-in may take 900 seconds',
  OAUTH_SESSION_SECONDS: 'unset it; a session lives for 1800 seconds',
  DOCS_CLIENT_ID:
    'unset it; the documentation uses the app of "app create --docs", or any other public app with its redirect URI',
  SMS_TIMEOUT_MS: 'unset it; a gateway has 5000 ms to respond',
  OAUTH_ERRORS_BEFORE_SIGN_IN: 'unset it; errors before sign-in are always a page',
  OAUTH_REFUSE_REUSED_CHALLENGE: 'unset it; a reused challenge is accepted',
};

/** Secrets, which `<NAME>_FILE` can name a file for. */
export const SECRETS = [
  'DATABASE_URL',
  'OTP_PEPPER',
  'SMS_WEBHOOK_SECRET',
  'TWILIO_API_SECRET',
  'TWILIO_AUTH_TOKEN',
] as const satisfies readonly (keyof Env)[];

/** The names of all variables. */
const VARIABLES: ReadonlySet<string> = new Set([
  ...Object.keys(envSchema.shape),
  ...SECRETS.map((name) => `${name}_FILE`),
]);

/**
 * Treats empty variables as unset.
 * @param envFiles the files of `--env-file`
 * @throws ConfigError with all invalid, missing and removed variables, and in production with all unsafe values
 */
export function loadConfig(
  environment: NodeJS.ProcessEnv = process.env,
  envFiles: readonly string[] = envFilesOf(process.execArgv),
): AppConfig {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const inFiles = envFileProblems(envFiles);
  const problems = [
    ...inFiles.filter(isOwn).map(({ message }) => message),
    ...readSecretFiles(given),
    ...removedVariableProblems(given),
    ...unsetModeProblems(given),
  ];
  const invalid = new Set<string>();
  for (const { path, message } of envSchema.safeParse(given).error?.issues ?? []) {
    problems.push(`${path.join('.')}: ${message}`);
    invalid.add(path.join('.'));
  }
  // The other checks use the defaults of invalid variables, and do not report these a second time.
  const env = envSchema.parse(omit(given, invalid));
  const further = [
    ...missingVariableProblems(env),
    ...productionProblems(env),
    // They depend on both variables.
    ...(invalid.has('DATABASE_URL') || invalid.has('DATABASE_SSL') ? [] : databaseTlsProblems(env)),
  ];
  const isReported = (problem: string): boolean =>
    [...invalid].some((name) => problem.startsWith(`${name}:`));
  problems.push(...further.filter((problem) => !isReported(problem)));
  const unread = unreadFileProblems(environment);
  if (problems.length > 0) throw new ConfigError([...problems, ...unread]);
  const warnings = [
    ...unread,
    ...inFiles.filter((problem) => !isOwn(problem)).map(({ message }) => message),
    ...misspelledVariables(given),
  ];
  return new AppConfig(env, warnings);
}

/** Neither the service nor a command reads `.env` by itself. */
function unreadFileProblems(environment: NodeJS.ProcessEnv): string[] {
  const names = unreadVariables(environment, VARIABLES);
  if (names.length === 0) return [];
  return [
    `.env: the file in this folder was not read, and ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} not set; start the program with "node --env-file=.env", or export the variables in your shell`,
  ];
}

/** So few, because names of other programs resemble those of settings: `SMTP_URL` is no `SITE_URL`. */
const LETTERS_PER_MISTAKE = 5;

/** Looks only for names with the same first letter, because there may be many variables of other programs. */
function misspelledVariables(given: NodeJS.ProcessEnv): string[] {
  return Object.keys(given).flatMap((name) => {
    if (VARIABLES.has(name) || name in REMOVED_VARIABLES) return [];
    const similar = [...VARIABLES].filter(([first]) => first === name[0]?.toUpperCase());
    const nearest = nearestWord(name, similar, LETTERS_PER_MISTAKE);
    if (nearest === undefined) return [];
    return [
      `${name}: is ignored, because it is not a setting; the nearest name of one is ${nearest}`,
    ];
  });
}

/** Another program may read its variable from the file alone. */
function isOwn({ name }: EnvFileProblem): boolean {
  return VARIABLES.has(name);
}

function omit(given: NodeJS.ProcessEnv, names: ReadonlySet<string>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.has(name)));
}

/** Sets each secret whose file is named. Returns the problems. */
function readSecretFiles(given: NodeJS.ProcessEnv): string[] {
  const problems: string[] = [];
  for (const name of SECRETS) {
    const file = given[`${name}_FILE`];
    if (file === undefined) continue;
    if (given[name] !== undefined) {
      problems.push(`${name}, ${name}_FILE: must not be set together; unset one of them`);
      continue;
    }
    try {
      // Editors and "echo" end a file with a line break.
      const secret = readFile(`${name}_FILE`, file).replace(/\r?\n$/, '');
      if (secret === '') problems.push(`${name}_FILE: the file ${file} is empty`);
      else given[name] = secret;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return problems;
}

function databaseTlsProblems(env: Env): string[] {
  try {
    databaseTls(env);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Variables that a sender of text messages requires. */
const REQUIRED_BY_SENDER: Readonly<Record<Env['SMS_SENDER'], readonly (keyof Env)[]>> = {
  console: [],
  file: [],
  webhook: ['SMS_WEBHOOK_URL', 'SMS_WEBHOOK_SECRET'],
  twilio: ['TWILIO_ACCOUNT_SID', 'TWILIO_FROM'],
};

function removedVariableProblems(given: NodeJS.ProcessEnv): string[] {
  return Object.entries(REMOVED_VARIABLES)
    .filter(([name]) => given[name] !== undefined)
    .map(([name, advice]) => `${name}: is no longer a setting; ${advice}`);
}

/** An installation that forgot NODE_ENV would hash one-time passwords with the public pepper and seed demo data. */
function unsetModeProblems({ NODE_ENV, PUBLIC_URL = '' }: NodeJS.ProcessEnv): string[] {
  if (NODE_ENV !== undefined || !URL.canParse(PUBLIC_URL)) return [];
  const { protocol, hostname } = new URL(PUBLIC_URL);
  if (protocol !== 'https:' || isLoopback(hostname)) return [];
  return [
    'NODE_ENV: must be set, because PUBLIC_URL is not on this machine; set it to production, or to development for a test installation',
  ];
}

function missingVariableProblems(env: Env): string[] {
  const missing = REQUIRED_BY_SENDER[env.SMS_SENDER]
    .filter((name) => env[name] === undefined)
    .map((name) => `${name}: is required with SMS_SENDER=${env.SMS_SENDER}`);
  return env.SMS_SENDER === 'twilio' ? [...missing, ...twilioCredentialProblems(env)] : missing;
}

function twilioCredentialProblems(env: Env): string[] {
  const { TWILIO_API_KEY: key, TWILIO_API_SECRET: secret, TWILIO_AUTH_TOKEN: token } = env;
  if ((key === undefined) !== (secret === undefined))
    return ['TWILIO_API_KEY: must be set together with TWILIO_API_SECRET'];
  if (key !== undefined || token !== undefined) return [];
  return [
    'TWILIO_AUTH_TOKEN: is required with SMS_SENDER=twilio, unless TWILIO_API_KEY and TWILIO_API_SECRET are set',
  ];
}

function productionProblems(env: Env): string[] {
  if (env.NODE_ENV !== 'production') return [];
  const problems: string[] = [];
  if (env.SMS_SENDER === 'console')
    problems.push('SMS_SENDER: console prints one-time passwords; choose webhook, twilio or file');
  if (env.OTP_PEPPER === undefined)
    problems.push(
      'OTP_PEPPER: is required in production; generate one with "openssl rand -base64 48"',
    );
  for (const [name, command] of [
    ['OTP_PEPPER', 'openssl rand -base64 48'],
    ['SMS_WEBHOOK_SECRET', 'echo "whsec_$(openssl rand -base64 32)"'],
  ] as const) {
    const secret = env[name];
    if (secret !== undefined && isGuessable(secret))
      problems.push(`${name}: can be guessed; generate one with: ${command}`);
  }
  if (!env.PUBLIC_URL?.startsWith('https:'))
    problems.push('PUBLIC_URL: must be an https URL in production');
  for (const name of ['SMS_WEBHOOK_URL', 'TWILIO_API_URL'] as const) {
    if (env[name]?.startsWith('http:'))
      problems.push(
        `${name}: must be an https URL in production, as it carries one-time passwords`,
      );
  }
  if (env.DEMO) problems.push('DEMO: demo data is not allowed in production; unset it');
  return problems;
}
