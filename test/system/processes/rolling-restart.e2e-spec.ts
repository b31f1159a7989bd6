import { Balancer } from '../../support/balancer.js';
import { onOneServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { freePort } from '../../support/free-port.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startBehindProxy } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';

const CLIENTS = 6;
/** Longer than several intervals between the health checks of the balancer. */
const DELAY_MS = 1000;

onOneServer('Rolling restart of two processes behind a balancer', (database) => {
  const setupApp = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let processes: ServiceProcess[] = [];
  let balancer: Balancer;

  const start = async (port: number): Promise<ServiceProcess> =>
    startBehindProxy(database.url, port, DELAY_MS);

  beforeEach(async () => {
    setupApp().clock.set(new Date().toISOString());
    processes = await Promise.all([start(await freePort()), start(await freePort())]);
    balancer = await Balancer.start(processes.map(({ baseUrl }) => baseUrl));
  });
  afterEach(async () => {
    await balancer?.stop();
    await Promise.all(processes.map((process) => process.stop()));
  });

  it('drops no request and loses no post', { timeout: 90_000 }, async () => {
    const member = await Member.join(setupApp());
    const headers = {
      authorization: `Bearer ${member.token}`,
      'content-type': 'application/json',
    };
    const responses: string[] = [];
    const stopped = new AbortController();
    const calls = [
      { method: 'GET', path: '/me' },
      { method: 'POST', path: '/posts', body: JSON.stringify({ content: 'Hi' }) },
      { method: 'GET', path: '/posts?limit=1' },
    ];
    const client = async (): Promise<void> => {
      for (let number = 0; !stopped.signal.aborted; number += 1) {
        const { method = '', path = '', body } = calls[number % calls.length] ?? {};
        const url = `${balancer.baseUrl}/dev/v1${path}`;
        const response = await fetch(url, { method, headers, body });
        const text = await response.text();
        responses.push(response.ok ? `${method} ${response.status}` : `${response.status} ${text}`);
      }
    };
    const load = Array.from({ length: CLIENTS }, client);

    for (const [index, old] of processes.entries()) {
      old.signal('SIGTERM');
      expect(await old.ended).toBe(0);
      expect(balancer.routesTo(old.baseUrl)).toBe(false);
      const renewed = await start(Number(new URL(old.baseUrl).port));
      processes[index] = renewed;
      await expect.poll(() => balancer.routesTo(renewed.baseUrl), { timeout: 10_000 }).toBe(true);
    }
    stopped.abort();
    await Promise.all(load);

    expect(new Set(responses)).toEqual(new Set(['GET 200', 'POST 201']));
    const published = responses.filter((response) => response === 'POST 201').length;
    expect(published).toBeGreaterThan(50);
    expect(await countPublished(setupApp(), member)).toEqual(expectedCounts(published));
  });
});
