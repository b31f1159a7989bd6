import { Logger } from '@nestjs/common';
import { useMetricsApp } from '../support/metrics-app.js';
import { onOneEngine, onOneServer } from '../support/database.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const OK = [200, { status: 'ok' }];

onOneEngine('Health endpoints', (database) => {
  const { app, metricsOrigin, readAll } = useMetricsApp(database);
  beforeAll(() => app().clock.set(new Date().toISOString()));

  async function read(path: string): Promise<unknown> {
    const response = await app().fetch(path);
    expect(response.headers.get('cache-control')).toBe('no-store');
    if (response.status === 503) expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    return [response.status, await json(response)];
  }

  it('C145 report a live and ready process', async () => {
    expect(await read('/livez')).toEqual(OK);
    expect(await read('/readyz')).toEqual(OK);
  });

  it('C145 report a live process that is not ready while a migration is pending, and name the migration only in the log', async () => {
    const warnings: string[] = [];
    const warn = vi
      .spyOn(Logger.prototype, 'warn')
      .mockImplementation((line: string) => warnings.push(line));
    onTestFinished(() => warn.mockRestore());
    const rename = (from: string, to: string): Promise<unknown> =>
      app().dataSource.query(`UPDATE migrations SET name = '${to}' WHERE name = '${from}'`);
    await rename('CreatePlatform1795219200000', 'another');
    const pending = await read('/readyz');
    await read('/readyz');
    const alive = await read('/livez');
    await rename('another', 'CreatePlatform1795219200000');
    expect(pending).toEqual([503, { status: 'not ready', reason: 'maintenance' }]);
    expect(warnings).toEqual(['Not ready: migrations are pending. Run "devplatform db migrate".']);
    expect(alive).toEqual(OK);
    expect(await read('/readyz')).toEqual(OK);
  });

  it('C145 are not on the metrics port, and metrics are not on the API port', async () => {
    for (const path of ['/metrics', '/metrics/', '/dev/v1/metrics'])
      expect((await app().fetch(path)).status).toBe(404);
    expect(await readAll()).toMatch(/^process_cpu_seconds_total /m);
    for (const path of ['/livez', '/readyz', '/dev/v1/me'])
      expect((await fetch(metricsOrigin() + path)).status).toBe(404);
  });
});

onOneServer('Concurrent readiness checks', (database) => {
  const app = useTestApp(database);

  it('share their statements', async () => {
    const checks = 50;
    app().clock.set(new Date().toISOString());
    const check = (): Promise<Response> => app().fetch('/readyz');
    const alone = await app().statementsOf(check);
    const responses: Response[] = [];
    const together = await app().statementsOf(async () => {
      responses.push(...(await Promise.all(Array.from({ length: checks }, check))));
    });
    expect(responses.map(({ status }) => status)).toEqual(Array(checks).fill(200));
    expect(alone.length).toBeGreaterThan(0);
    expect(together.length).toBeLessThan((checks * alone.length) / 2);
  });
});
