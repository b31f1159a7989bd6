import { MetricsServer } from '../../../src/operations/metrics/metrics-server.js';
import { VERSION } from '../../../src/operations/version.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onOneEngine, onSqlite } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { startProcess } from '../../support/service-process.js';
import { TestApp } from '../../support/test-app.js';

onOneEngine('The metrics', (database) => {
  let app: TestApp;
  let metricsUrl: string;

  beforeAll(async () => {
    const port = await freePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    // One second is shorter than the first pause between tries, so that the first one is the last.
    app = await TestApp.start(database, { METRICS_PORT: String(port), OTP_SECONDS: '1' });
    await app.service(MetricsServer).listen();
  });
  afterAll(() => app?.stop());

  const metrics = async (): Promise<string> => (await fetch(metricsUrl)).text();

  it('are text for Prometheus, on a port of their own', async () => {
    const answer = await fetch(metricsUrl);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expect((await app.fetch('/metrics')).status).toBe(404);
  });

  it('tell which version runs, on which Node', async () => {
    const labels = `version="${VERSION}",node_version="${process.versions.node}"`;
    expect(await metrics()).toContain(`build_info{${labels}} 1\n`);
  });

  it('are nowhere else on that port', async () => {
    const answer = await fetch(metricsUrl.replace('/metrics', '/'));
    expect([answer.status, await answer.text()]).toEqual([404, 'The metrics are at /metrics.\n']);
  });

  it('O58 count one-time passwords that could not be sent', async () => {
    expect(await metrics()).toMatch(/^otp_send_failures_total 0$/m);
    const user = await app.addUser();
    const visitor = new Browser(app);
    const phonePage = await visitor.open(authorizeLink(await app.addClient()));
    app.sms.refuse(1);
    await visitor.submit(phonePage, '/oauth/authorize/sign-in', { phone: user.phone });
    await expect.poll(metrics).toMatch(/^otp_send_failures_total 1$/m);
  });
});

onSqlite('The port of the metrics', (database) => {
  const port = freePort();

  it('is served by the service, and given back when it ends', async () => {
    const env = { METRICS_PORT: String(await port), DEMO: '0' };
    const service = await startProcess({ url: database.url, env });
    const address = `http://127.0.0.1:${await port}/metrics`;
    expect((await fetch(address)).status).toBe(200);
    expect(await service.stop()).toBe(0);
    await expect(fetch(address)).rejects.toThrow('fetch failed');
  });

  it('may be off', async () => {
    const service = await startProcess({ url: database.url, env: { METRICS_PORT: 'off' } });
    try {
      await expect(fetch(`http://127.0.0.1:${await port}/metrics`)).rejects.toThrow('fetch failed');
    } finally {
      await service.stop();
    }
  });

  it('names itself when it is in use', async () => {
    const taken = await startProcess({
      url: database.url,
      env: { METRICS_PORT: String(await port) },
    });
    try {
      const start = startProcess({ url: database.url, env: { METRICS_PORT: String(await port) } });
      await expect(start).rejects.toThrow(`Port ${await port} is in use.`);
    } finally {
      await taken.stop();
    }
  });
});
