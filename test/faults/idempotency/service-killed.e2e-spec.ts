import { setTimeout as sleep } from 'node:timers/promises';
import { onSqliteAndOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { RestartableProcess } from '../../support/restartable-process.js';
import { useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { IS_QUICK, byExtent } from '../../suite.js';
import { IdempotentPublishLoad } from './idempotent-publish-load.js';

/** 200 in all. Few on SQLite, which allows only one process: clients get no response until it has restarted. */
const [KILLS, KILLS_SQLITE] = [
  byExtent({ whole: 180, quick: 2 }),
  byExtent({ whole: 20, quick: 1 }),
];
const KILL_TIMEOUT_MS = 10_000;
/** Few, to leave processor time for starting processes. */
const PUBLISHERS = 3;
/** Longest time from a start to the next kill. */
const MAX_LIFE_MS = 300;

onSqliteAndOneServer('Processes killed repeatedly', (database) => {
  const isSingle = database.engine.kind === 'sqlite';
  const kills = isSingle ? KILLS_SQLITE : KILLS;
  const setupApp = useTestApp(database);
  const services: RestartableProcess[] = [];
  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    while (services.length < (isSingle ? 1 : 2))
      services.push(await RestartableProcess.start(database));
  });
  afterAll(() => Promise.all(services.map((service) => service.stop())));

  it(
    `publish each post once when clients retry with the same key: ${kills} kills`,
    { timeout: 60_000 + kills * KILL_TIMEOUT_MS },
    async ({ task }) => {
      let requests = 0;
      const nextBaseUrl = (): string => services[(requests += 1) % services.length]?.baseUrl ?? '';
      const load = new IdempotentPublishLoad(
        await Member.join(setupApp()),
        nextBaseUrl,
        PUBLISHERS,
        { isServiceKilled: true },
      );
      let killed = 0;
      for (let round = 0; killed < kills; round += 1) {
        await sleep(Math.random() * MAX_LIFE_MS);
        // Every fifth round kills all processes at once, so that none responds.
        const first = round % services.length;
        const dying = round % 5 === 4 ? services : services.slice(first, first + 1);
        await Promise.all(dying.map((service) => service.killAndRestart()));
        killed += dying.length;
      }
      await load.stopAndCheck();
      expect(load.posts.size).toBeGreaterThan(kills);
      expect(load.retries).toBeGreaterThanOrEqual(kills);
      // With this many kills, some hit a committed request before its response.
      if (!IS_QUICK && !isSingle) expect(load.replays).toBeGreaterThan(0);
      reportFigure(
        task,
        `${database.engine.label}: ${killed} kills of the service, ${load.posts.size} posts, each stored and counted once, ${load.retries} retries, ${load.replays} of them replayed`,
      );
    },
  );
});
