import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '../../support/background.js';
import { onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { rateLimits, UNLIMITED } from '../../support/test-app.js';
import { startService, type StartedService } from '../../support/service-process.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { Rotations } from '../failover/rotations.js';
import { CodeExchanges } from '../failover/code-exchanges.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { IdempotentPublishLoad } from './idempotent-publish-load.js';

const BROKEN_MS = byExtent({ whole: 6000, quick: 1500 });
/** Timeout for the first post and for the first retry. */
const WAIT = { timeout: 20_000 };
const PUBLISHERS = 8;
const CODES = 16;
const ROTATING_APPS = 2;

onEachServer('Database connections that fail at a random byte of a response', (database) => {
  let network: TcpProxy | undefined;
  let served: StartedService | undefined;
  beforeAll(async () => {
    network = await TcpProxy.start(database.url);
    const env = {
      DB_TIMEOUT_MS: '1000',
      QUOTA_DEFAULT_LIMIT: '1000000',
      ...rateLimits({ 'grant-refreshes-per-hour': UNLIMITED }),
    };
    served = await startService({ url: network.url, directUrl: database.url, env });
  });
  afterAll(() =>
    cleanUp(
      () => network?.repair(),
      () => served?.stop(),
      () => network?.stop(),
    ),
  );

  // Up to `maxBytes` bytes allow the connection setup and some publishes. Each silent connection costs a second, so these get more
  // bytes, to make enough progress.
  it.for([
    { how: 'breaks', fault: 'cutAfterBytes', maxBytes: 10_000 },
    { how: 'goes silent', fault: 'dropAfterBytes', maxBytes: 40_000 },
  ] as const)(
    'publishes each post, exchanges each code and rotates each refresh token once: each connection $how',
    { timeout: 60_000 },
    async ({ how, fault, maxBytes }, { task }) => {
      if (network === undefined || served === undefined)
        throw new Error('The proxy did not start.');
      const { app } = served;
      const exchanges = await CodeExchanges.prepare(app, CODES);
      const rotations = await Rotations.prepare(app, ROTATING_APPS);
      rotations.begin();
      const load = new IdempotentPublishLoad(await Member.join(app), () => app.baseUrl, PUBLISHERS);
      network[fault](() => Math.ceil(Math.random() * maxBytes));
      const exchanged = exchanges.exchangeAll(BROKEN_MS / CODES);
      await sleep(BROKEN_MS);
      await expect.poll(() => load.posts.size, WAIT).toBeGreaterThan(0);
      await expect.poll(() => load.retries, WAIT).toBeGreaterThan(0);
      await network.repair();
      await exchanged;
      await rotations.stopAndCheck();
      await exchanges.expectTokensStored();
      await load.stopAndCheck();
      reportFigure(
        task,
        `${database.engine.label}: each connection ${how} after up to ${maxBytes.toLocaleString('en')} bytes, ${load.posts.size} posts, each stored and counted once, ${load.retries} retries; ${CODES} codes, each exchanged once; ${rotations.done} refresh tokens, each rotated once`,
      );
    },
  );
});
