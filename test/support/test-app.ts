import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { applicationOptions, configureApp } from '../../src/app.js';
import { AppModule } from '../../src/app.module.js';
import { Clock } from '../../src/platform/clock.js';
import { type Scope, SCOPES } from '../../src/platform/access/scopes.js';
import type { AppConfig } from '../../src/platform/config/app-config.js';
import type { RateLimits } from '../../src/platform/config/rate-limits.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { Migrator } from '../../src/platform/database/migrations/migrator.js';
import { DatabaseClock } from '../../src/platform/database/database-status.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { JsonAdapter } from '../../src/platform/http/server/json-adapter.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import {
  AppsService,
  type RegisteredApp,
  type Registration,
} from '../../src/modules/oauth/clients/apps.service.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { GrantUsageRecorder } from '../../src/modules/oauth/tokens/grant-usage-recorder.js';
import { SmsSender } from '../../src/modules/oauth/sign-in/sms/sms-senders.js';
import { type IssuedTokens, TokenIssuer } from '../../src/modules/oauth/tokens/token-issuer.js';
import { CallLog } from '../../src/modules/quota/calls/call-log.service.js';
import {
  type UserWithPhone,
  type NewUser,
  UsersService,
} from '../../src/modules/users/users.service.js';
import { copySchema, type TestDatabase } from './database.js';
import { FixedClock, FollowingDatabaseClock, SmsInbox } from './doubles.js';
import { freePort } from './free-port.js';
import { recordQueries } from './queries.js';
import { collectFrom } from './response-collector.js';
import { TcpProxy } from './tcp-proxy.js';

/** The value that switches a rate limit off. */
export const UNLIMITED = 0;

/** The limits that tests switch off, with the reason. */
const SWITCHED_OFF = {
  // Many test users sign in from one address within an hour.
  'address-messages-per-hour': UNLIMITED,
  // The clock of a test stands still, so all comments and deletions of a test fall into one minute.
  'grant-writes-per-minute': UNLIMITED,
} as const satisfies Partial<RateLimits>;

/** Sets rate limits. Disables those of `SWITCHED_OFF` that are not set. */
export function rateLimits(limits: Partial<RateLimits>): { RATE_LIMITS: string } {
  const changed = Object.entries({ ...SWITCHED_OFF, ...limits });
  return { RATE_LIMITS: changed.map(([name, limit]) => `${name}=${limit}`).join(',') };
}

/** The environment of most tests: the default limits, without those of `SWITCHED_OFF`. */
export const TEST_LIMITS = rateLimits({});

/** The defaults of the service, for tests about limits. */
export const DEFAULT_LIMITS = { RATE_LIMITS: '' };

export interface TestClient extends RegisteredApp {
  /** Undefined for a public app. */
  secret?: string;
}

/** The real application over HTTP, with its own database. Only the clock and, without `SMS_SENDER`, the SMS gateway are doubles. */
export class TestApp {
  private addedUsers = 0;

  private constructor(
    readonly config: AppConfig,
    readonly nest: NestExpressApplication,
    readonly clock: FixedClock,
    readonly sms: SmsInbox,
  ) {}

  static async start(
    { url }: Pick<TestDatabase, 'url'>,
    env: Record<string, string> = {},
    sms = new SmsInbox(),
  ): Promise<TestApp> {
    const port = await freePort();
    const config = loadConfig({
      NODE_ENV: 'test',
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      DATABASE_URL: url,
      DEMO: '0',
      LOG_LEVEL: 'fatal',
      ...TEST_LIMITS,
      ...env,
    });
    const clock = new FixedClock();
    const builder = Test.createTestingModule({ imports: [AppModule.with(config)] })
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(DatabaseClock)
      .useClass(FollowingDatabaseClock);
    if (env.SMS_SENDER === undefined) builder.overrideProvider(SmsSender).useValue(sms);
    const testing = await builder.compile();
    testing.get<FollowingDatabaseClock>(DatabaseClock, { strict: false }).follow(clock);
    const nest = testing.createNestApplication<NestExpressApplication>(
      new JsonAdapter(),
      applicationOptions(config),
    );
    configureApp(nest, config);
    if (!url.startsWith('sqlite:')) await copySchema(url);
    await nest.get(Migrator).migrate();
    await nest.listen(port, '127.0.0.1');
    collectFrom(nest.getHttpServer());
    // Tests run jobs themselves. Scheduled jobs follow the real clock and would change counted rows.
    const scheduler = nest.get(SchedulerRegistry);
    for (const job of scheduler.getCronJobs().values()) await job.stop();
    scheduler.deleteInterval('webhooks');
    return new TestApp(config, nest, clock, sms);
  }

  get databaseClock(): FollowingDatabaseClock {
    return this.service(DatabaseClock) as FollowingDatabaseClock;
  }

  get baseUrl(): string {
    return this.config.publicUrl;
  }

  /** A page of the service by another name of this machine, as a redirect URI that exists: it may not be on the service itself. */
  pageOnOtherHost(path: string): string {
    const url = new URL(path, this.baseUrl);
    url.hostname = url.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
    return url.href;
  }

  get dataSource(): DataSource {
    return this.nest.get(DataSource);
  }

  service<T>(type: Type<T> | (abstract new (...parameters: never[]) => T)): T {
    return this.nest.get<T>(type);
  }

  stop(): Promise<void> {
    return this.nest.close();
  }

  /** Sends one request without following redirects. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, this.baseUrl), { redirect: 'manual', ...init });
  }

  /** Calls the developer API with a token and an optional JSON body. */
  call(token: string, method: string, path: string, body?: unknown): Promise<Response> {
    return callAt(this.baseUrl, token, method, path, body);
  }

  /** @param user.testCode the fixed code of a test member, whose number is then reserved for fiction */
  addUser({
    testCode,
    ...user
  }: Partial<NewUser> & { testCode?: string } = {}): Promise<UserWithPhone> {
    this.addedUsers += 1;
    const number = this.addedUsers;
    // The area codes from 212 to 219 exist.
    const fictional = `+1${212 + Math.floor(number / 100)}55501${String(number % 100).padStart(2, '0')}`;
    const phone = testCode === undefined ? `+1415555${1000 + number}` : fictional;
    return this.service(UsersService).add(
      { phone, name: `Person ${this.addedUsers}`, ...user },
      { actor: 'test' },
      testCode === undefined ? undefined : { code: testCode },
    );
  }

  async addClient(registration: Partial<Registration> = {}): Promise<TestClient> {
    const { app, secret } = await this.service(AppsService).register(
      {
        name: 'Garden Share',
        kind: 'confidential',
        redirectUris: ['https://garden.example/callback'],
        scope: SCOPES.join(' '),
        // Most tests use the same name again.
        allowSimilarName: true,
        ...registration,
      },
      { actor: 'test' },
    );
    return { ...app, secret };
  }

  /** Issues tokens without the pages and the exchange, for tests about something else. */
  issueTokens(
    user: Pick<UserWithPhone, 'id'>,
    { clientId }: TestClient,
    scopes: readonly Scope[] = SCOPES,
  ): Promise<IssuedTokens> {
    return this.service(TransactionRunner).run(async (tx) => {
      const grant = await this.service(GrantsService).create(tx, user.id, clientId, scopes);
      return this.service(TokenIssuer).issue(tx, grant, scopes);
    });
  }

  async accessToken(...args: Parameters<TestApp['issueTokens']>): Promise<string> {
    return (await this.issueTokens(...args)).accessToken;
  }

  /** Returns the SQL statements that run during `work`, each on one line, including START TRANSACTION and COMMIT. */
  async statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    const queries = await recordQueries(this.dataSource, work);
    return queries.map(({ query }) => query.replaceAll(/\s+/g, ' ').trim());
  }
}

/** Calls the developer API of the service at this URL with a token and an optional JSON body. */
export function callAt(
  baseUrl: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(new URL(`/dev/v1${path}`, baseUrl), {
    redirect: 'manual',
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Starts an application before the tests of a `describe` and stops it afterwards. */
export function useTestApp(database: TestDatabase, env?: Record<string, string>): () => TestApp {
  let app: TestApp | undefined;
  beforeAll(async () => {
    app = await TestApp.start(database, env);
  });
  afterAll(async () => {
    await app?.stop();
    app = undefined;
  });
  return () => {
    if (!app) throw new Error('The app is not started: call this in a test or hook.');
    return app;
  };
}

/** Runs `work` while a table has another name, so that the statements that need it fail. */
export async function withoutTable<T>(
  { dataSource }: TestApp,
  table: string,
  work: () => Promise<T>,
): Promise<T> {
  await dataSource.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  try {
    return await work();
  } finally {
    await dataSource.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
  }
}

/** Like `useTestApp`, for an application that reaches its database server through a proxy. */
export function useProxiedApp(
  database: TestDatabase,
  env?: Record<string, string>,
): { app: () => TestApp; proxy: () => TcpProxy } {
  let started: { app: TestApp; proxy: TcpProxy } | undefined;
  beforeAll(async () => {
    const proxy = await TcpProxy.start(database.url);
    started = { app: await TestApp.start({ ...database, url: proxy.url }, env), proxy };
  });
  afterAll(async () => {
    await started?.proxy.repair();
    await started?.app.stop();
    await started?.proxy.stop();
  });
  const running = () => {
    if (!started) throw new Error('The app is not started: call this in a test or hook.');
    return started;
  };
  return { app: () => running().app, proxy: () => running().proxy };
}

/** The number of requests in flight, including queued ones. */
export async function requestsInFlight(app: TestApp): Promise<number> {
  const gauge = app.service(Metrics).registry.getSingleMetric('http_requests_in_flight');
  const { values = [] } = (await gauge?.get()) ?? {};
  return values[0]?.value ?? 0;
}

/** Writes the call log and the last use of grants, which the service defers. */
export async function flushDeferredWrites(app: TestApp): Promise<void> {
  await app.service(CallLog).flush();
  await app.service(GrantUsageRecorder).flush();
}

/**
 * Whether a MySQL or MariaDB server is executing a statement that begins with `statement` in the app's database. The statement may
 * be waiting for a lock. The server may list it for a moment after it has finished. Reads the process list: `innodb_trx` is stale
 * when it is read more than ten times a second.
 */
export async function isStatementRunning(
  { dataSource }: TestApp,
  statement: string,
): Promise<boolean> {
  const rows = await dataSource.query<unknown[]>(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE ?',
    [`${statement}%`],
  );
  return rows.length > 0;
}

const RUNS = 3;

/**
 * Runs `work` three times and returns the statements of the run with the fewest statements. The other runs may contain a statement
 * of a background write.
 */
export async function statementsWithoutBackground(
  app: TestApp,
  work: () => Promise<unknown>,
): Promise<string[]> {
  let fewest: string[] | undefined;
  for (let run = 0; run < RUNS; run += 1) {
    // Otherwise, one background transaction could add a statement to each run.
    await flushDeferredWrites(app);
    const statements = await app.statementsOf(work);
    if (!fewest || statements.length < fewest.length) fewest = statements;
  }
  return fewest ?? [];
}
