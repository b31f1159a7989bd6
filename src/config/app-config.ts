import { envSchema, type Env } from './env.schema.js';

/** Named plans: posts per month, or null for unlimited. */
export type Plans = Readonly<Record<string, number | null>>;

export type SmsConfig =
  | { sender: 'console' }
  | { sender: 'file'; file: string }
  | { sender: 'webhook'; url: string; secret: string; timeoutMs: number }
  | {
      sender: 'twilio';
      apiUrl: string;
      accountSid: string;
      authToken: string;
      from: string;
      timeoutMs: number;
    };

/** The documentation's app in a demo database. */
export const DEMO_DOCS_CLIENT_ID = 'svc_app_00000000000000000000000003';

/** The same in every process, so that one can check what another sent. Production refuses to start without a secret one. */
const DEVELOPMENT_PEPPER = 'not-secret-for-development-only!';

/** The whole configuration, typed and frozen. Injected by this class; nothing else reads the environment. */
export class AppConfig {
  readonly production: boolean;
  readonly server: {
    port: number;
    host?: string;
    trustProxy: number;
    requestTimeoutMs: number;
    shutdownDelayMs: number;
    /** Null is off. */
    metricsPort: number | null;
    logLevel: Env['LOG_LEVEL'];
  };
  /** Base URL and issuer, without a trailing slash. */
  readonly publicUrl: string;
  /** Base URL of permalinks, without a trailing slash. */
  readonly siteUrl: string;
  readonly database: {
    url: string;
    timeoutMs: number;
    poolSize: number;
    queueLimit: number;
    migrateAtStart: boolean;
  };
  readonly demo: boolean;
  /** The public app of the documentation's "Authorize" button. */
  readonly docsClientId?: string;
  readonly sms: SmsConfig;
  readonly otp: {
    pepper: string;
    defaultCountry?: string;
    seconds: number;
    phoneFailures: number;
    resendSeconds: number;
    phoneHourly: number;
    phoneDaily: number;
    addressHourly: number;
    dailyTotal: number;
    /** Countries that get messages; undefined is all of them. */
    countries?: readonly string[];
  };
  readonly authorize: { errorsBeforeSignIn: 'redirect' | 'page'; refuseReusedChallenge: boolean };
  /** Lifetimes in seconds. */
  readonly lifetimes: {
    code: number;
    accessToken: number;
    refreshIdle: number;
    grant: number;
    transaction: number;
    session: number;
  };
  /** Budgets per rolling window; 0 is off. */
  readonly budgets: {
    windowSeconds: number;
    tokenFailures: number;
    tokenAddressFailures: number;
    tokenCalls: number;
    authorizeCalls: number;
    decisionFailures: number;
    decisionAddressFailures: number;
    decisionCalls: number;
  };
  readonly quota: { defaultLimit: number; plans: Plans };

  constructor(env: Env) {
    this.production = env.NODE_ENV === 'production';
    this.server = {
      port: env.PORT,
      host: env.HOST,
      trustProxy: env.TRUST_PROXY,
      requestTimeoutMs: env.REQUEST_TIMEOUT_MS,
      shutdownDelayMs: env.SHUTDOWN_DELAY_MS ?? (this.production ? 5000 : 0),
      metricsPort: env.METRICS_PORT === 'off' ? null : env.METRICS_PORT,
      logLevel: env.LOG_LEVEL,
    };
    this.publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`;
    this.siteUrl = env.SITE_URL ?? this.publicUrl;
    this.database = {
      url: env.DATABASE_URL,
      timeoutMs: env.DB_TIMEOUT_MS,
      poolSize: env.DB_POOL_SIZE,
      queueLimit: env.DB_QUEUE_LIMIT,
      migrateAtStart: env.MIGRATE ?? !this.production,
    };
    this.demo = env.DEMO ?? (!this.production && env.DATABASE_URL.startsWith('sqlite:'));
    this.docsClientId = env.DOCS_CLIENT_ID ?? (this.demo ? DEMO_DOCS_CLIENT_ID : undefined);
    this.sms = smsConfig(env);
    this.otp = {
      pepper: env.OTP_PEPPER ?? DEVELOPMENT_PEPPER,
      defaultCountry: env.OTP_DEFAULT_COUNTRY,
      seconds: env.OTP_SECONDS,
      phoneFailures: env.OTP_PHONE_FAILURES,
      resendSeconds: env.OTP_RESEND_SECONDS,
      phoneHourly: env.OTP_PHONE_HOURLY,
      phoneDaily: env.OTP_PHONE_DAILY,
      addressHourly: env.OTP_ADDRESS_HOURLY,
      dailyTotal: env.OTP_DAILY_TOTAL,
      countries: env.OTP_COUNTRIES?.split(','),
    };
    this.authorize = {
      errorsBeforeSignIn: env.OAUTH_ERRORS_BEFORE_SIGN_IN,
      refuseReusedChallenge: env.OAUTH_REFUSE_REUSED_CHALLENGE,
    };
    this.lifetimes = {
      code: env.OAUTH_CODE_SECONDS,
      accessToken: env.OAUTH_ACCESS_TOKEN_SECONDS,
      refreshIdle: env.OAUTH_REFRESH_IDLE_SECONDS,
      grant: env.OAUTH_GRANT_SECONDS,
      transaction: env.OAUTH_TRANSACTION_SECONDS,
      session: env.OAUTH_SESSION_SECONDS,
    };
    this.budgets = {
      windowSeconds: env.OAUTH_WINDOW_SECONDS,
      tokenFailures: env.OAUTH_TOKEN_FAILURES,
      tokenAddressFailures: env.OAUTH_TOKEN_ADDRESS_FAILURES,
      tokenCalls: env.OAUTH_TOKEN_CALLS,
      authorizeCalls: env.OAUTH_AUTHORIZE_CALLS,
      decisionFailures: env.OAUTH_DECISION_FAILURES,
      decisionAddressFailures: env.OAUTH_DECISION_ADDRESS_FAILURES,
      decisionCalls: env.OAUTH_DECISION_CALLS,
    };
    this.quota = { defaultLimit: env.QUOTA_DEFAULT_LIMIT, plans: plansOf(env.QUOTA_PLANS) };
    Object.freeze(this);
  }

  /** Whether browsers reach the service over https, which decides cookie names and HSTS. */
  get secure(): boolean {
    return this.publicUrl.startsWith('https:');
  }
}

/** What is wrong with the environment, one line per variable. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/**
 * Reads the configuration; an empty variable counts as unset.
 * @throws ConfigError with one line for every variable that is wrong or unsafe in production
 */
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

function missing(env: Env): string[] {
  const needed: (keyof Env)[] = {
    console: [],
    file: [],
    webhook: ['SMS_WEBHOOK_URL', 'SMS_WEBHOOK_SECRET'] satisfies (keyof Env)[],
    twilio: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM'] satisfies (keyof Env)[],
  }[env.SMS_SENDER];
  return needed
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

function smsConfig(env: Env): SmsConfig {
  const timeoutMs = env.SMS_TIMEOUT_MS;
  switch (env.SMS_SENDER) {
    case 'console':
      return { sender: 'console' };
    case 'file':
      return { sender: 'file', file: env.SMS_FILE };
    case 'webhook':
      return {
        sender: 'webhook',
        url: env.SMS_WEBHOOK_URL ?? '',
        secret: env.SMS_WEBHOOK_SECRET ?? '',
        timeoutMs,
      };
    case 'twilio':
      return {
        sender: 'twilio',
        apiUrl: env.TWILIO_API_URL,
        accountSid: env.TWILIO_ACCOUNT_SID ?? '',
        authToken: env.TWILIO_AUTH_TOKEN ?? '',
        from: env.TWILIO_FROM ?? '',
        timeoutMs,
      };
  }
}

function plansOf(text: string): Plans {
  const entries = text
    .split(',')
    .filter((entry) => entry !== '')
    .map((entry): [string, number | null] => {
      const [name = '', limit = ''] = entry.split('=');
      return [name, limit === 'unlimited' ? null : Number(limit)];
    });
  return Object.freeze(Object.fromEntries(entries));
}
