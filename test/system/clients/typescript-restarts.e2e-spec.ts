import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, memoryStore } from '../../../clients/typescript/src/index.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { settingsOf } from '../../clients/partner.js';
import { KILL_ROUNDS_TIMEOUT_MS, rounds, ROUNDS } from '../../support/cluster.js';
import { onOneEngine } from '../../support/database.js';
import { countPublished, expectedCounts } from '../../support/fixtures.js';
import { freePort } from '../../support/free-port.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';

const PUBLISHERS = 3;

onOneEngine('TypeScript client while the service restarts', (database) => {
  const setupApp = useTestApp(database);
  let service: ServiceProcess | undefined;
  beforeAll(() => {
    setupApp().clock.set(new Date().toISOString());
  });
  afterAll(() => service?.stop());

  it(
    `publishes each post exactly once, in ${ROUNDS} rounds with a kill and a graceful stop`,
    { timeout: 2 * KILL_ROUNDS_TIMEOUT_MS },
    async () => {
      const port = String(await freePort());
      const env = {
        PORT: port,
        MIGRATE: '0',
        DEMO: '0',
        QUOTA_DEFAULT_LIMIT: '100000',
        // New requests get 503 for as long before the port closes.
        SHUTDOWN_DELAY_MS: '500',
      };
      const start = () => startProcess({ url: database.url, env });
      service = await start();

      const registered = await setupApp().addClient();
      const user = await setupApp().addUser();
      const statuses: Record<number, number> = {};
      const settings = {
        ...settingsOf({ baseUrl: service.baseUrl }, registered),
        // The service may need many seconds to start on a busy machine.
        maxRetries: 12,
        onResponse: ({ status }: { status: number }) => {
          statuses[status] = (statuses[status] ?? 0) + 1;
        },
      };
      const issued = await setupApp().issueTokens(user, registered);
      // Expired for the client, so that refreshes run into restarts as well.
      const tokens = { ...issued, scopes: [...SCOPES], expiresAt: 0 };
      const client = createClient(settings, memoryStore(tokens));

      let wanted = 0;
      const end = new AbortController();
      const ids = new Set<string>();
      const publishing = Array.from({ length: PUBLISHERS }, async () => {
        while (!end.signal.aborted) {
          wanted += 1;
          ids.add((await client.createPost({ body: { content: `Post ${wanted}` } })).id);
        }
      });
      const publishMore = async (): Promise<void> => {
        const before = ids.size;
        await expect.poll(() => ids.size, { timeout: 20_000 }).toBeGreaterThan(before + PUBLISHERS);
      };
      await rounds(async (round) => {
        await publishMore();
        await sleep(round % 10);
        await service?.kill();
        service = await start();
        await publishMore();
        await service.stop();
        service = await start();
      });
      end.abort();
      await Promise.all(publishing);

      expect(ids.size).toBe(wanted);
      expect(await countPublished(setupApp(), { user, client: registered })).toEqual(
        expectedCounts(wanted),
      );
      expect(statuses[503]).toBeGreaterThan(0);
      let listed = 0;
      for await (const { id } of client.listPosts({ limit: 50 })) listed += ids.has(id) ? 1 : 0;
      expect(listed).toBe(wanted);
    },
  );
});
