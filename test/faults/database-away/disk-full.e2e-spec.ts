import { join } from 'node:path';
import { onEachServer, onSqlite } from '../../support/engines.js';
import { json, type ErrorBody } from '../../support/json.js';
import { startPrivateServer } from '../../support/private-server.js';
import { allAre, publishedBy } from '../../support/published.js';
import { SmallDisk } from '../../support/small-disk.js';
import { runSql } from '../../support/sql.js';
import { TestApp } from '../../support/test-app.js';
import { Member } from '../../e2e/api/member.js';

const LONG = 'x'.repeat(10_000);
const MOST_POSTS = 400;

/** What a test does at a full disk, and once there is room again. */
interface Moments {
  whenFull?: (member: Member) => Promise<void>;
  whenFreed?: () => Promise<void>;
}

/** Publishes until the disk is full, makes room, and publishes again with the same service. */
async function fillAndFree(url: string, disk: SmallDisk, moments: Moments): Promise<void> {
  const app = await TestApp.start({ url }, { QUOTA_DEFAULT_LIMIT: '100000' });
  try {
    const member = await Member.join(app);
    await disk.fill();
    let published = 0;
    let refused: Response | undefined;
    while (!refused && published < MOST_POSTS) {
      const answer = await member.post('/posts', { content: LONG });
      if (answer.status === 201) published += 1;
      else refused = answer;
    }
    expect(refused?.status).toBe(503);
    expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(refused && (await json<ErrorBody>(refused)).error).toBe('service_unavailable');
    await moments.whenFull?.(member);

    await disk.free();
    await moments.whenFreed?.();
    await expect
      .poll(async () => (await member.post('/posts', { content: 'Room again' })).status, {
        timeout: 10_000,
      })
      .toBe(201);
    expect(await publishedBy(app, member)).toEqual(allAre(published + 1));
  } finally {
    await app.stop();
  }
}

onSqlite('A full disk', () => {
  const disk = SmallDisk.mount(8);
  afterAll(() => disk?.unmount());

  it.skipIf(!disk)('refuses publishes with 503, serves reads, and needs no restart', async () => {
    if (!disk) return;
    await fillAndFree(`sqlite:${join(disk.folder, 'service.sqlite')}`, disk, {
      whenFull: async (member) => {
        expect((await member.get('/me')).status).toBe(200);
        expect((await member.get('/posts?limit=1')).status).toBe(200);
      },
    });
  });
});

onEachServer('A full disk', ({ engine }) => {
  it(
    'of the server, which it may end, is 503, and needs no restart of the service',
    { timeout: 120_000 },
    async ({ skip }) => {
      const disk = SmallDisk.mount(400);
      if (!disk || engine.kind === 'sqlite') return skip();
      const server = await startPrivateServer(engine.kind, { parent: disk.folder });
      try {
        if (!server) return skip();
        await runSql(server.url, 'CREATE DATABASE service');
        await fillAndFree(`${server.url}/service`, disk, { whenFreed: () => server.restart() });
      } finally {
        await server?.stop();
        disk.unmount();
      }
    },
  );
});
