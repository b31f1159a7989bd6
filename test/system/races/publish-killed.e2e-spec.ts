import { setTimeout as sleep } from 'node:timers/promises';
import { KILL_ROUNDS_TIMEOUT_MS, rounds, ROUNDS } from '../../support/cluster.js';
import { onEachServer, onSqlite, type TestDatabase } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { useTestApp } from '../../support/test-app.js';

const QUOTA = '100000';
const PUBLISHERS = 4;

function start({ url }: Pick<TestDatabase, 'url'>): Promise<ServiceProcess> {
  return startProcess({ url, env: { MIGRATE: '0', DEMO: '0', QUOTA_DEFAULT_LIMIT: QUOTA } });
}

async function publish(service: ServiceProcess, { token }: Member): Promise<number> {
  const response = await fetch(`${service.baseUrl}/dev/v1/posts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'Hi' }),
  });
  await response.text();
  return response.status;
}

onEachServer('Process crash between the last write of a publish and its COMMIT', (database) => {
  const setupApp = useTestApp(database);
  let proxy: TcpProxy;
  let service: ServiceProcess | undefined;
  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    proxy = await TcpProxy.start(database.url);
  });
  afterAll(async () => {
    await service?.stop();
    await proxy?.stop();
  });

  it(
    `C112 publishes nothing, and the next process publishes normally, in ${ROUNDS} rounds`,
    { timeout: KILL_ROUNDS_TIMEOUT_MS },
    async () => {
      const member = await Member.join(setupApp());
      let posts = 0;
      await rounds(async () => {
        const running = await start(proxy);
        service = running;
        expect(await publish(running, member)).toBe(201);
        posts += 1;
        expect(await countPublished(setupApp(), member)).toEqual(expectedCounts(posts));
        const held = proxy.holdAfter('UPDATE quota_usage');
        const lost = publish(running, member).catch((error: unknown) => error);
        expect(await held).toContain('COMMIT');
        await running.kill();
        expect(await lost).toBeInstanceOf(Error);
        await proxy.cut('closed');
        await proxy.repair();
      });
      await member.publish();
      expect(await countPublished(setupApp(), member)).toEqual(expectedCounts(posts + 1));
    },
  );
});

onSqlite('Process crash while publishing', (database) => {
  const setupApp = useTestApp(database);
  let service: ServiceProcess | undefined;
  beforeAll(() => {
    setupApp().clock.set(new Date().toISOString());
  });
  afterAll(() => service?.stop());

  it(
    `C112 stores each post completely or not at all, and loses no confirmed post, in ${ROUNDS} rounds`,
    { timeout: KILL_ROUNDS_TIMEOUT_MS },
    async () => {
      const member = await Member.join(setupApp());
      let confirmed = 0;
      let started = 0;
      await rounds(async (round) => {
        const running = await start(database);
        service = running;
        const publishing = Array.from({ length: PUBLISHERS }, async () => {
          for (;;) {
            started += 1;
            if ((await publish(running, member).catch(() => 0)) !== 201) return;
            confirmed += 1;
          }
        });
        const before = confirmed;
        await expect
          .poll(() => confirmed, { timeout: 10_000 })
          .toBeGreaterThan(before + PUBLISHERS);
        // Each round kills the process at another moment of a publish.
        await sleep(round % 10);
        await running.kill();
        await Promise.all(publishing);
        const { posts, ...others } = await countPublished(setupApp(), member);
        expect({ posts, ...others }).toEqual(expectedCounts(posts));
        expect(posts).toBeGreaterThanOrEqual(confirmed);
        expect(posts).toBeLessThanOrEqual(started);
      });
    },
  );
});
