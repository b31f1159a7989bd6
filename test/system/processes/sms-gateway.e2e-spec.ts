import { Browser } from '../../support/browser.js';
import { Cluster } from '../../support/cluster.js';
import { onOneEngine } from '../../support/database.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { RecordingServer } from '../../support/recording-server.js';
import { startProcess } from '../../support/service-process.js';
import { TEST_LIMITS, useTestApp } from '../../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const SECOND = 1000;

/** Real time, because these tests are about the timers of the service. */
onOneEngine('A process with an SMS gateway that asks to wait', (database) => {
  const setupApp = useTestApp(database);

  /** Requests a password. The gateway responds to the first request with 503 and this `Retry-After`. */
  async function requestCode(retryAfter: () => string) {
    setupApp().clock.set(new Date().toISOString());
    const times: number[] = [];
    const gateway = await RecordingServer.open({
      respond: (response) => {
        times.push(Date.now());
        if (times.length === 1) response.writeHead(503, { 'retry-after': retryAfter() });
        response.end();
      },
    });
    const service = await startProcess({
      url: database.url,
      env: {
        ...TEST_LIMITS,
        DEMO: '0',
        SMS_SENDER: 'webhook',
        SMS_WEBHOOK_URL: gateway.url,
        SMS_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
      },
    });
    const visitor = new Browser(new Cluster(service.baseUrl, [service]));
    const { phone } = await setupApp().addUser();
    const page = await visitor.open(authorizeLink(await setupApp().addClient()));
    await visitor.submit(page, SIGN_IN, { phone });
    await expect.poll(() => times).toHaveLength(1);
    return { service, gateway, times };
  }

  it.each([
    ['in seconds', () => '4'],
    ['until a time', () => new Date(Date.now() + 5 * SECOND).toUTCString()],
  ])('O58 sends the message again no earlier, asked %s', async (_, retryAfter) => {
    const { service, gateway, times } = await requestCode(retryAfter);
    await expect.poll(() => times, { timeout: 10 * SECOND }).toHaveLength(2);
    const [first = 0, second = 0] = times;
    // Timers may fire a millisecond early.
    expect(second - first).toBeGreaterThan(4 * SECOND - 10);
    const ids = gateway.requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    await service.stop();
    await gateway.close();
  });

  it('O58 does not send it when it shuts down, and exits without waiting', async () => {
    const { service, gateway, times } = await requestCode(() => '60');
    const started = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - started).toBeLessThan(20 * SECOND);
    expect(times).toHaveLength(1);
    await gateway.close();
  });
});
