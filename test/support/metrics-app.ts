import { MetricsServer } from '../../src/platform/observability/metrics-server.js';
import type { TestDatabase } from './database.js';
import { freePort } from './free-port.js';
import { scrape } from './prometheus.js';
import { TestApp } from './test-app.js';

/** Starts an application with its metrics port before the tests of a `describe` and stops it afterwards. */
export function useMetricsApp(database: TestDatabase, env: Record<string, string> = {}) {
  let app: TestApp | undefined;
  let metricsOrigin = '';
  beforeAll(async () => {
    const port = await freePort();
    metricsOrigin = `http://127.0.0.1:${port}`;
    app = await TestApp.start(database, { METRICS_PORT: String(port), ...env });
    await app.service(MetricsServer).listen();
  });
  afterAll(() => app?.stop());
  return {
    app: (): TestApp => {
      if (!app) throw new Error('The app is not started: call this in a test or hook.');
      return app;
    },
    metricsOrigin: () => metricsOrigin,
    /** The value of a metric with these labels, if it has one. */
    read: async (name: string, labels?: Record<string, string>): Promise<number | undefined> =>
      (await scrape(`${metricsOrigin}/metrics`)).metric(name, labels),
    /** The text of all metrics. */
    readAll: async (): Promise<string> => (await fetch(`${metricsOrigin}/metrics`)).text(),
  };
}
