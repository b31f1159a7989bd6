import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '../../support/background.js';
import { DURABLE_SETTINGS, type PrivateServer } from '../../support/server-by-command.js';
import { startPrivateServer } from '../../support/database-server.js';
import { onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { startService, type StartedService } from '../../support/service-process.js';
import { runSql } from '../../support/sql.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { reportFigure } from '../figures.js';
import { IS_QUICK, byExtent } from '../../suite.js';
import { IdempotentPublishLoad } from './idempotent-publish-load.js';

const KILLS = byExtent({ whole: 20, quick: 2 });
const KILL_TIMEOUT_MS = 20_000;
const PUBLISHERS = 8;
/** Longest time from a publish to the next kill. */
const MAX_LIFE_MS = 1000;
/** Time in which one of the publishers commits. */
const COMMIT_MS = 200;

onEachServer('Database server killed repeatedly', ({ engine }) => {
  let server: PrivateServer | undefined;
  let proxy: TcpProxy | undefined;
  let served: StartedService | undefined;
  beforeAll(async () => {
    if (engine.kind === 'sqlite') return;
    server = await startPrivateServer(engine.kind, { settings: DURABLE_SETTINGS });
    if (server === undefined) return;
    await runSql(server.url, 'CREATE DATABASE service');
    const env = { DB_TIMEOUT_MS: '1000', QUOTA_DEFAULT_LIMIT: '1000000' };
    const directUrl = `${server.url}/service`;
    proxy = await TcpProxy.start(directUrl);
    served = await startService({ url: proxy.url, directUrl, env });
  }, 180_000);
  afterAll(() =>
    cleanUp(
      () => served?.stop(),
      () => proxy?.stop(),
      () => server?.stop(),
    ),
  );

  it(
    `C113 stores each post once when clients retry with the same key: ${KILLS} kills`,
    { timeout: 60_000 + KILLS * KILL_TIMEOUT_MS },
    async ({ task, skip }) => {
      if (served === undefined || server === undefined || proxy === undefined) return skip();
      const { app } = served;
      const load = new IdempotentPublishLoad(await Member.join(app), () => app.baseUrl, PUBLISHERS);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = load.posts.size;
        await expect.poll(() => load.posts.size, { timeout: 10_000 }).toBeGreaterThan(before);
        await sleep(Math.random() * MAX_LIFE_MS);
        // Every other kill also loses the response to a COMMIT.
        if (kill % 2 === 1) {
          proxy.cutAfterStatement('COMMIT');
          await sleep(COMMIT_MS);
        }
        await server.kill();
        await server.start();
        await proxy.repair();
      }
      await load.stopAndCheck();
      expect(load.retries).toBeGreaterThanOrEqual(KILLS);
      // The single lost COMMIT of a quick run may belong to another transaction.
      if (!IS_QUICK) expect(load.replays).toBeGreaterThan(0);
      reportFigure(
        task,
        `${engine.label}: ${KILLS} kills of the database, ${load.posts.size} posts, each stored and counted once, ${load.retries} retries, ${load.replays} of them replayed`,
      );
    },
  );
});
