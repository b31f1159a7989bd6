import { Metrics } from '../../src/metrics/metrics.js';
import type { TestApp } from './test-app.js';

/** How many requests an app is answering, whether they wait or not. */
export async function inFlight(app: TestApp): Promise<number> {
  const gauge = app.service(Metrics).registry.getSingleMetric('http_requests_in_flight');
  const { values = [] } = (await gauge?.get()) ?? {};
  return values[0]?.value ?? 0;
}
