import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Brand } from './brand.js';
import { databaseTls } from './database-tls.js';
import type { Env } from './env.js';
import { DEFAULT_RATE_LIMITS, DEMO_RATE_LIMITS, type RateLimits } from './rate-limits.js';

/** Lifetimes in seconds that are not configurable. */
const FIXED_LIFETIMES = {
  /** Authorization codes. RFC 6749 §4.1.2 recommends at most ten minutes. */
  code: 300,
  /** Sign-ins and authorization requests, from the sign-in page to the user's decision. */
  signIn: 900,
  /** Sign-in sessions, after their last use. */
  session: 1800,
};

/** Timeout of one call to an SMS gateway. */
const GATEWAY_TIMEOUT_MS = 5000;

/** The settings of the selected SMS sender. */
function smsConfig(env: Env) {
  switch (env.SMS_SENDER) {
    case 'console':
      return { sender: 'console' as const };
    case 'file':
      return { sender: 'file' as const, file: env.SMS_FILE };
    case 'webhook':
      return {
        sender: 'webhook' as const,
        url: env.SMS_WEBHOOK_URL ?? '',
        secret: env.SMS_WEBHOOK_SECRET ?? '',
        timeoutMs: GATEWAY_TIMEOUT_MS,
      };
    case 'twilio':
      return {
        sender: 'twilio' as const,
        apiUrl: env.TWILIO_API_URL,
        accountSid: env.TWILIO_ACCOUNT_SID ?? '',
        /** The SID of the API key, or of the account, whose password is the auth token. */
        username: env.TWILIO_API_KEY ?? env.TWILIO_ACCOUNT_SID ?? '',
        password: (env.TWILIO_API_KEY ? env.TWILIO_API_SECRET : env.TWILIO_AUTH_TOKEN) ?? '',
        from: env.TWILIO_FROM ?? '',
        timeoutMs: GATEWAY_TIMEOUT_MS,
      };
  }
}

/** A value of METRICS_HOST. */
const CONTAINER = 'container';

export type SmsConfig = ReturnType<typeof smsConfig>;

/** Fixed, so that all processes can verify one-time passwords. Production requires OTP_PEPPER instead. */
export const DEVELOPMENT_PEPPER = 'not-secret-for-development-only!';

/** The whole configuration, deeply frozen. No other code reads the environment. */
export class AppConfig {
  readonly production;
  readonly server;
  /** Base URL and issuer, without a trailing slash. */
  readonly publicUrl;
  /** Base URL of permalinks, without a trailing slash. */
  readonly siteUrl;
  readonly brand: Brand;
  /** URI for reports of vulnerabilities. */
  readonly securityContact;
  /** Base URL of the OpenTelemetry collector; undefined if tracing is off. */
  readonly traceCollector;
  readonly database;
  readonly demo;
  readonly sms: SmsConfig;
  readonly otp;
  /** Lifetimes in seconds. */
  readonly lifetimes;
  readonly rateLimits: RateLimits;
  readonly quota;
  /** In days. */
  readonly retention;

  /** @param warnings what is unsafe in the sources of the environment, each without a full stop */
  constructor(
    env: Env,
    readonly warnings: readonly string[] = [],
  ) {
    this.production = env.NODE_ENV === 'production';
    this.server = {
      port: env.PORT,
      host: env.HOST,
      trustProxy: env.TRUST_PROXY,
      requestTimeoutMs: env.REQUEST_TIMEOUT_MS,
      keepAliveTimeoutMs: env.KEEP_ALIVE_TIMEOUT_MS,
      shutdownDelayMs: env.SHUTDOWN_DELAY_MS ?? (this.production ? 5000 : 0),
      metricsHost: env.METRICS_HOST === CONTAINER ? '0.0.0.0' : env.METRICS_HOST,
      /** Whether the network of a container, instead of a firewall, protects the metrics. */
      isMetricsHostOfContainer: env.METRICS_HOST === CONTAINER,
      /** Null if off. */
      metricsPort: env.METRICS_PORT === 'off' ? null : env.METRICS_PORT,
      logLevel: env.LOG_LEVEL,
    };
    this.publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`;
    this.siteUrl = env.SITE_URL ?? this.publicUrl;
    this.brand = {
      name: env.NETWORK_NAME,
      logo: env.NETWORK_LOGO,
      colors: env.NETWORK_COLOR,
      privacyUrl: env.PRIVACY_URL,
      termsUrl: env.TERMS_URL,
      supportUrl: env.SUPPORT_URL,
    };
    this.securityContact = env.SECURITY_CONTACT;
    this.traceCollector = env.OTEL_EXPORTER_OTLP_ENDPOINT;
    this.database = {
      address: env.DATABASE_URL,
      /** Undefined for plain text. */
      tls: databaseTls(env),
      timeoutMs: env.DB_TIMEOUT_MS,
      poolSize: env.DB_POOL_SIZE,
      queueLimit: env.DB_QUEUE_LIMIT,
      queueTimeoutMs: env.DB_QUEUE_TIMEOUT_MS,
      migrateAtStart: env.MIGRATE ?? !this.production,
    };
    this.demo = env.DEMO ?? (!this.production && env.DATABASE_URL.engine === 'sqlite');
    this.sms = smsConfig(env);
    this.otp = {
      pepper: env.OTP_PEPPER ?? DEVELOPMENT_PEPPER,
      defaultCountry: env.OTP_DEFAULT_COUNTRY,
      seconds: env.OTP_SECONDS,
      dailyTotal: env.OTP_DAILY_TOTAL,
      /** Countries that may receive messages; undefined for all. */
      countries: env.OTP_COUNTRIES,
    };
    this.lifetimes = {
      ...FIXED_LIFETIMES,
      accessToken: env.OAUTH_ACCESS_TOKEN_SECONDS,
      refreshIdle: env.OAUTH_REFRESH_IDLE_SECONDS,
      grant: env.OAUTH_GRANT_SECONDS,
    };
    this.rateLimits = {
      ...DEFAULT_RATE_LIMITS,
      ...(this.demo ? DEMO_RATE_LIMITS : {}),
      ...env.RATE_LIMITS,
    };
    this.quota = { defaultLimit: env.QUOTA_DEFAULT_LIMIT, plans: env.QUOTA_PLANS };
    this.retention = {
      callLog: env.CALL_LOG_DAYS,
      auditLog: env.AUDIT_LOG_DAYS,
      deletedPosts: env.DELETED_POST_DAYS,
    };
    deepFreeze(this);
  }

  /** Whether browsers use https. Determines cookie names and HSTS. */
  get secure(): boolean {
    return this.publicUrl.startsWith('https:');
  }

  /** The redirect URI of the app for which Swagger UI runs the flow. */
  get docsRedirectUri(): string {
    return `${this.publicUrl}/docs/oauth2-redirect.html`;
  }

  /** Whether OTP_PEPPER is set. */
  get hasOwnPepper(): boolean {
    return this.otp.pepper !== DEVELOPMENT_PEPPER;
  }
}

function deepFreeze(value: object): void {
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) deepFreeze(member as object);
  Object.freeze(value);
}

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
