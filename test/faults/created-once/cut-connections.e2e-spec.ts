import { setTimeout as sleep } from 'node:timers/promises';
import { onEachServer } from '../../support/engines.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp } from '../../support/test-app.js';
import { Member } from '../../e2e/api/member.js';
import { show } from '../figures.js';
import { Rotations } from '../failover/rotations.js';
import { Trades } from '../failover/trades.js';
import { IS_QUICK, times } from '../promises.js';
import { KeyedLoad } from './keyed-load.js';

/** Enough for some publishes, the set-up of a connection included. */
const MOST_BYTES = 10_000;
const BROKEN_MS = times(8000, 1500);
const PUBLISHERS = 8;

const anyNumber = (): number => Math.ceil(Math.random() * MOST_BYTES);

const CODES = 16;
const ROTATED = 2;

onEachServer('A network that breaks at any byte of what the database answers', (database) => {
  let network: TcpProxy | undefined;
  let app: TestApp | undefined;
  beforeAll(async () => {
    network = await TcpProxy.start(database.url);
    const env = { DB_TIMEOUT_MS: '1000', QUOTA_DEFAULT_LIMIT: '1000000' };
    app = await TestApp.start({ url: network.url }, env);
  });
  afterAll(async () => {
    await app?.stop();
    await network?.stop();
  });

  it.for([
    { how: 'is cut', begin: (proxy: TcpProxy) => proxy.cutAfter(anyNumber) },
    { how: 'says no more', begin: (proxy: TcpProxy) => proxy.loseAfter(anyNumber) },
  ])(
    'publishes each post, exchanges each code and follows each refresh token once: each connection $how',
    { timeout: 60_000 },
    async (way, { task }) => {
      if (network === undefined || app === undefined) throw new Error('There is no network.');
      const { baseUrl } = app;
      const trades = await Trades.prepare(app, CODES);
      const rotations = await Rotations.begin(app, ROTATED);
      const load = new KeyedLoad(await Member.join(app), () => baseUrl, PUBLISHERS);
      way.begin(network);
      const traded = trades.settle(BROKEN_MS / CODES);
      await sleep(BROKEN_MS);
      await network.mend();
      await Promise.all([load.stop(), traded, rotations.stop()]);
      await trades.expectNoMore();
      expect(load.repetitions).toBeGreaterThan(0);
      // A short break may let nothing through before it ends.
      if (!IS_QUICK) expect(load.posts.size).toBeGreaterThan(PUBLISHERS);
      show(
        task,
        `${database.engine.label}: each connection ${way.how} after up to ${MOST_BYTES.toLocaleString('en')} bytes, ${load.posts.size} posts, each there and counted once, ${load.repetitions} repetitions; ${CODES} codes, each exchanged once; ${rotations.done} refresh tokens, each followed by one`,
      );
    },
  );
});
