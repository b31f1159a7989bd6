import { join } from 'node:path';
import { newId } from '../../../src/platform/ids.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import { type ServerKind, startPrivateServer } from '../../support/database-server.js';
import { connect, onEachServer, onSqlite } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import {
  type Fillable,
  SMALL_TABLESPACE,
  SmallDisk,
  SmallTablespace,
} from '../../support/full-disk.js';
import { Member } from '../../support/member.js';
import { type ErrorBody, json } from '../../support/responses.js';
import { runSql } from '../../support/sql.js';
import { TestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';

const LONG = 'x'.repeat(10_000);
/** Size of the disk with the SQLite file. */
const DISK_MB = 8;
/** Size of the disk with all files of a database server. */
const SERVER_DISK_MB = 400;
/** More than the free space holds. */
const MAX_POSTS = 400;
const DB_TIMEOUT_MS = 1000;
/** The timeout, two seconds for an unresponsive server, and slack for a slow machine. */
const MAX_RESPONSE_MS = DB_TIMEOUT_MS + 2000 + 1500;
const MAX_RECOVERY_MS = 5000;

/** Hooks of a test: with a full disk, and with free space again. */
interface Hooks {
  whenFull?: (member: Member) => Promise<void>;
  whenFreed?: () => Promise<void>;
}

const ATTEMPTS_WHEN_FULL = 3;

/** Publishes until the disk is full, frees space, and publishes again with the same service. Returns the measured times as text. */
async function fillAndFree(url: string, disk: Fillable, hooks: Hooks): Promise<string> {
  const env = { DB_TIMEOUT_MS: String(DB_TIMEOUT_MS), QUOTA_DEFAULT_LIMIT: '100000' };
  const app = await TestApp.start({ url }, env);
  try {
    const member = await Member.join(app);
    const code = (await approve(app, member.user, member.client)).get('code') ?? '';
    await disk.fill();
    let published = 0;
    let slowest = 0;
    const timed = async (sent: Promise<Response>): Promise<Response> => {
      const startedAt = performance.now();
      const response = await sent;
      slowest = Math.max(slowest, performance.now() - startedAt);
      expect(slowest).toBeLessThan(MAX_RESPONSE_MS);
      return response;
    };
    const publish = async (): Promise<Response> => {
      const response = await timed(member.post('/posts', { content: LONG }));
      if (response.status === 201) published += 1;
      return response;
    };
    let rejected = await publish();
    while (rejected.status === 201) {
      expect(published).toBeLessThan(MAX_POSTS);
      rejected = await publish();
    }
    expect(rejected.status).toBe(503);
    expect(rejected.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await json<ErrorBody>(rejected)).error).toBe('service_unavailable');
    for (let attempt = 0; attempt < ATTEMPTS_WHEN_FULL; attempt += 1)
      expect([201, 503]).toContain((await publish()).status);
    const exchanged = await timed(exchange(app, member.client, code));
    expect([200, 503]).toContain(exchanged.status);
    await hooks.whenFull?.(member);

    await disk.free();
    await hooks.whenFreed?.();
    const freedAt = performance.now();
    await expect
      .poll(async () => (await member.post('/posts', { content: 'Space again' })).status, {
        timeout: MAX_RECOVERY_MS,
      })
      .toBe(201);
    const recoveryMs = performance.now() - freedAt;
    expect(recoveryMs).toBeLessThan(MAX_RECOVERY_MS);
    if (exchanged.status === 503)
      expect((await exchange(app, member.client, code)).status).toBe(200);
    const dataSource = await connect(url);
    try {
      expect(await countPublished({ dataSource }, member)).toEqual(expectedCounts(published + 1));
    } finally {
      await dataSource.destroy();
    }
    return `503 within ${(slowest / 1000).toFixed(1)} s, recovered after ${(recoveryMs / 1000).toFixed(1)} s`;
  } finally {
    await app.stop();
  }
}

const expectOtherRequestsServed = async (member: Member): Promise<void> => {
  expect((await member.delete(`/posts/${newId('post', new Date())}`)).status).toBe(404);
  expect((await member.get('/me')).status).toBe(200);
  expect((await member.get('/posts?limit=1')).status).toBe(200);
};

onSqlite('Full disk', () => {
  const disk = SmallDisk.mount(DISK_MB);
  afterAll(() => disk?.unmount());

  it.skipIf(!disk)(
    'rejects publishes with 503, serves other requests, and needs no restart',
    async ({ task }) => {
      if (!disk) return;
      const measured = await fillAndFree(`sqlite:${join(disk.folder, 'service.sqlite')}`, disk, {
        whenFull: expectOtherRequestsServed,
      });
      reportFigure(task, `SQLite has a full disk: ${measured}`);
    },
  );
});

/**
 * On MariaDB, fills a disk that also has the other files of the server, so the server may exit. On MySQL, fills a tablespace only;
 * MariaDB could then not even drop a table. Returns the figure, or undefined if the disk or the server cannot be created.
 */
async function fillServer(kind: ServerKind): Promise<string | undefined> {
  const disk = kind === 'mariadb' ? SmallDisk.mount(SERVER_DISK_MB) : undefined;
  if (kind === 'mariadb' && !disk) return undefined;
  const options = disk ? { parent: disk.folder } : { settings: SMALL_TABLESPACE };
  const server = await startPrivateServer(kind, options);
  try {
    if (!server) return undefined;
    await runSql(server.url, 'CREATE DATABASE service');
    const measured = await fillAndFree(
      `${server.url}/service`,
      disk ?? new SmallTablespace(server.url),
      disk ? { whenFreed: () => server.restart() } : { whenFull: expectOtherRequestsServed },
    );
    return disk
      ? `has a full disk: ${measured}, counted from its restart`
      : `has a full tablespace: ${measured}`;
  } finally {
    await server?.stop();
    disk?.unmount();
  }
}

onEachServer('Full disk of the server', ({ engine: { kind, label } }) => {
  it(
    'returns 503, and needs no restart of the service',
    { timeout: 120_000 },
    async ({ skip, task }) => {
      if (kind === 'sqlite') return skip();
      const measured = await fillServer(kind);
      if (measured === undefined) return skip();
      reportFigure(task, `${label} ${measured}`);
    },
  );
});
