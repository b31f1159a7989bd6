import { randomBytes } from 'node:crypto';
import { Cluster } from '../../support/cluster.js';
import type { TestDatabase } from '../../support/database.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { MANY_SIGN_INS, type TestApp, useTestApp } from '../../support/test-app.js';
import { CONTROL } from './hostile.js';

/** The built service as a process that logs whatever it can, on a database that has its schema. */
export class LoggingService extends Cluster {
  private constructor(private readonly process: ServiceProcess) {
    super(process.baseUrl, [process]);
  }

  static async start({ url }: TestDatabase): Promise<LoggingService> {
    const env = {
      ...MANY_SIGN_INS,
      OTP_PEPPER: randomBytes(32).toString('hex'),
      QUOTA_DEFAULT_LIMIT: '1000000',
      LOG_LEVEL: 'verbose',
      MIGRATE: '0',
      DEMO: '0',
    };
    return new LoggingService(await startProcess({ url, env }));
  }

  /** Twice, since a kept connection may be closed while it is taken up again (RFC 9112 §9.3.1). */
  override fetch(path: string, init?: RequestInit): Promise<Response> {
    return super.fetch(path, init).catch(() => super.fetch(path, init));
  }

  /**
   * Ends the service. Asserts that every line of its log is one JSON object of its own, without what others wrote.
   * Answers how many lines there are.
   */
  async expectCleanLog(): Promise<number> {
    expect(await this.process.stop()).toBe(0);
    const output = this.process.output();
    // Whoever starts it is told where it listens before it serves anybody.
    const log = output.slice(output.search(/^\{/m));
    const lines = log.trimEnd().split('\n');
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.filter(({ msg, level }) => msg === 'forged' || level === 'fatal')).toEqual([]);
    expect(told.filter(({ level }) => level === 'error')).toEqual([]);
    expect(log).not.toMatch(/alert\(1\)|DROP TABLE/);
    expect(log).not.toMatch(CONTROL);
    return lines.length;
  }
}

/**
 * For a `describe`: an application that prepares what there is, and the service on the same database, which is asked. Both
 * are there once the tests run.
 */
export function useBoth(database: TestDatabase): {
  app: () => TestApp;
  service: () => LoggingService;
} {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000' });
  let service: LoggingService | undefined;
  beforeAll(async () => {
    // The process goes by the real clock.
    app().clock.set(new Date().toISOString());
    service = await LoggingService.start(database);
  });
  afterAll(() => service?.stop());
  return {
    app,
    service: () => {
      if (!service) throw new Error('The service starts before the tests.');
      return service;
    },
  };
}
