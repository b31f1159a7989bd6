import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '../../support/background.js';
import { Cluster, concurrently } from '../../support/cluster.js';
import { approve } from '../../support/oauth-flow.js';
import { onOneServer } from '../../support/database.js';
import { countPublished, expectedCounts } from '../../support/fixtures.js';
import { freePort } from '../../support/free-port.js';
import { Member } from '../../support/member.js';
import {
  type ProxyName,
  PROXIES,
  PROXIES_AND_CACHES,
  type ReverseProxy,
  startProxy,
} from '../../support/reverse-proxy.js';
import {
  type ServiceProcess,
  startBehindProxy,
  startProcess,
} from '../../support/service-process.js';
import { byExtent } from '../../suite.js';
import { callAt, TEST_LIMITS, useTestApp } from '../../support/test-app.js';

const POOLED = 50;
const POSTS_PER_SECOND = 30;
/** The default in production: HAProxy notices within 4 seconds that a process is not ready. */
const DELAY_MS = 5000;
/** Before the first stop. */
const SECONDS = 1;
/** Proxies check each second; HAProxy needs two good responses. */
const CHECKED_SECONDS = 4;

onOneServer('Idle connections in the pool of a reverse proxy', (database) => {
  const setupApp = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let processes: ServiceProcess[] = [];
  let proxy: ReverseProxy | undefined;

  async function start(name: ProxyName): Promise<ReverseProxy> {
    const ports = [await freePort(), await freePort()];
    processes = await Promise.all(
      ports.map((port) => startBehindProxy(database.url, port, DELAY_MS)),
    );
    proxy = await startProxy(
      name,
      ports.map((port) => `127.0.0.1:${port}`),
    );
    if (!proxy) throw new Error(`${name} is not installed.`);
    return proxy;
  }

  beforeEach(() => setupApp().clock.set(new Date().toISOString()));
  afterEach(async () => {
    await cleanUp(
      async () => proxy?.stop(),
      () => Promise.all(processes.map((process) => process.stop())),
    );
    proxy = undefined;
  });

  it.each<ProxyName>(byExtent({ whole: [...PROXIES], quick: ['nginx', 'haproxy'] }))(
    'loses no request and publishes no post twice when both processes restart, one after the other, behind %s',
    { timeout: 90_000 },
    async (name) => {
      const { baseUrl } = await start(name);
      const member = await Member.join(setupApp());
      const call = async (method: string, path: string, body?: object): Promise<string> => {
        const key = { 'idempotency-key': randomUUID() };
        const response = await callAt(baseUrl, member.token, method, path, body, key);
        const text = await response.text();
        return response.ok ? 'ok' : `${response.status} ${text}`;
      };
      // Concurrent requests make the proxy open connections, which it then keeps.
      const opened = await concurrently(4 * POOLED, () => call('GET', '/posts'));
      expect(opened.filter((result) => result === 'ok').length).toBeGreaterThan(2 * POOLED);

      const results: Promise<string>[] = [];
      const publishFor = async (stopped: () => boolean): Promise<void> => {
        while (!stopped()) {
          results.push(call('POST', '/posts', { content: 'Hi' }));
          await sleep(1000 / POSTS_PER_SECOND);
        }
      };
      const secondsFrom =
        (begin: number, seconds = SECONDS) =>
        () =>
          performance.now() - begin > seconds * 1000;
      await publishFor(secondsFrom(performance.now()));
      for (const [index, stopping] of processes.entries()) {
        let hasEnded = false;
        stopping.signal('SIGTERM');
        const ended = stopping.ended.finally(() => (hasEnded = true));
        await publishFor(() => hasEnded);
        expect(await ended).toBe(0);
        // As in a rolling restart, the next process listens on the same port.
        const port = Number(new URL(stopping.baseUrl).port);
        let hasStarted = false;
        const starting = startBehindProxy(database.url, port, DELAY_MS).finally(
          () => (hasStarted = true),
        );
        await publishFor(() => hasStarted);
        processes[index] = await starting;
        // Until the checks of the proxy have found it.
        await publishFor(secondsFrom(performance.now(), CHECKED_SECONDS));
      }

      expect(new Set(await Promise.all(results))).toEqual(new Set(['ok']));
      expect(await countPublished(setupApp(), member)).toEqual(expectedCounts(results.length));
    },
  );

  it.each(PROXIES_AND_CACHES)('returns a state of 4,096 bytes through %s', async (name) => {
    const [port, proxyPort] = [await freePort(), await freePort()];
    const env = {
      ...TEST_LIMITS,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${proxyPort}`,
      MIGRATE: '0',
      DEMO: '0',
    };
    const process = await startProcess({ url: database.url, env });
    processes = [process];
    proxy = await startProxy(name, [`127.0.0.1:${port}`], proxyPort);
    const baseUrl = proxy?.baseUrl ?? '';
    const site = new Cluster(baseUrl, [{ ...process, baseUrl }]);
    const client = await setupApp().addClient();
    // In ASCII, and in letters that take three bytes of the URL for each byte.
    for (const state of ['s'.repeat(4096), 'é'.repeat(2048)]) {
      const parameters = await approve(site, await setupApp().addUser(), client, { state });
      expect(parameters.get('state')).toBe(state);
      expect(parameters.get('code')).toMatch(/^svcac_/);
    }
  });

  it('keeps an idle connection for longer than the 60 seconds of common load balancers', async () => {
    const [process] = (processes = [
      await startProcess({ url: database.url, env: { MIGRATE: '0', DEMO: '0' } }),
    ]);
    const response = await fetch(`${process?.baseUrl}/livez`);
    expect(response.headers.get('keep-alive')).toBe('timeout=75');
  });
});
