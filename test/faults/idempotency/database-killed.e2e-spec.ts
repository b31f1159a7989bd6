import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '../../support/background.js';
import { onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { startService, type StartedService } from '../../support/service-process.js';
import { BreakableServer } from '../database-outage/breakable-server.js';
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
  let database: BreakableServer | undefined;
  let served: StartedService | undefined;
  beforeAll(async () => {
    if (engine.kind !== 'sqlite') database = await BreakableServer.start(engine.kind);
    if (database === undefined) return;
    const { url, adminUrl: directUrl } = database;
    const env = { DB_TIMEOUT_MS: '1000', QUOTA_DEFAULT_LIMIT: '1000000' };
    served = await startService({ url, directUrl, env });
  }, 180_000);
  afterAll(() =>
    cleanUp(
      () => served?.stop(),
      () => database?.stop(),
    ),
  );

  it(
    `C113 stores each post once when clients retry with the same key: ${KILLS} kills`,
    { timeout: 60_000 + KILLS * KILL_TIMEOUT_MS },
    async ({ task, skip }) => {
      if (served === undefined || database === undefined) return skip();
      const { server, network } = database;
      const { app } = served;
      const load = new IdempotentPublishLoad(await Member.join(app), () => app.baseUrl, PUBLISHERS);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = load.posts.size;
        await expect.poll(() => load.posts.size, { timeout: 10_000 }).toBeGreaterThan(before);
        await sleep(Math.random() * MAX_LIFE_MS);
        // Every other kill also loses the response to a COMMIT.
        if (kill % 2 === 1) {
          network.cutAfterStatement('COMMIT');
          await sleep(COMMIT_MS);
        }
        await server.kill();
        await server.start();
        await network.repair();
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
