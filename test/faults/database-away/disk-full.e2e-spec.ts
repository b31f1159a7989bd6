import { join } from 'node:path';
import { onEachServer, onSqlite } from '../../support/engines.js';
import { json, type ErrorBody } from '../../support/json.js';
import { startPrivateServer } from '../../support/private-server.js';
import { allAre, publishedBy } from '../../support/published.js';
import { SmallDisk, type Fillable } from '../../support/small-disk.js';
import { SMALL_TABLESPACE, SmallTablespace } from '../../support/small-tablespace.js';
import { runSql } from '../../support/sql.js';
import { TestApp } from '../../support/test-app.js';
import { Member } from '../../e2e/api/member.js';
import { show } from '../figures.js';

const LONG = 'x'.repeat(10_000);
const MOST_POSTS = 400;
/** `DB_TIMEOUT_MS`, and what a server is given to end a statement by itself. */
const REFUSAL_MS = 3000 + 2000 + 1000;
const RECOVERY_MS = 5000;

/** What a test does at a full disk, and once there is room again. */
interface Moments {
  whenFull?: (member: Member) => Promise<void>;
  whenFreed?: () => Promise<void>;
}

/** Publishes until the disk is full, makes room, and publishes again with the same service. Answers what was to be seen. */
async function fillAndFree(url: string, disk: Fillable, moments: Moments): Promise<string> {
  const app = await TestApp.start({ url }, { QUOTA_DEFAULT_LIMIT: '100000' });
  try {
    const member = await Member.join(app);
    await disk.fill();
    let published = 0;
    let refused: Response | undefined;
    let refusedAfter = 0;
    while (!refused && published < MOST_POSTS) {
      const asked = performance.now();
      const answer = await member.post('/posts', { content: LONG });
      refusedAfter = performance.now() - asked;
      if (answer.status === 201) published += 1;
      else refused = answer;
    }
    expect(refused?.status).toBe(503);
    expect(refusedAfter).toBeLessThan(REFUSAL_MS);
    expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(refused && (await json<ErrorBody>(refused)).error).toBe('service_unavailable');
    await moments.whenFull?.(member);

    await disk.free();
    await moments.whenFreed?.();
    const freed = performance.now();
    await expect
      .poll(async () => (await member.post('/posts', { content: 'Room again' })).status, {
        timeout: RECOVERY_MS,
      })
      .toBe(201);
    const recoveryMs = performance.now() - freed;
    expect(recoveryMs).toBeLessThan(RECOVERY_MS);
    expect(await publishedBy(app, member)).toEqual(allAre(published + 1));
    return `503 after ${(refusedAfter / 1000).toFixed(1)} s, well after ${(recoveryMs / 1000).toFixed(1)} s`;
  } finally {
    await app.stop();
  }
}

const readsAreServed = async (member: Member): Promise<void> => {
  expect((await member.get('/me')).status).toBe(200);
  expect((await member.get('/posts?limit=1')).status).toBe(200);
};

onSqlite('A full disk', () => {
  const disk = SmallDisk.mount(8);
  afterAll(() => disk?.unmount());

  it.skipIf(!disk)(
    'refuses publishes with 503, serves reads, and needs no restart',
    async ({ task }) => {
      if (!disk) return;
      const seen = await fillAndFree(`sqlite:${join(disk.folder, 'service.sqlite')}`, disk, {
        whenFull: readsAreServed,
      });
      show(task, `SQLite has a full disk: ${seen}`);
    },
  );
});

onEachServer('A full disk', ({ engine }) => {
  it(
    'of the server, which it may end, is 503, and needs no restart of the service',
    { timeout: 120_000 },
    async ({ skip, task }) => {
      const disk = SmallDisk.mount(400);
      if (!disk || engine.kind === 'sqlite') return skip();
      const server = await startPrivateServer(engine.kind, { parent: disk.folder });
      try {
        if (!server) return skip();
        await runSql(server.url, 'CREATE DATABASE service');
        const url = `${server.url}/service`;
        const seen = await fillAndFree(url, disk, { whenFreed: () => server.restart() });
        show(task, `${engine.label} has a full disk: ${seen}, since it runs again`);
      } finally {
        await server?.stop();
        disk.unmount();
      }
    },
  );

  it(
    'of which the server tells, is 503, while reads are served',
    { timeout: 120_000 },
    async ({ skip, task }) => {
      if (engine.kind === 'sqlite') return skip();
      const server = await startPrivateServer(engine.kind, { settings: SMALL_TABLESPACE });
      try {
        if (!server) return skip();
        await runSql(server.url, 'CREATE DATABASE service');
        const tables = new SmallTablespace(server.url);
        const seen = await fillAndFree(`${server.url}/service`, tables, {
          whenFull: readsAreServed,
        });
        show(task, `${engine.label} has no room for its tables: ${seen}`);
      } finally {
        await server?.stop();
      }
    },
  );
});
