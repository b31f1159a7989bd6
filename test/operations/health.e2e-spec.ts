import { MetricsServer } from '../../src/operations/metrics/metrics-server.js';
import { onOneEngine, onEachServer } from '../support/database.js';
import { freePort } from '../support/free-port.js';
import { json } from '../support/responses.js';
import { TestApp, useTestApp } from '../support/test-app.js';

const OK = [200, { status: 'ok' }];

onOneEngine('The health of a process', (database) => {
  let app: TestApp;
  let metricsPort: number;
  beforeAll(async () => {
    metricsPort = await freePort();
    app = await TestApp.start(database, { METRICS_PORT: String(metricsPort) });
    app.clock.set(new Date().toISOString());
    await app.service(MetricsServer).listen();
  });
  afterAll(() => app?.stop());

  async function ask(path: string): Promise<unknown> {
    const answer = await app.fetch(path);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    if (answer.status === 503) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    return [answer.status, await json(answer)];
  }

  it('C145 It lives and is ready', async () => {
    expect(await ask('/livez')).toEqual(OK);
    expect(await ask('/readyz')).toEqual(OK);
  });

  it('C145 While a migration is pending it lives, but is not ready', async () => {
    const rename = (from: string, to: string): Promise<unknown> =>
      app.dataSource.query(`UPDATE migrations SET name = '${to}' WHERE name = '${from}'`);
    await rename('CreatePlatform1795219200000', 'another');
    const pending = await ask('/readyz');
    const alive = await ask('/livez');
    await rename('another', 'CreatePlatform1795219200000');
    expect(pending).toEqual([503, { status: 'not ready', reason: 'migrations are pending' }]);
    expect(alive).toEqual(OK);
    expect(await ask('/readyz')).toEqual(OK);
  });

  it('C145 The metrics are on the port of the operators, which has nothing else', async () => {
    for (const path of ['/metrics', '/metrics/', '/dev/v1/metrics'])
      expect((await app.fetch(path)).status).toBe(404);
    const operators = `http://127.0.0.1:${metricsPort}`;
    const metrics = await fetch(`${operators}/metrics`);
    expect([metrics.status, await metrics.text()]).toEqual([
      200,
      expect.stringMatching(/^process_cpu_seconds_total /m),
    ]);
    for (const path of ['/livez', '/readyz', '/dev/v1/me'])
      expect((await fetch(operators + path)).status).toBe(404);
  });
});

onEachServer('Many who ask at once whether a process is ready', (database) => {
  const app = useTestApp(database);

  it('are told the same, and do not each ask the database', async () => {
    const asking = 50;
    app().clock.set(new Date().toISOString());
    const ask = (): Promise<Response> => app().fetch('/readyz');
    const alone = await app().statementsOf(ask);
    const answers: Response[] = [];
    const together = await app().statementsOf(async () => {
      answers.push(...(await Promise.all(Array.from({ length: asking }, ask))));
    });
    expect(answers.map(({ status }) => status)).toEqual(Array(asking).fill(200));
    expect(alone.length).toBeGreaterThan(0);
    expect(together.length).toBeLessThan((asking * alone.length) / 2);
  });
});
