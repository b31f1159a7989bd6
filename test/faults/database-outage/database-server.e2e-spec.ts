import { setTimeout as sleep } from 'node:timers/promises';
import { In } from 'typeorm';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { startPrivateServer } from '../../support/database-server.js';
import { onEachServer, type TestDatabase } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { runSql } from '../../support/sql.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp } from '../../support/test-app.js';
import { byExtent } from '../../suite.js';
import { PublishLoad, type PublishOutcome } from './publish-load.js';

const DB_TIMEOUT_MS = 1000;
const FROZEN_MS = byExtent({ whole: 10_000, quick: 4000 });
/** Connect timeout, statement timeout, two seconds for an unresponsive server, and slack. */
const MAX_RESPONSE_MS = 2 * DB_TIMEOUT_MS + 2000 + 1500;
const PUBLISHERS = 8;
const POOL_SIZE = 4;

/** A database server that a test can break. */
interface Breakable {
  url: string;
  restart(): Promise<void>;
  freeze(): void;
  thaw(): unknown;
  stop(): Promise<void>;
}

/** A private server of the same kind, or a proxy to the given server if none can be started. */
async function breakable({ engine, url }: TestDatabase): Promise<Breakable> {
  const own = engine.kind === 'sqlite' ? undefined : await startPrivateServer(engine.kind);
  if (own !== undefined) {
    await runSql(own.url, 'CREATE DATABASE service');
    return {
      url: `${own.url}/service`,
      restart: () => own.restart(),
      freeze: () => own.suspend(),
      thaw: () => own.resume(),
      stop: () => own.stop(),
    };
  }
  const proxy = await TcpProxy.start(url);
  return {
    url: proxy.url,
    restart: async () => {
      await proxy.cut();
      await sleep(1000);
      await proxy.repair();
    },
    freeze: () => proxy.hold(),
    thaw: () => proxy.repair(),
    stop: () => proxy.stop(),
  };
}

onEachServer('Publishing during a database failure', (database) => {
  let server: Breakable;
  let app: TestApp;
  beforeAll(async () => {
    server = await breakable(database);
    app = await TestApp.start(
      { ...database, url: server.url },
      {
        DB_TIMEOUT_MS: String(DB_TIMEOUT_MS),
        DB_POOL_SIZE: String(POOL_SIZE),
        QUOTA_DEFAULT_LIMIT: '1000000',
      },
    );
  }, 180_000);
  afterAll(async () => {
    await server?.thaw();
    await app?.stop();
    await server?.stop();
  });

  async function publishDuring(fault: (load: PublishLoad) => Promise<void>): Promise<void> {
    const member = await Member.join(app);
    const load = new PublishLoad(member, PUBLISHERS);
    await expect.poll(() => load.count(201), { timeout: 10_000 }).toBeGreaterThan(2 * PUBLISHERS);
    await fault(load);
    const before = load.count(201);
    await expect
      .poll(() => load.count(201), { timeout: 10_000 })
      .toBeGreaterThan(before + 2 * PUBLISHERS);
    await expectStoredOrRejected(member, await load.stop());
    // Enough requests to use every connection of the pool.
    const reads = Array.from({ length: 5 * POOL_SIZE }, () => member.get('/me'));
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(reads.map(() => 200));
  }

  /**
   * Asserts that each publish got 201 or 503 in time, that each acknowledged post is stored, and that the counters agree. A publish
   * that got 503 may be stored, if its COMMIT got no response.
   */
  async function expectStoredOrRejected(
    member: Member,
    outcomes: readonly PublishOutcome[],
  ): Promise<void> {
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([201, 503]));
    for (const { status, retryAfter, durationMs } of outcomes) {
      expect(durationMs).toBeLessThan(MAX_RESPONSE_MS);
      if (status === 503) expect(retryAfter).toMatch(/^[1-9]\d*$/);
    }
    const ids = outcomes.flatMap(({ status, id }) => (status === 201 && id ? [id] : []));
    const { manager } = app.dataSource;
    expect(await manager.countBy(Post, { id: In(ids) })).toBe(ids.length);
    const published = await countPublished(app, member);
    expect(published).toEqual(expectedCounts(published.posts));
    const unavailable = outcomes.length - ids.length;
    expect(published.posts).toBeGreaterThanOrEqual(ids.length);
    expect(published.posts).toBeLessThanOrEqual(ids.length + unavailable);
  }

  it(
    'C113 returns 503 with Retry-After during a restart of the server, recovers without a restart of the service, and loses nothing',
    () => publishDuring(() => server.restart()),
    60_000,
  );

  it(
    'C113 returns 503 while the server is frozen for some seconds, recovers, and loses nothing',
    () =>
      publishDuring(async (load) => {
        server.freeze();
        const rejected = load.count(503);
        await sleep(FROZEN_MS);
        expect(load.count(503)).toBeGreaterThanOrEqual(rejected + PUBLISHERS);
        await server.thaw();
      }),
    60_000,
  );
});
