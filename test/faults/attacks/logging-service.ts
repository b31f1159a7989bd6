import { randomBytes } from 'node:crypto';
import { Cluster } from '../../support/cluster.js';
import type { TestDatabase } from '../../support/database.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { rateLimits, UNLIMITED, type TestApp, useTestApp } from '../../support/test-app.js';
import { HIDDEN } from './hostile-texts.js';

/**
 * Thousands of hostile forms come from one address, many for the same app, browser or phone. With limits, the service would
 * reject nearly all forms unread.
 */
const NO_LIMITS = rateLimits({
  'token-failures': UNLIMITED,
  'token-address-failures': UNLIMITED,
  'authorize-calls': UNLIMITED,
  'sign-in-failures': UNLIMITED,
  'sign-in-address-failures': UNLIMITED,
  'sign-in-calls': UNLIMITED,
  'sign-in-address-calls': UNLIMITED,
  'phone-failures': UNLIMITED,
  'phone-messages-per-minute': UNLIMITED,
  'phone-messages-per-hour': UNLIMITED,
  'phone-messages-per-day': UNLIMITED,
  'address-messages-per-hour': UNLIMITED,
});

/** The built service as a process that logs everything, on a database that has its schema. */
export class LoggingService extends Cluster {
  private constructor(private readonly process: ServiceProcess) {
    super(process.baseUrl, [process]);
  }

  static async start({ url }: TestDatabase): Promise<LoggingService> {
    const env = {
      ...NO_LIMITS,
      OTP_PEPPER: randomBytes(32).toString('hex'),
      QUOTA_DEFAULT_LIMIT: '1000000',
      LOG_LEVEL: 'trace',
      MIGRATE: '0',
      DEMO: '0',
    };
    return new LoggingService(await startProcess({ url, env }));
  }

  /** Retries once, because the server may close an idle connection while it is reused (RFC 9112 §9.3.1). */
  override fetch(path: string, init?: RequestInit): Promise<Response> {
    return super.fetch(path, init).catch(() => super.fetch(path, init));
  }

  /**
   * Stops the service. Asserts that each line of its log is one JSON object without injected text. Returns the number of lines.
   */
  async expectCleanLog(): Promise<number> {
    expect(await this.process.stop()).toBe(0);
    const output = this.process.output();
    // The first lines show the operator the addresses of the service.
    const log = output.slice(output.search(/^\{/m));
    const lines = log.trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries.filter(({ msg, level }) => msg === 'forged' || level === 'fatal')).toEqual([]);
    expect(entries.filter(({ level }) => level === 'error')).toEqual([]);
    expect(log).not.toMatch(/alert\(1\)|DROP TABLE/);
    expect(log).not.toMatch(HIDDEN);
    return lines.length;
  }
}

/**
 * For a `describe`: an application for setup and assertions, and the service under test on the same database. Both are available
 * once the tests run.
 */
export function useAppAndService(database: TestDatabase): {
  app: () => TestApp;
  service: () => LoggingService;
} {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000' });
  let service: LoggingService | undefined;
  beforeAll(async () => {
    // The process uses the real clock.
    app().clock.set(new Date().toISOString());
    service = await LoggingService.start(database);
  });
  afterAll(() => service?.stop());
  return {
    app,
    service: () => {
      if (!service) throw new Error('Call this within a test: the service is not started yet.');
      return service;
    },
  };
}
