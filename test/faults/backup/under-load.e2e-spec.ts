import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DataSource } from 'typeorm';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import {
  AccessToken,
  Grant,
  RefreshToken,
} from '../../../src/modules/oauth/tokens/token.entities.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { parseFindings, runCommand } from '../../support/command-line.js';
import { connect, onEachEngine, type TestDatabase } from '../../support/database.js';
import { expectConsistentCounters } from '../../support/invariants.js';
import { Member } from '../../support/member.js';
import { obtainTokens } from '../../support/oauth-flow.js';
import {
  BACKUP_AND_RESTORE,
  canBackUp,
  commandsOf,
  runBackupAndRestore,
} from '../../support/operate-guide.js';
import { runSql } from '../../support/sql.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { IdempotentPublishLoad } from '../idempotency/idempotent-publish-load.js';
import { MixedLoad } from '../database-outage/mixed-load.js';
import { reportFigure } from '../figures.js';
import { storedGrants, violationsIn } from '../model/token-rows.js';
import { byExtent } from '../../suite.js';

const BACKUPS = byExtent({ whole: 3, quick: 1 });
/** Timeout for the load to make progress, a backup, a restore and the checks. */
const ROUND_TIMEOUT_MS = 60_000;
const PUBLISHERS = 4;
/** Timeout for the load to make progress. */
const WAIT = { timeout: 10_000 };
/** Size of the large database, in MB: enough to detect a backup that restarts at each write, or that blocks writers. */
const LARGE_MB = byExtent({ whole: 100, quick: 50 });
const MAX_BACKUP_MS = 20_000;

/** Ids of all posts, comments and deleted items, and hashes of all tokens. None of them disappears during the test. */
type Snapshot = Record<
  | 'posts'
  | 'comments'
  | 'deletedPosts'
  | 'deletedComments'
  | 'accessTokens'
  | 'refreshTokens'
  | 'usedTokens',
  ReadonlySet<string>
>;

async function snapshotOf({ manager }: DataSource): Promise<Snapshot> {
  const select = { id: true, deletedAt: true } as const;
  const [posts, comments, access, refresh] = await Promise.all([
    manager.find(Post, { select }),
    manager.find(Comment, { select }),
    manager.find(AccessToken, { select: { hash: true } }),
    manager.find(RefreshToken, { select: { hash: true, consumedAt: true } }),
  ]);
  const idsOf = (rows: { id: string }[]) => new Set(rows.map(({ id }) => id));
  const hashesOf = (rows: { hash: string }[]) => new Set(rows.map(({ hash }) => hash));
  const deleted = <T extends { deletedAt: Date | null }>(rows: T[]) =>
    rows.filter(({ deletedAt }) => deletedAt !== null);
  return {
    posts: idsOf(posts),
    comments: idsOf(comments),
    deletedPosts: idsOf(deleted(posts)),
    deletedComments: idsOf(deleted(comments)),
    accessTokens: hashesOf(access),
    refreshTokens: hashesOf(refresh),
    usedTokens: hashesOf(refresh.filter(({ consumedAt }) => consumedAt !== null)),
  };
}

/** Asserts that no refresh token has two successors, and that access and refresh tokens come in pairs. */
async function expectTokenChains(dataSource: DataSource): Promise<void> {
  const grants = await dataSource.manager.find(Grant, { select: { id: true } });
  const stored = await storedGrants(
    dataSource,
    grants.map(({ id }) => id),
  );
  expect(stored).not.toEqual([]);
  expect(stored.flatMap(violationsIn)).toEqual([]);
}

/** The ids and hashes of `expected` that `actual` does not have, by name. */
function missingFrom(expected: Snapshot, actual: Snapshot): Record<string, string[]> {
  const names = Object.keys(expected) as (keyof Snapshot)[];
  const missing = names.map((name) => [
    name,
    [...expected[name]].filter((id) => !actual[name].has(id)),
  ]);
  return Object.fromEntries(missing.filter(([, ids]) => (ids as string[]).length > 0));
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-backup-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/**
 * Backs up and restores with the commands of docs/operate/upgrade.md. Returns the `DATABASE_URL` of the restored database.
 * @param whenBackedUp runs between backup and restore
 */
function backUpAndRestore(
  database: TestDatabase,
  cwd: string,
  whenBackedUp: () => void = () => undefined,
): Promise<string> {
  return runBackupAndRestore(database, cwd, async (kind, replaceNames) => {
    for (const [index, line] of commandsOf(BACKUP_AND_RESTORE, kind).entries()) {
      await promisify(execFile)('bash', ['-c', `set -euo pipefail\n${replaceNames(line)}`], {
        cwd,
      });
      // The first command is the backup.
      if (index === 0) whenBackedUp();
    }
  });
}

/** Drops a restored database of a server. A SQLite file is deleted with its folder. */
async function dropRestored(url: string): Promise<void> {
  if (!url.startsWith('sqlite:'))
    await runSql(url, `DROP DATABASE ${new URL(url).pathname.slice(1)}`);
}

onEachEngine('Backup under load', (database) => {
  const app = useTestApp(database, {
    QUOTA_DEFAULT_LIMIT: '1000000',
    ...rateLimits({ 'grant-refreshes-per-hour': UNLIMITED }),
  });
  beforeAll(() => app().clock.set(new Date().toISOString()));

  /** Asserts that the database is consistent. Returns its contents. */
  async function checkConsistency(url: string): Promise<Snapshot> {
    const findings = parseFindings(
      await runCommand(['doctor', '--json'], { DATABASE_URL: url, METRICS_PORT: 'off' }),
    );
    expect(findings.filter(({ status }) => status === 'failed')).toEqual([]);
    const dataSource = await connect(url);
    try {
      const select = (sql: string) => dataSource.query<Record<string, unknown>[]>(sql);
      await expectConsistentCounters(url, select);
      await expectTokenChains(dataSource);
      return await snapshotOf(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  it.skipIf(!canBackUp(database))(
    `restores to a consistent database, ${BACKUPS} times`,
    { timeout: 30_000 + BACKUPS * ROUND_TIMEOUT_MS },
    async ({ task }) => {
      const { baseUrl, dataSource } = app();
      const load = new IdempotentPublishLoad(await Member.join(app()), () => baseUrl, PUBLISHERS);
      const commenter = await Member.join(app());
      const mixed = new MixedLoad();
      mixed.startCommenting(commenter, (await commenter.publish()).id);
      mixed.startPublishingAndDeleting(commenter);
      const client = await app().addClient();
      mixed.startRefreshing(app(), client, await obtainTokens(app(), client));
      const rowCounts: number[] = [];
      for (let round = 1; round <= BACKUPS; round += 1) {
        const [published, others] = [load.posts.size, mixed.total];
        await expect.poll(() => load.posts.size, WAIT).toBeGreaterThan(published + PUBLISHERS);
        await expect.poll(() => mixed.total, WAIT).toBeGreaterThan(others + 2 * PUBLISHERS);
        const acknowledged = [...load.posts.values()];
        const before = await snapshotOf(dataSource);
        const url = await backUpAndRestore(database, await newFolder());
        const after = await snapshotOf(dataSource);
        const restored = await checkConsistency(url);
        expect(acknowledged.filter((id) => !restored.posts.has(id))).toEqual([]);
        expect(missingFrom(before, restored)).toEqual({});
        expect(missingFrom(restored, after)).toEqual({});
        const { posts, comments, accessTokens, refreshTokens } = restored;
        rowCounts.push(posts.size + comments.size + accessTokens.size + refreshTokens.size);
        await dropRestored(url);
      }
      await load.stopAndCheck();
      await mixed.stop();
      for (const name of ['comment', 'comment deletion', 'deletion', 'refresh'])
        expect(mixed.count(name)).toBeGreaterThan(0);
      reportFigure(
        task,
        `${database.engine.label}: ${BACKUPS} copies under load, of ${rowCounts.join(', ')} posts, comments and tokens, each consistent`,
      );
    },
  );
});

onEachEngine('Backup of a large database under load', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000000' });
  const isFile = database.engine.kind === 'sqlite';

  it.skipIf(!canBackUp(database))(
    'completes without blocking writers',
    { timeout: 30_000 + 2 * MAX_BACKUP_MS },
    async ({ task }) => {
      const { baseUrl, dataSource } = app();
      const content = isFile ? 'randomblob(1000000)' : `REPEAT('x', 1000000)`;
      await dataSource.query(`CREATE TABLE ballast AS WITH RECURSIVE numbers(number) AS
        (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${LARGE_MB})
        SELECT ${content} AS content FROM numbers`);
      // After the suite, all remaining tables are searched for credentials.
      onTestFinished(() => dataSource.query('DROP TABLE ballast'));
      const load = new IdempotentPublishLoad(await Member.join(app()), () => baseUrl, PUBLISHERS, {
        maxPauseMs: 0,
      });
      await expect.poll(() => load.posts.size, WAIT).toBeGreaterThan(PUBLISHERS);
      const folder = await newFolder();
      const [published, startedAt] = [load.posts.size, performance.now()];
      let [backupMs, postsMeanwhile] = [Infinity, 0];
      const url = await backUpAndRestore(database, folder, () => {
        backupMs = performance.now() - startedAt;
        postsMeanwhile = load.posts.size - published;
      });
      await load.stopAndCheck();
      await dropRestored(url);
      expect(backupMs).toBeLessThan(MAX_BACKUP_MS);
      // More than were in flight when the backup began.
      expect(postsMeanwhile).toBeGreaterThan(2 * PUBLISHERS);
      const { size } = await stat(join(folder, isFile ? 'platform.sqlite' : 'platform.sql'));
      expect(size).toBeGreaterThan(LARGE_MB * 1_000_000);
      reportFigure(
        task,
        `${database.engine.label}: ${LARGE_MB} MB copied in ${Math.round(backupMs)} ms, ${postsMeanwhile} posts meanwhile`,
      );
    },
  );
});
