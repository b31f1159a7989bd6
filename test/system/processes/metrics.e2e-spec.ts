import { readFile } from 'node:fs/promises';
import { MetricsServer } from '../../../src/platform/observability/metrics-server.js';
import { VERSION } from '../../../src/platform/version.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onOneEngine, onSqlite } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { startProcess } from '../../support/service-process.js';
import { TestApp } from '../../support/test-app.js';

onOneEngine('Metrics', (database) => {
  let app: TestApp;
  let metricsUrl: string;

  beforeAll(async () => {
    const port = await freePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    // A password that expires after one second is not sent again: the first retry comes later.
    app = await TestApp.start(database, { METRICS_PORT: String(port), OTP_SECONDS: '1' });
    await app.service(MetricsServer).listen();
  });
  afterAll(() => app?.stop());

  const metrics = async (): Promise<string> => (await fetch(metricsUrl)).text();

  it('have the Prometheus text format, their own port and path, and the version of the service and of Node', async () => {
    const response = await fetch(metricsUrl);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
    const labels = `version="${VERSION}",node_version="${process.versions.node}"`;
    expect(text).toContain(`build_info{${labels}} 1\n`);
    expect((await app.fetch('/metrics')).status).toBe(404);
    // As Prometheus sends with `params`.
    expect((await fetch(`${metricsUrl}?collect[]=x`)).status).toBe(200);
    const other = await fetch(metricsUrl.replace('/metrics', '/'));
    expect([other.status, await other.text()]).toEqual([404, 'The metrics are at /metrics.\n']);
  });

  it('are explained in docs/operate/watch.md, except those of prom-client about the process', async () => {
    const guide = await readFile('docs/operate/watch.md', 'utf8');
    const all = [...(await metrics()).matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
    const own = all.filter((name) => !/^(process|nodejs)_/.test(name));
    expect(own).toContain('build_info');
    expect(own.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  });

  it('O58 counts one-time passwords that could not be sent', async () => {
    expect(await metrics()).toMatch(/^otp_send_failures_total 0$/m);
    const user = await app.addUser();
    const visitor = new Browser(app);
    const phonePage = await visitor.open(authorizeLink(await app.addClient()));
    app.sms.refuse(1);
    await visitor.submit(phonePage, '/oauth/authorize/sign-in', { phone: user.phone });
    await expect.poll(metrics).toMatch(/^otp_send_failures_total 1$/m);
    expect(await metrics()).toMatch(/^otp_send_failure_codes_total\{code="other"\} 1$/m);
  });
});

onSqlite('Metrics port', (database) => {
  const freePortPromise = freePort();
  const start = (metricsPort: number) =>
    startProcess({ url: database.url, env: { METRICS_PORT: String(metricsPort), DEMO: '0' } });

  it('serves metrics, makes a second process on the same port fail to start, and is free after the shutdown', async () => {
    const service = await start(await freePortPromise);
    const url = `http://127.0.0.1:${await freePortPromise}/metrics`;
    try {
      expect((await fetch(url)).status).toBe(200);
      await expect(start(await freePortPromise)).rejects.toThrow(
        `Port ${await freePortPromise} is in use.`,
      );
    } finally {
      expect(await service.stop()).toBe(0);
    }
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('stays closed with METRICS_PORT=off', async () => {
    const app = await TestApp.start(database, { METRICS_PORT: 'off' });
    try {
      const listening = (): number =>
        process.getActiveResourcesInfo().filter((type) => type === 'TCPServerWrap').length;
      const before = listening();
      expect(before).toBeGreaterThan(0);
      await app.service(MetricsServer).listen();
      expect(listening()).toBe(before);
    } finally {
      await app.stop();
    }
  });
});
