import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, createClient, memoryStore } from '../../../clients/typescript/src/index.js';
import { HOUR, MINUTE } from '../../../src/platform/clock.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { PersonalData } from '../../../src/modules/operations/personal-data.js';
import { Retention } from '../../../src/modules/operations/retention.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { settingsOf } from '../../clients/partner.js';
import { RELIABILITY_PAGE } from '../../reliability/page.js';
import { cleanUp } from '../../support/background.js';
import { startPrivateServer } from '../../support/database-server.js';
import { freePort } from '../../support/free-port.js';
import { expectConsistentCounters } from '../../support/invariants.js';
import { startProxy } from '../../support/reverse-proxy.js';
import { DURABLE_SETTINGS } from '../../support/server-by-command.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { runSql, serverVersion } from '../../support/sql.js';
import { TestApp } from '../../support/test-app.js';

/**
 * Two processes behind nginx, MariaDB with durable settings, and apps that use the TypeScript client, for an hour:
 * `npm run measure:soak`. `MEASURE_MINUTES` sets another time, and shortens the intervals with it. With `WRITE_PAGES=1`, the table is
 * written to docs/reliability.md.
 */
const MINUTES = Number(process.env.MEASURE_MINUTES ?? 60);
const DURATION_MS = MINUTES * MINUTE;
/** One process restarts 11 times; the other one lives to the end, so that its memory can be compared. */
const RESTART_INTERVAL_MS = DURATION_MS / 12;
const PAUSE_INTERVAL_MS = DURATION_MS / 6;
const PAUSE_MS = 20_000;
const SAMPLE_INTERVAL_MS = DURATION_MS / 60;
/** The sample with which the last one is compared, that of minute 10 of an hour. */
const FIRST_SAMPLE = 10;
const APPS = 4;
const USERS_PER_APP = 4;
/** After each round of a user. */
const ROUND_PAUSE_MS = 1000;
/** Access tokens of an hour would never be refreshed. */
const REFRESH_INTERVAL_MS = MINUTE;
/** How long an app repeats a call that failed, with the same key. */
const PATIENCE_MS = 5 * MINUTE;
const START_TIMEOUT_MS = 2 * MINUTE;
const MAX_GROWTH = 1.1;
/** Counts: one row for each app and month, or app, day, endpoint and status. They are kept. */
const COUNTER_TABLES = ['quota_usage', 'api_usage_daily'];

interface Sample {
  megabytes: number;
  files: string[];
  rows: Record<string, number>;
}

describe(`Mixed load for ${MINUTES} minutes`, () => {
  it('loses no acknowledged post and stores none twice', { timeout: 2 * HOUR }, async () => {
    const database = await startPrivateServer('mariadb', { settings: DURABLE_SETTINGS });
    if (!database) throw new Error('MariaDB is not installed.');
    await runSql(database.url, 'CREATE DATABASE service');
    const url = `${database.url}/service`;
    const [ports, proxyPort] = [[await freePort(), await freePort()], await freePort()] as const;
    const publicUrl = `http://127.0.0.1:${proxyPort}`;
    const app = await TestApp.start({ url }, { PUBLIC_URL: publicUrl });
    app.clock.set(new Date().toISOString());
    const discarded = await open('/dev/null', 'w');
    const start = (port: number): Promise<ServiceProcess> =>
      startProcess({
        url,
        stdout: discarded.fd,
        env: {
          PORT: String(port),
          PUBLIC_URL: publicUrl,
          MIGRATE: '0',
          DEMO: '0',
          QUOTA_DEFAULT_LIMIT: '10000000',
          // The default in production.
          SHUTDOWN_DELAY_MS: '5000',
        },
      });
    const [lasting, ...others] = await Promise.all(ports.map(start));
    let restarting = others[0];
    if (!lasting || !restarting) throw new Error('A process is missing.');
    const proxy = await startProxy(
      'nginx',
      ports.map((port) => `127.0.0.1:${port}`),
      proxyPort,
    );
    if (!proxy) throw new Error('nginx is not installed.');
    try {
      const startedAt = performance.now();
      const isOver = (): boolean => performance.now() - startedAt > DURATION_MS;
      const load = new Load(isOver);
      const users: Promise<void>[] = [];
      for (let index = 0; index < APPS; index += 1) {
        const registered = await app.addClient();
        for (let number = 0; number < USERS_PER_APP; number += 1) {
          const issued = await app.issueTokens(await app.addUser(), registered);
          const store = memoryStore({
            accessToken: issued.accessToken,
            refreshToken: issued.refreshToken,
            scopes: [...SCOPES],
            expiresAt: Date.now() + HOUR,
          });
          const settings = { ...settingsOf(app, registered), issuer: publicUrl, fetch };
          users.push(load.run(createClient(settings, store), store));
        }
      }

      let restarts = 0;
      let pauses = 0;
      const samples: Sample[] = [];
      const every = async (interval: number, offset: number, act: () => Promise<void>) => {
        for (let at = offset; at < DURATION_MS; at += interval) {
          await sleep(Math.max(0, startedAt + at - performance.now()));
          await act();
        }
      };
      await Promise.all([
        every(RESTART_INTERVAL_MS, RESTART_INTERVAL_MS, async () => {
          await restarting?.stop();
          restarting = await startAgain(() => start(ports[1]));
          restarts += 1;
        }),
        every(PAUSE_INTERVAL_MS, 0.75 * PAUSE_INTERVAL_MS, async () => {
          database.suspend();
          await sleep(PAUSE_MS);
          database.resume();
          pauses += 1;
        }),
        every(SAMPLE_INTERVAL_MS, SAMPLE_INTERVAL_MS, async () => {
          samples.push(await sample(lasting.pid, url));
        }),
        ...users,
      ]);
      samples.push(await sample(lasting.pid, url));

      const { manager } = app.dataSource;
      const posts = await manager.find(Post, {
        select: { id: true, content: true, deletedAt: true },
      });
      const [first, last] = [samples[FIRST_SAMPLE - 1], samples.at(-1)];
      if (!first || !last) throw new Error('There are no samples.');
      const stored = new Set(posts.map(({ id }) => id));
      const lost = [...load.acknowledged].filter((id) => !stored.has(id));
      const twice = posts.length - new Set(posts.map(({ content }) => content)).size;
      const growing = Object.keys(last.rows).filter(
        (table) => (last.rows[table] ?? 0) > (first.rows[table] ?? 0),
      );
      const growth = last.megabytes / first.megabytes;
      const table = [
        [
          'Requests of the apps, and those that the client repeated',
          `${load.calls}, ${load.retries}`,
        ],
        ['Posts acknowledged, lost, stored twice', `${posts.length}, ${lost.length}, ${twice}`],
        [
          'Refreshes of tokens, users who had to sign in again',
          `${load.refreshes}, ${load.signedOut}`,
        ],
        ['Restarts of one process, pauses of the database of 20 s', `${restarts}, ${pauses}`],
        [
          `Resident memory of the other process after ${MINUTES / 6} and ${MINUTES} minutes`,
          `${first.megabytes} and ${last.megabytes} MB (${growth.toFixed(2)})`,
        ],
        ['Tables that grew', growing.map((name) => `\`${name}\``).join(', ')],
        [
          'Files that the process has open, but had not',
          String(last.files.length - first.files.length),
        ],
      ];
      await report(table, await serverVersion(url));

      expect(load.failures).toEqual([]);
      expect(load.signedOut).toBe(0);
      expect(lost).toEqual([]);
      expect(twice).toBe(0);
      expect(load.acknowledged.size).toBe(posts.length);
      expect(
        posts.filter(({ id, deletedAt }) => deletedAt !== null && !load.deleted.has(id)),
      ).toEqual([]);
      expect(await manager.count(Comment)).toBe(load.comments);
      await expectConsistentCounters(url, (sql) => runSql(url, sql));
      expect(growing.filter((name) => !ownedTables(app).has(name))).toEqual([]);
      expect(last.files).toEqual(first.files);
      expect(growth).toBeLessThanOrEqual(MAX_GROWTH);
    } finally {
      database.resume();
      await cleanUp(
        () => proxy.stop(),
        () => Promise.all([lasting.stop(), restarting?.stop()]),
        () => app.stop(),
        () => database.stop(),
        () => discarded.close(),
      );
    }
  });
});

/** Starts a process as an orchestrator does: again if it ends, as it does while the database hangs. */
async function startAgain(start: () => Promise<ServiceProcess>): Promise<ServiceProcess> {
  for (const until = performance.now() + START_TIMEOUT_MS; ; await sleep(1000)) {
    try {
      return await start();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
  }
}

/** What the apps do, and what was acknowledged. */
class Load {
  readonly acknowledged = new Set<string>();
  /** Posts that an app asked to delete. */
  readonly deleted = new Set<string>();
  readonly failures: string[] = [];
  comments = 0;
  calls = 0;
  retries = 0;
  refreshes = 0;
  signedOut = 0;

  constructor(private readonly isOver: () => boolean) {}

  /** Sends the requests of one user, one after the other. Each round publishes, comments, reads, and deletes the comment or the post. */
  async run(
    client: ReturnType<typeof createClient>,
    store: ReturnType<typeof memoryStore>,
  ): Promise<void> {
    let refreshAt = performance.now() + Math.random() * REFRESH_INTERVAL_MS;
    while (!this.isOver() && this.failures.length === 0) {
      if (performance.now() > refreshAt) {
        const tokens = await store.get();
        if (tokens) await store.set({ ...tokens, expiresAt: 0 });
        refreshAt = performance.now() + REFRESH_INTERVAL_MS;
        this.refreshes += 1;
      }
      const body = { content: randomUUID() };
      const post = await this.call((options) => client.createPost({ body }, options));
      if (!post) return;
      const { id } = post;
      this.acknowledged.add(id);
      const text = 'Count me in';
      const comment = await this.call((options) =>
        client.createComment({ id, body: { text } }, options),
      );
      if (!comment) return;
      this.comments += 1;
      await this.call(() => client.getMe());
      await this.call(() => client.listComments({ id }));
      await this.call(() => client.listPosts({ limit: 50 }));
      if (Math.random() < 0.5)
        await this.call(() => unlessGone(client.deleteComment({ id: comment.id })));
      else {
        this.deleted.add(id);
        await this.call(() => unlessGone(client.deletePost({ id })));
      }
      await sleep(ROUND_PAUSE_MS * Math.random() * 2);
    }
  }

  /** Repeats a call that failed even after the retries of the client, with the same key. Undefined if it fails for minutes. */
  private async call<T>(
    send: (options: { idempotencyKey: string }) => Promise<T>,
  ): Promise<T | undefined> {
    const idempotencyKey = randomUUID();
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      this.calls += 1;
      try {
        return await send({ idempotencyKey });
      } catch (error) {
        if ((error as Error).name === 'AuthorizationRequiredError') this.signedOut += 1;
        else if (performance.now() < until) {
          this.retries += 1;
          await sleep(1000);
          continue;
        }
        this.failures.push(String(error));
        return undefined;
      }
    }
  }
}

/** A deletion whose earlier response was lost gets 404. */
async function unlessGone(deletion: Promise<unknown>): Promise<unknown> {
  return deletion.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
}

async function sample(pid: number, url: string): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(
    descriptors.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')),
  );
  const files = targets.filter((target) => target.startsWith('/')).toSorted();
  const tables = await runSql(url, 'SHOW TABLES').catch(() => []);
  const rows: Record<string, number> = {};
  for (const name of tables.flatMap((row) => Object.values(row) as string[])) {
    const [counted] = await runSql(url, `SELECT COUNT(*) AS number FROM ${name}`);
    rows[name] = Number(counted?.['number']);
  }
  return { megabytes, files, rows };
}

/** Tables whose rows expire or are deleted with their user, and counters. */
function ownedTables(app: TestApp): ReadonlySet<string> {
  const person = { userId: '', phone: null };
  return new Set([
    ...app
      .service(Retention)
      .expired(new Date())
      .map(({ table }) => table),
    ...app
      .service(PersonalData)
      .rowsToErase(person)
      .map(({ table }) => table),
    ...COUNTER_TABLES,
  ]);
}

async function report(table: readonly string[][], version: string): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const lines = [
    `Measured on ${day} with Node ${process.version} and MariaDB ${version}: ${MINUTES} minutes, ${APPS} apps with ${USERS_PER_APP} users each.`,
    '',
    '| | |',
    '|---|---|',
    ...table.map((row) => `| ${row.join(' | ')} |`),
  ];
  const text = lines.join('\n');
  process.stdout.write(`${text}\n`);
  if (process.env.WRITE_PAGES !== '1') return;
  const page = await readFile(RELIABILITY_PAGE, 'utf8');
  const section = /(<!-- soak -->)[^]*(<!-- end of soak -->)/;
  await writeFile(RELIABILITY_PAGE, page.replace(section, `$1\n\n${text}\n\n$2`));
}
