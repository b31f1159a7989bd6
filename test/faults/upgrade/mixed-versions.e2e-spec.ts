import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { cleanUp } from '../../support/background.js';
import { Cluster } from '../../support/cluster.js';
import {
  CommandLine,
  runDoctor,
  runCommand,
  runCommandProcess,
} from '../../support/command-line.js';
import { connect, onEachEngine, onOneServer } from '../../support/database.js';
import { newSmsFile } from '../../support/doubles.js';
import { freePort } from '../../support/free-port.js';
import {
  releasedDatabase,
  type ReleasedDatabase,
  buildOfRelease,
  type ReleaseBuild,
  restore,
  schemaOf,
} from '../../support/released.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { IdempotentPublishLoad } from '../idempotency/idempotent-publish-load.js';
import { reportFigure } from '../figures.js';
import { IS_QUICK, byExtent } from '../../suite.js';
import { expectPreserved, signInPublisher } from './preserved-rows.js';
import { expectVisited, UNLIMITED_MESSAGES, UNLIMITED_MESSAGES_1_0_0, Visits } from './visits.js';

const RELEASE = '1.0.0';
const TEST_TIMEOUT_MS = 120_000;
const PUBLISHERS = 4;
/** Pause before the next step. */
const BETWEEN_MS = byExtent({ whole: 1000, quick: 0 });
const READY_TIMEOUT_MS = 10_000;
/** Columns that the publisher changes. */
const CHANGED_BY_USE = { users: ['post_count'] };
const NO_HISTORY =
  'The release is built from the git history of this repository, which is not available here.';

(IS_QUICK ? onOneServer : onEachEngine)('First release', (database) => {
  const { url, engine } = database;
  const smsFile = newSmsFile();
  const env: Record<string, string> = {
    MIGRATE: '0',
    DEMO: '0',
    OTP_PEPPER: randomBytes(32).toString('hex'),
    QUOTA_DEFAULT_LIMIT: '1000000',
    SMS_FILE: smsFile,
  };
  let build: ReleaseBuild | undefined;
  let original: ReleasedDatabase;
  let dataSource: DataSource;
  /** The processes that serve the requests, alternating. */
  let serving: ServiceProcess[] = [];
  let site: Cluster;
  beforeAll(async () => {
    build = await buildOfRelease(RELEASE);
    if (build === undefined) return;
    original = await releasedDatabase(RELEASE, database);
    await restore(database, original);
    dataSource = await connect(url);
    env.PUBLIC_URL = `http://127.0.0.1:${await freePort()}`;
    serve([await startProcess({ url, env: { ...env, ...UNLIMITED_MESSAGES_1_0_0 }, build })]);
  }, 120_000);
  afterAll(() =>
    cleanUp(
      () => site?.stop(),
      () => dataSource?.destroy(),
    ),
  );

  function serve(processes: ServiceProcess[], servingPages?: ServiceProcess): void {
    serving = processes;
    site = new Cluster(env.PUBLIC_URL ?? '', processes, servingPages);
  }

  const cli = new CommandLine(database, runCommandProcess);

  /** Asserts that publishing continues during `work`, and that a sign-in with tokens and a comment (a visit) succeeds after it. */
  async function duringLoad<T>(
    load: IdempotentPublishLoad,
    visits: Visits,
    work: () => Promise<T>,
  ): Promise<T> {
    const before = load.posts.size;
    const outcome = await work();
    expect(load.posts.size).toBeGreaterThan(before);
    await visits.awaitSuccess();
    await sleep(BETWEEN_MS);
    return outcome;
  }

  /**
   * Serves alternately with the release and this version, until a visit has succeeded. The pages are served by this version, as with
   * sticky sessions: the two versions do not continue each other's sign-ins.
   */
  async function serveBeside(visits: Visits): Promise<void> {
    const older = serving;
    const newer = await startProcess({ url, env: { ...env, ...UNLIMITED_MESSAGES } });
    await expect
      .poll(() => fetch(`${newer.baseUrl}/readyz`).then(({ status }) => status), {
        timeout: READY_TIMEOUT_MS,
      })
      .toBe(200);
    serve([...older, newer], newer);
    await sleep(BETWEEN_MS);
    await visits.awaitSuccess();
    serve(older);
    // Visits that began with the newer version end first.
    await visits.awaitSuccess();
    expect(await newer.stop()).toBe(0);
  }

  it(
    'serves requests while the schema is migrated, reverted and migrated again',
    { timeout: TEST_TIMEOUT_MS },
    async ({ task, skip }) => {
      if (build === undefined) return skip(NO_HISTORY);
      const released = await schemaOf(database);
      const member = await signInPublisher(dataSource, () => site);
      let requests = 0;
      const nextUrl = (): string => serving[(requests += 1) % serving.length]?.baseUrl ?? '';
      const load = new IdempotentPublishLoad(member, nextUrl, PUBLISHERS);
      const visits = Visits.start(() => site, member.user, member.client);
      const whileServing = <T>(work: () => Promise<T>): Promise<T> =>
        duringLoad(load, visits, work);
      const migrate = () => cli.json<{ applied: string[] }>('db', 'migrate');
      const revert = () => cli.json<{ migrations: string[] }>('db', 'revert', RELEASE, '--yes');
      await visits.awaitSuccess();
      const { applied } = await whileServing(migrate);
      expect(applied).not.toEqual([]);
      // SQLite serves one process only.
      if (engine.kind !== 'sqlite') await whileServing(() => serveBeside(visits));
      const { migrations } = await whileServing(revert);
      expect(migrations).toEqual(applied.toReversed());
      expect(await schemaOf(database)).toEqual(released);
      await whileServing(migrate);
      await visits.stop();
      await load.stopAndCheck();
      expect([load.retries, visits.unavailable]).toEqual([0, 0]);
      const cliInProcess = new CommandLine(database, (args, more) =>
        runCommand(args, { ...more, METRICS_PORT: 'off' }),
      );
      expect(await cliInProcess.json('db', 'check')).toMatchObject({ current: true });
      const found = await runDoctor(cliInProcess);
      expect(found.filter(({ status }) => status === 'failed')).toEqual([]);
      await expectPreserved(database, original, CHANGED_BY_USE);
      await expectVisited(dataSource, visits, member.user);
      reportFigure(
        task,
        `${engine.label}: migrated, reverted and migrated again while 1.0.0 served, ${load.posts.size} posts, each stored and counted once, ${load.retries} retries; ${visits.succeeded} sign-ins with tokens and comments, ${visits.unavailable} ended by a 503`,
      );
    },
  );
});
