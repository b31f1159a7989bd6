import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { DataSource } from 'typeorm';
import { cleanUp } from '../../support/background.js';
import { Cluster } from '../../support/cluster.js';
import { CommandLine } from '../../support/command-line.js';
import { connect } from '../../support/database.js';
import { newSmsFile } from '../../support/doubles.js';
import { GROUP_TIMEOUT_MS, MysqlGroup } from '../../support/mysql-group.js';
import { buildOfRelease, releasedDatabase, restore } from '../../support/released.js';
import { startProcess } from '../../support/service-process.js';
import { IdempotentPublishLoad } from '../idempotency/idempotent-publish-load.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { signInPublisher } from './preserved-rows.js';
import { UNLIMITED_MESSAGES_1_0_0, Visits } from './visits.js';

const COMMAND = process.env.TEST_GROUP_COMMAND ?? '';
const RELEASE = '1.0.0';
const DATABASE = `platform_test_${randomBytes(6).toString('hex')}`;
const EVENTS = byExtent({ whole: 2_000_000, quick: 50_000 });
/** Several events have the same time, as in a busy minute. */
const EVENTS_PER_TIME = 7000;
const INSERT_SIZE = 10_000;
const PUBLISHERS = 2;
const TEST_TIMEOUT_MS = 900_000;

describe.skipIf(COMMAND === '')('Upgrade of a large audit log on a database group', () => {
  const smsFile = newSmsFile();
  let group: MysqlGroup;
  let dataSource: DataSource | undefined;
  let site: Cluster | undefined;
  let url: string;

  beforeAll(async () => {
    group = await MysqlGroup.start(COMMAND);
    await group.createDatabase(DATABASE);
    // Release 1.0.0 takes one host.
    const [, primary = ''] = /,([^,]*)$/.exec(await group.url(DATABASE)) ?? [];
    url = `mysql://root@${primary}`;
  }, GROUP_TIMEOUT_MS);
  afterAll(() =>
    cleanUp(
      () => site?.stop(),
      () => dataSource?.destroy(),
      () => group?.dropDatabase(DATABASE),
      () => group?.release(),
    ),
  );

  /** Every third event is about a user, every third about an app, and the others about neither. */
  async function insertEvents({ query }: { query: DataSource['query'] }): Promise<void> {
    for (let first = 0; first < EVENTS; first += INSERT_SIZE)
      await query(
        `INSERT INTO audit_events (at, id, action, actor, subject, details)
        WITH RECURSIVE numbers AS
          (SELECT ${first} AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < ${first + INSERT_SIZE - 1})
        SELECT TIMESTAMPADD(MINUTE, n DIV ${EVENTS_PER_TIME}, '2026-01-01'),
          CONCAT('evt_', LPAD(n, 26, '0')), 'large.log', 'test',
          CASE n % 3 WHEN 0 THEN CONCAT('svc_app_', LPAD(n, 26, '0')) ELSE 'other' END,
          CASE n % 3 WHEN 1 THEN CONCAT('{"userId":"usr_', LPAD(n, 26, '0'), '"}') ELSE '{}' END
        FROM numbers`,
      );
  }

  it(
    `fills ${EVENTS} events in batches while 1.0.0 serves, and continues after it was killed`,
    { timeout: TEST_TIMEOUT_MS },
    async ({ task, skip }) => {
      const build = await buildOfRelease(RELEASE);
      if (build === undefined) return skip('The history of the repository is not available.');
      const engine = { kind: 'mysql', label: 'MySQL' } as const;
      const database = { engine, url };
      await restore(database, await releasedDatabase(RELEASE, database));
      const source = await connect(url, { DB_TIMEOUT_MS: '60000' });
      dataSource = source;
      const query = source.query.bind(source);
      await query(`SET SESSION cte_max_recursion_depth = ${INSERT_SIZE}`);
      await insertEvents({ query });
      const env = {
        MIGRATE: '0',
        DEMO: '0',
        QUOTA_DEFAULT_LIMIT: '1000000',
        SMS_FILE: smsFile,
        ...UNLIMITED_MESSAGES_1_0_0,
      };
      const service = await startProcess({ url, env, build });
      const cluster = new Cluster(service.baseUrl, [service]);
      site = cluster;
      const member = await signInPublisher(source, () => cluster);
      const load = new IdempotentPublishLoad(member, () => service.baseUrl, PUBLISHERS);
      const visits = Visits.start(() => cluster, member.user, member.client);
      await visits.awaitSuccess();
      const countFilled = async (): Promise<number> => {
        const [row] = (await query(
          `SELECT COUNT(*) AS filled FROM audit_events WHERE action = 'large.log' AND (client_id IS NOT NULL OR user_id IS NOT NULL)`,
        )) as { filled: string }[];
        return Number(row?.filled);
      };
      const interrupted = spawn(process.execPath, ['dist/src/bundle/cli.js', 'db', 'migrate'], {
        env: { PATH: process.env.PATH, DATABASE_URL: url },
        stdio: 'ignore',
      });
      const ended = once(interrupted, 'exit');
      await expect
        .poll(() => countFilled().catch(() => 0), { timeout: TEST_TIMEOUT_MS, interval: 200 })
        .toBeGreaterThan(0);
      interrupted.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
      const filledBefore = await countFilled();
      expect(filledBefore).toBeLessThan(EVENTS / 2);
      const startedAt = performance.now();
      const cli = new CommandLine(database);
      const { applied } = await cli.json<{ applied: string[] }>('db', 'migrate');
      const seconds = (performance.now() - startedAt) / 1000;
      expect(applied).not.toEqual([]);
      await visits.awaitSuccess();
      await visits.stop();
      await load.stopAndCheck();
      const [wrong] = (await query(
        `SELECT COUNT(*) AS count FROM audit_events WHERE action = 'large.log' AND NOT (
          client_id <=> IF(subject = 'other', NULL, subject) AND
          user_id <=> IF(details = '{}', NULL, SUBSTR(details, 12, 30)))`,
      )) as { count: string }[];
      expect(Number(wrong?.count)).toBe(0);
      expect(visits.unavailable).toBe(0);
      reportFigure(
        task,
        `${EVENTS} audit events on a group of three: killed after ${filledBefore}, completed in ${seconds.toFixed(0)} s by the next run, while 1.0.0 stored ${load.posts.size} posts, each once, and ${visits.succeeded} users signed in, none with a 503`,
      );
    },
  );
});
