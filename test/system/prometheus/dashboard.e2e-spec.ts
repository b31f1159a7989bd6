import { inject } from 'vitest';
import { ScheduledJobs } from '../../../src/modules/operations/scheduled-jobs.service.js';
import { WebhookEndpoints } from '../../../src/modules/webhooks/webhook-endpoints.service.js';
import { MetricsServer } from '../../../src/platform/observability/metrics-server.js';
import { requestToken } from '../../support/oauth-flow.js';
import { onOneEngine } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { Member } from '../../support/member.js';
import {
  ALERTS_FILE,
  alerts,
  dashboardExpressions,
  type Expression,
  groupingOf,
  type Prometheus,
  scrape,
  selectorsOf,
  startPrometheus,
  wordsOf,
} from '../../support/prometheus.js';
import { rateLimits, TestApp, withoutTable } from '../../support/test-app.js';

/** Metrics and labels that Prometheus adds to every target. */
const ADDED_BY_PROMETHEUS = new Set(['up', 'job', 'instance']);
/** The functions and operators of the expressions: words that need no selector. */
const FUNCTIONS = new Set([
  'sum',
  'max',
  'rate',
  'increase',
  'histogram_quantile',
  'topk',
  'time',
  'vector',
  'absent',
  'and',
  'or',
]);
const POLL = { timeout: 10_000, interval: 250 };

const allExpressions: Expression[] = [
  ...(await dashboardExpressions()),
  ...(await alerts()).map(({ alert, expr }) => ({ where: `the alert ${alert}`, text: expr })),
];

onOneEngine('Dashboard and alerts', (database) => {
  let app: TestApp;
  let address: string;

  beforeAll(async () => {
    const port = await freePort();
    address = `127.0.0.1:${port}`;
    app = await TestApp.start(database, {
      METRICS_PORT: String(port),
      ...rateLimits({ 'token-failures': 1 }),
    });
    await app.service(MetricsServer).listen();
    await makeTraffic();
  });
  afterAll(() => app?.stop());

  /** Produces samples for each series: responses of every kind and an exceeded rate limit. */
  async function makeTraffic(): Promise<void> {
    const member = await Member.join(app);
    await member.publish();
    await member.get('/me');
    await member.get('/posts/post_none');
    await app.fetch('/dev/v1/me');
    await app
      .service(WebhookEndpoints)
      .set(member.client.clientId, 'http://127.0.0.1:9/events', { actor: 'test' }, async () => {});
    await app.service(ScheduledJobs).prune();
    await app.service(ScheduledJobs).closeEarlierMonths();
    await app.service(ScheduledJobs).rollUpUsage();
    const client = await app.addClient();
    for (const secret of ['wrong', 'wrong'])
      await requestToken(app, client, { client_secret: secret });
    await withoutTable(app, 'posts', async () =>
      expect((await member.get('/posts')).status).toBe(500),
    );
    await whileUnready(async () => expect(await readiness()).toBe(503));
  }

  async function readiness(): Promise<number> {
    // A process is ready only if its clock agrees with that of the database.
    app.clock.set(new Date().toISOString());
    return (await app.fetch('/readyz')).status;
  }

  /** Runs `work` while the service is not ready because its table of migrations is missing. */
  const whileUnready = (work: () => Promise<unknown>): Promise<unknown> =>
    withoutTable(app, 'migrations', work);

  /** Whether this engine has the series: servers have a pool, SQLite has a queue. */
  function isAvailable(selector: string): boolean {
    const isOfOtherEngine =
      database.engine.kind === 'sqlite' ? /^db_pool_/ : /^db_transactions_waiting\b/;
    return !isOfOtherEngine.test(selector);
  }

  it('use existing metrics and labels', async () => {
    const scraped = await scrape(`http://${address}/metrics`);
    // The operands of `and` have groupings of their own.
    const operands = allExpressions.flatMap(({ where, text }) =>
      text.split(/\band\b/).map((operand) => ({ where, text: operand })),
    );
    for (const { where, text } of operands) {
      for (const selector of selectorsOf(text)) {
        const [, name = '', matchers = ''] = /^(\w+)\{(.*)\}$/.exec(selector) ?? [];
        if (ADDED_BY_PROMETHEUS.has(name) || !isAvailable(selector)) continue;
        const matched = [...matchers.matchAll(/(\w+)(?:=|!)/g)].map(([, label = '']) => label);
        const labels = [...matched, ...groupingOf(text)].filter(
          (label) => !ADDED_BY_PROMETHEUS.has(label),
        );
        expect(scraped.metric(name), `${name} of ${where}`).toBeDefined();
        for (const label of labels)
          expect(scraped.labels(name), `labels of ${name} of ${where}`).toContain(label);
      }
    }
  });

  const found = inject('prometheus');
  const title = found ? `in ${found.label}` : '(skipped: no Prometheus found)';
  describe.skipIf(found === null)(title, () => {
    let prometheus: Prometheus;
    beforeAll(async () => {
      prometheus = await startPrometheus(found?.path ?? '', {
        target: address,
        rulesFile: ALERTS_FILE,
      });
    });
    afterAll(() => prometheus?.stop());

    it('select existing series', async () => {
      for (const { where, text } of allExpressions)
        for (const selector of selectorsOf(text).filter(isAvailable))
          await expect
            .poll(() => prometheus.query(selector), {
              ...POLL,
              message: `${selector} of ${where}`,
            })
            .not.toEqual([]);
    });

    it('have data in every panel', async () => {
      const shown = await dashboardExpressions();
      for (const { text } of shown) await expect(prometheus.query(text)).resolves.toBeDefined();
      for (const { where, text } of shown.filter((one) => selectorsOf(one.text).every(isAvailable)))
        await expect
          .poll(() => prometheus.query(text), { ...POLL, message: where })
          .not.toEqual([]);
    });

    it('evaluate every alert', async () => {
      const names = (await alerts()).map(({ alert }) => alert);
      const rules = () => prometheus.rules();
      await expect
        .poll(async () => (await rules()).every(({ health }) => health !== 'unknown'), POLL)
        .toBe(true);
      const results = (await rules()).map(({ name, health, lastError = '' }) => [
        name,
        health,
        lastError,
      ]);
      expect(results).toEqual(names.map((name) => [name, 'ok', '']));
    });

    it('alert when a process is not ready, and not before', async () => {
      const { expr = '' } =
        (await alerts()).find(({ alert }) => alert === 'DevPlatformNotReady') ?? {};
      const matching = async (): Promise<unknown> =>
        (await prometheus.query(expr)).map(({ metric }) => metric);
      expect(await readiness()).toBe(200);
      // With `>= 0`, the expression has a result as soon as Prometheus has enough samples.
      await expect.poll(() => prometheus.query(expr.replace('> 0', '>= 0')), POLL).not.toEqual([]);
      expect(await matching()).toEqual([]);
      await whileUnready(async () => {
        await expect
          .poll(async () => [await readiness(), await matching()], POLL)
          .toEqual([503, [{ instance: address }]]);
      });
    });
  });
});

describe('Expressions', () => {
  it.each(allExpressions)('give every metric a selector in braces: $where', ({ text }) => {
    expect(selectorsOf(text).length).toBeGreaterThan(0);
    expect(wordsOf(text).filter((word) => !FUNCTIONS.has(word))).toEqual([]);
  });
});
