import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { onOneEngine, onSqlite } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { warningsAndErrors } from '../../support/logs.js';
import { Member } from '../../support/member.js';
import { json } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';

/** `SHUTDOWN_DELAY_MS` of the service. */
const DELAY_MS = 1500;
const PUBLISHERS = 8;
const PAUSE_MS = 50;

onOneEngine('Shutdown under load', (database) => {
  const setupApp = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let service: ServiceProcess;
  beforeEach(async () => {
    setupApp().clock.set(new Date().toISOString());
    service = await startProcess({
      url: database.url,
      env: {
        MIGRATE: '0',
        DEMO: '0',
        QUOTA_DEFAULT_LIMIT: '100000',
        SHUTDOWN_DELAY_MS: String(DELAY_MS),
      },
    });
  });
  afterEach(() => service?.stop());

  /**
   * Sends requests one after the other, each on a new connection, until one is refused, or the kernel resets it because the port closes
   * before the service has accepted it. Returns the statuses.
   */
  async function sendUntilRefused(
    path: string,
    { pauseMs = 0, ...init }: RequestInit & { pauseMs?: number },
  ): Promise<number[]> {
    const statuses: number[] = [];
    for (;;) {
      try {
        const response = await fetch(service.baseUrl + path, init);
        await response.text();
        statuses.push(response.status);
      } catch (error) {
        const { code = '' } = (error as Error).cause as NodeJS.ErrnoException;
        if (['ECONNREFUSED', 'ECONNRESET'].includes(code)) return statuses;
        throw error;
      }
      await sleep(pauseMs);
    }
  }

  const publishUntilRefused = (token: string): Promise<number[]> =>
    sendUntilRefused('/dev/v1/posts', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hi' }),
    });

  const readiness = async (): Promise<unknown> => {
    const response = await fetch(`${service.baseUrl}/readyz`);
    const { status, headers } = response;
    return [status, await json(response), headers.get('connection'), headers.get('retry-after')];
  };

  it(
    'C28 C145 reports unready at once, serves requests until it closes the port, loses no post and exits with 0',
    { timeout: 60_000 },
    async () => {
      const member = await Member.join(setupApp());
      const countPosts = async (): Promise<number> =>
        (await countPublished(setupApp(), member)).posts;
      const publishing = Array.from({ length: PUBLISHERS }, () =>
        publishUntilRefused(member.token),
      );
      await expect.poll(countPosts, { timeout: 10_000 }).toBeGreaterThan(10);
      expect(await readiness()).toEqual([200, { status: 'ok' }, 'keep-alive', null]);
      const pauseMs = PAUSE_MS;
      const others = [
        sendUntilRefused('/oauth/token', { method: 'POST', body: new URLSearchParams(), pauseMs }),
        sendUntilRefused('/oauth/authorize', { pauseMs }),
        sendUntilRefused('/post/unknown', { pauseMs }),
      ];

      service.signal('SIGTERM');
      await expect
        .poll(readiness, { timeout: DELAY_MS / 2 })
        .toEqual([
          503,
          { status: 'not ready', reason: 'the service is shutting down' },
          'close',
          '5',
        ]);
      const before = await countPosts();
      await expect.poll(countPosts, { timeout: DELAY_MS / 2 }).toBeGreaterThan(before);
      const statuses = (await Promise.all(publishing)).flat();
      const otherStatuses = (await Promise.all(others)).map((each) => [...new Set(each)]);
      expect(await service.ended).toBe(0);

      expect(new Set(statuses)).toEqual(new Set([201]));
      expect(otherStatuses).toEqual([[401], [400], [404]]);
      expect(await countPublished(setupApp(), member)).toEqual(expectedCounts(statuses.length));
      expect(warningsAndErrors(service.output())).toEqual([]);
    },
  );

  it(
    'C28 finishes requests in progress, serves the next on an open connection after the port has closed, and writes the call log',
    { timeout: 60_000 },
    async () => {
      const member = await Member.join(setupApp());
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const headers = { authorization: `Bearer ${member.token}` };
      const get = async (): Promise<IncomingMessage> => {
        const [response] = (await once(
          request(`${service.baseUrl}/dev/v1/me`, { agent, headers }).end(),
          'response',
        )) as [IncomingMessage];
        return response;
      };
      const body = JSON.stringify({ content: 'Slow' });
      const slow = request(`${service.baseUrl}/dev/v1/posts`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
      });
      slow.write(body.slice(0, 5));
      const idle = await get();
      idle.resume();
      await once(idle, 'end');
      expect(idle.headers.connection).toBe('keep-alive');

      service.signal('SIGTERM');
      // After the delay, the service closes the port, and serves open connections for up to a second.
      await sendUntilRefused('/livez', { pauseMs: 20 });
      const last = await get();
      expect([last.statusCode, last.headers.connection]).toEqual([200, 'close']);
      last.resume();
      slow.end(body.slice(5));
      const [finished] = (await once(slow, 'response')) as [IncomingMessage];
      expect([finished.statusCode, finished.headers.connection]).toEqual([201, 'close']);
      finished.resume();
      expect(await service.ended).toBe(0);
      agent.destroy();
      expect(await countPublished(setupApp(), member)).toMatchObject({ posts: 1, recorded: 1 });
    },
  );

  it('C28 ignores requests that are pipelined after the one whose response closes the connection', async () => {
    const member = await Member.join(setupApp());
    const { host, hostname, port } = new URL(service.baseUrl);
    const body = JSON.stringify({ content: 'Hi' });
    const publish = [
      'POST /dev/v1/posts HTTP/1.1',
      `Host: ${host}`,
      `Authorization: Bearer ${member.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
    service.signal('SIGTERM');
    await expect.poll(readiness).toEqual([503, expect.anything(), 'close', expect.anything()]);
    const connection = connect(Number(port), hostname);
    connection.write(publish.repeat(3));
    const responses = await textOf(connection);
    expect(responses.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 201']);
    expect(await service.ended).toBe(0);
    expect(await countPublished(setupApp(), member)).toEqual(expectedCounts(1));
  });
});

onSqlite('Shutdown signals', (database) => {
  const start = (env: Record<string, string> = {}): Promise<ServiceProcess> =>
    startProcess({ url: database.url, env: { DEMO: '0', ...env } });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s stops the service with exit code 0',
    async (signal) => {
      const service = await start();
      service.signal(signal);
      expect(await service.ended).toBe(0);
    },
  );

  it('C28 stops the service at once on a second signal', async () => {
    const service = await start({ SHUTDOWN_DELAY_MS: '20000' });
    service.signal('SIGINT');
    const readiness = async (): Promise<number> =>
      (await fetch(`${service.baseUrl}/readyz`)).status;
    await expect.poll(readiness, { timeout: 5000 }).toBe(503);
    expect((await fetch(`${service.baseUrl}/livez`)).status).toBe(200);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(1);
  });

  it('does not wait for a connection without a request', async () => {
    const service = await start();
    const silent = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    await once(silent, 'connect');
    await sleep(100);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
    silent.destroy();
  });
});
