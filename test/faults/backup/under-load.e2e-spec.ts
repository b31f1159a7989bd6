import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { run } from '../../support/command-line.js';
import { connect } from '../../support/connect.js';
import { findingsIn } from '../../support/diagnosis.js';
import { onEachEngine, type TestDatabase } from '../../support/engines.js';
import { expectBalance } from '../../support/ledger.js';
import { findProgram } from '../../support/programs.js';
import { runSql } from '../../support/sql.js';
import { useTestApp } from '../../support/test-app.js';
import { Member } from '../../e2e/api/member.js';
import { KeyedLoad } from '../created-once/keyed-load.js';
import { show } from '../figures.js';
import { times } from '../promises.js';

const COPIES = times(5, 1);
const COPY_MS = 60_000;
const PUBLISHERS = 4;

const clients = {
  server: (await findProgram('mysqldump')) && (await findProgram('mysql')),
  sqlite: await findProgram('sqlite3'),
};

/** Backs up as docs/operate.md says, restores into a database beside it, and answers that one's `DATABASE_URL`. */
async function copy(
  { url, engine }: TestDatabase,
  folder: string,
  number: number,
): Promise<string> {
  const shell = (line: string) => promisify(execFile)('bash', ['-c', `set -euo pipefail\n${line}`]);
  if (engine.kind === 'sqlite') {
    const file = join(folder, `copy-${number}.sqlite`);
    await shell(`sqlite3 ${url.slice('sqlite:'.length)} ".timeout 5000" ".backup ${file}"`);
    return `sqlite:${file}`;
  }
  const { hostname, port, username, password, pathname } = new URL(url);
  const original = pathname.slice(1);
  const restored = `${original}_${number}`;
  const account = `-h ${hostname} -P ${port} -u ${username} ${password && `--password=${password}`}`;
  await shell(
    `mysqldump ${account} --single-transaction --no-tablespaces ${original} > ${folder}/${number}.sql`,
  );
  await runSql(url, `CREATE DATABASE ${restored}`);
  await shell(`mysql ${account} ${restored} < ${folder}/${number}.sql`);
  return url.replace(original, restored);
}

onEachEngine('A backup under load', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000000' });
  const { kind } = database.engine;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-copies-'));
    app().clock.set(new Date().toISOString());
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Asserts that everything in it adds up. Answers how many posts there are. */
  async function examine(url: string): Promise<number> {
    const found = findingsIn(
      await run(['doctor', '--json'], { DATABASE_URL: url, METRICS_PORT: 'off' }),
    );
    expect(found.filter(({ status }) => status === 'failed')).toEqual([]);
    const dataSource = await connect(url);
    try {
      const select = (sql: string) => dataSource.query<Record<string, unknown>[]>(sql);
      await expectBalance(url, ['quota_usage', 'posts'], select);
      return await dataSource.manager.count(Post);
    } finally {
      await dataSource.destroy();
    }
  }

  it.skipIf(!clients[kind === 'sqlite' ? 'sqlite' : 'server'])(
    `restores to a database in which everything adds up, ${COPIES} times`,
    { timeout: 30_000 + COPIES * COPY_MS },
    async ({ task }) => {
      const { baseUrl } = app();
      const load = new KeyedLoad(await Member.join(app()), () => baseUrl, PUBLISHERS);
      const found: number[] = [];
      for (let number = 1; number <= COPIES; number += 1) {
        const before = load.posts.size;
        await expect.poll(() => load.posts.size).toBeGreaterThan(before + PUBLISHERS);
        const acknowledged = load.posts.size;
        const url = await copy(database, folder, number);
        const posts = await examine(url);
        expect(posts).toBeGreaterThanOrEqual(acknowledged);
        found.push(posts);
        if (kind !== 'sqlite') await runSql(url, `DROP DATABASE ${new URL(url).pathname.slice(1)}`);
      }
      await load.stop();
      show(
        task,
        `${database.engine.label}: ${COPIES} copies under load, of ${found.join(', ')} posts, each adds up`,
      );
    },
  );
});
