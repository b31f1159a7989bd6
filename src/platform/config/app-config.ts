import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Env } from './env.js';

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

/** The sender that the environment names, with what it needs. */
export function smsConfig(env: Env): SmsConfig {
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

/** Named plans: posts per month, or null for unlimited. */
export type Plans = Readonly<Record<string, number | null>>;

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
    queueTimeoutMs: number;
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
  /** Lifetimes in seconds. */
  readonly lifetimes: {
    code: number;
    accessToken: number;
    refreshIdle: number;
    grant: number;
    transaction: number;
    session: number;
  };
  /** Attempts per rolling window; 0 is off. */
  readonly rateLimits: {
    windowSeconds: number;
    tokenFailures: number;
    tokenAddressFailures: number;
    tokenCalls: number;
    authorizeCalls: number;
    decisionFailures: number;
    decisionAddressFailures: number;
    decisionCalls: number;
    decisionAddressCalls: number;
  };
  readonly quota: { defaultLimit: number; plans: Plans };
  /** In days. */
  readonly retention: { callLog: number; auditLog: number; deletedPosts: number };

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
      queueTimeoutMs: env.DB_QUEUE_TIMEOUT_MS,
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
    this.lifetimes = {
      code: env.OAUTH_CODE_SECONDS,
      accessToken: env.OAUTH_ACCESS_TOKEN_SECONDS,
      refreshIdle: env.OAUTH_REFRESH_IDLE_SECONDS,
      grant: env.OAUTH_GRANT_SECONDS,
      transaction: env.OAUTH_TRANSACTION_SECONDS,
      session: env.OAUTH_SESSION_SECONDS,
    };
    this.rateLimits = {
      windowSeconds: env.OAUTH_WINDOW_SECONDS,
      tokenFailures: env.OAUTH_TOKEN_FAILURES,
      tokenAddressFailures: env.OAUTH_TOKEN_ADDRESS_FAILURES,
      tokenCalls: env.OAUTH_TOKEN_CALLS,
      authorizeCalls: env.OAUTH_AUTHORIZE_CALLS,
      decisionFailures: env.OAUTH_DECISION_FAILURES,
      decisionAddressFailures: env.OAUTH_DECISION_ADDRESS_FAILURES,
      decisionCalls: env.OAUTH_DECISION_CALLS,
      decisionAddressCalls: env.OAUTH_DECISION_ADDRESS_CALLS,
    };
    this.quota = { defaultLimit: env.QUOTA_DEFAULT_LIMIT, plans: plansOf(env.QUOTA_PLANS) };
    this.retention = {
      callLog: env.CALL_LOG_DAYS,
      auditLog: env.AUDIT_LOG_DAYS,
      deletedPosts: env.DELETED_POST_DAYS,
    };
    Object.freeze(this);
  }

  /** Whether browsers reach the service over https, which decides cookie names and HSTS. */
  get secure(): boolean {
    return this.publicUrl.startsWith('https:');
  }

  /** Whether one-time passwords are stored under a key that only the operator knows. */
  get hasOwnPepper(): boolean {
    return this.otp.pepper !== DEVELOPMENT_PEPPER;
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

/** Gives the one `AppConfig` to whoever asks for it by type. */
@Global()
@Module({})
export class ConfigModule {
  static with(config: AppConfig): DynamicModule {
    return {
      module: ConfigModule,
      providers: [{ provide: AppConfig, useValue: config }],
      exports: [AppConfig],
    };
  }
}
