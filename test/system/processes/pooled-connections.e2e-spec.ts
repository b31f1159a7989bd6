import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '../../support/background.js';
import { concurrently } from '../../support/cluster.js';
import { onOneServer } from '../../support/database.js';
import { countPublished, expectedCounts } from '../../support/fixtures.js';
import { freePort } from '../../support/free-port.js';
import { Member } from '../../support/member.js';
import { type ProxyName, type ReverseProxy, startProxy } from '../../support/reverse-proxy.js';
import {
  type ServiceProcess,
  startBehindProxy,
  startProcess,
} from '../../support/service-process.js';
import { callAt, useTestApp } from '../../support/test-app.js';

const POOLED = 50;
const POSTS_PER_SECOND = 30;
/** The default in production: HAProxy notices within 4 seconds that a process is not ready. */
const DELAY_MS = 5000;
/** Before the stop, and after it. */
const SECONDS = 1;

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

  it.each<ProxyName>(['nginx', 'haproxy'])(
    'loses no request and publishes no post twice when a process stops and starts again behind %s',
    { timeout: 60_000 },
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
      const secondsFrom = (begin: number) => () => performance.now() - begin > SECONDS * 1000;
      await publishFor(secondsFrom(performance.now()));
      let hasEnded = false;
      const stopping = processes[0] as ServiceProcess;
      stopping.signal('SIGTERM');
      const ended = stopping.ended.finally(() => (hasEnded = true));
      await publishFor(() => hasEnded);
      expect(await ended).toBe(0);
      // As in a rolling restart, the next process listens on the same port.
      const port = Number(new URL(stopping.baseUrl).port);
      processes[0] = await startBehindProxy(database.url, port, DELAY_MS);
      await publishFor(secondsFrom(performance.now()));

      expect(new Set(await Promise.all(results))).toEqual(new Set(['ok']));
      expect(await countPublished(setupApp(), member)).toEqual(expectedCounts(results.length));
    },
  );

  it('keeps an idle connection for longer than the 60 seconds of common load balancers', async () => {
    const [process] = (processes = [
      await startProcess({ url: database.url, env: { MIGRATE: '0', DEMO: '0' } }),
    ]);
    const response = await fetch(`${process?.baseUrl}/livez`);
    expect(response.headers.get('keep-alive')).toBe('timeout=75');
  });
});
