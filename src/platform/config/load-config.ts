import { AppConfig } from './app-config.js';
import { envSchema, type Env } from './env.js';

/** One line for each invalid variable. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** An empty variable counts as unset. @throws ConfigError also for values that are unsafe in production */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): AppConfig {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = envSchema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
    );
  }
  const problems = [...missing(parsed.data), ...unsafe(parsed.data)];
  if (problems.length > 0) throw new ConfigError(problems);
  return new AppConfig(parsed.data);
}

const REQUIRED: Readonly<Record<Env['SMS_SENDER'], readonly (keyof Env)[]>> = {
  console: [],
  file: [],
  webhook: ['SMS_WEBHOOK_URL', 'SMS_WEBHOOK_SECRET'],
  twilio: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM'],
};

function missing(env: Env): string[] {
  return REQUIRED[env.SMS_SENDER]
    .filter((name) => env[name] === undefined)
    .map((name) => `${name}: is required with SMS_SENDER=${env.SMS_SENDER}`);
}

function unsafe(env: Env): string[] {
  if (env.NODE_ENV !== 'production') return [];
  const problems: string[] = [];
  if (env.SMS_SENDER === 'console')
    problems.push('SMS_SENDER: console prints one-time passwords; choose webhook, twilio or file');
  if (env.OTP_PEPPER === undefined)
    problems.push('OTP_PEPPER: is required in production; make one with "openssl rand -base64 48"');
  if (!env.PUBLIC_URL?.startsWith('https:'))
    problems.push('PUBLIC_URL: must be an https URL in production');
  for (const name of ['SMS_WEBHOOK_URL', 'TWILIO_API_URL'] as const) {
    if (env[name]?.startsWith('http:'))
      problems.push(
        `${name}: must be an https URL in production, as it carries one-time passwords`,
      );
  }
  if (env.DEMO) problems.push('DEMO: demo data is refused in production; unset it');
  return problems;
}
