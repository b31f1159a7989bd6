import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
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
  releasedVersion,
  type ReleasedVersion,
  restore,
  schemaOf,
} from '../../support/released.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { MANY_SIGN_INS } from '../../support/test-app.js';
import { KeyedLoad } from '../created-once/keyed-load.js';
import { show } from '../figures.js';
import { IS_QUICK, times } from '../../suite.js';
import { expectKept, publisherIn } from './kept-rows.js';
import { expectVisited } from './visited-rows.js';
import { Visits } from './visits.js';

const RELEASE = '1.0.0';
const TEST_MS = 120_000;
const PUBLISHERS = 4;
/** How long both go on before the next step. */
const BETWEEN_MS = times(1000, 0);
const READY_MS = 10_000;
/** Whoever kept their own has published since. */
const CHANGED_BY_USE = { users: ['post_count'] };
const NO_HISTORY = 'The history of this repository has the release, and is not here.';

(IS_QUICK ? onOneServer : onEachEngine)('The first release', (database) => {
  const { url, engine } = database;
  const smsFile = newSmsFile();
  const env: Record<string, string> = {
    ...MANY_SIGN_INS,
    MIGRATE: '0',
    DEMO: '0',
    OTP_PEPPER: randomBytes(32).toString('hex'),
    QUOTA_DEFAULT_LIMIT: '1000000',
    SMS_FILE: smsFile,
  };
  let release: ReleasedVersion | undefined;
  let kept: ReleasedDatabase;
  let dataSource: DataSource;
  /** Those that answer, by turns. */
  let serving: ServiceProcess[] = [];
  let site: Cluster;
  beforeAll(async () => {
    release = await releasedVersion(RELEASE);
    if (release === undefined) return;
    kept = await releasedDatabase(RELEASE, database);
    await restore(database, kept);
    dataSource = await connect(url);
    env.PUBLIC_URL = `http://127.0.0.1:${await freePort()}`;
    serve([await startProcess({ url, env, version: release })]);
  }, 120_000);
  afterAll(() =>
    cleanUp(
      () => site?.stop(),
      () => dataSource?.destroy(),
      () => rm(smsFile, { force: true }),
    ),
  );

  function serve(processes: ServiceProcess[]): void {
    serving = processes;
    site = new Cluster(env.PUBLIC_URL ?? '', processes);
  }

  const cli = new CommandLine(database, runCommandProcess);

  /** Publishing goes on while `work` is done, and a visit goes through after it. */
  async function amid<T>(load: KeyedLoad, visits: Visits, work: () => Promise<T>): Promise<T> {
    const before = load.posts.size;
    const outcome = await work();
    expect(load.posts.size).toBeGreaterThan(before);
    await visits.goOn();
    await sleep(BETWEEN_MS);
    return outcome;
  }

  /** This version serves beside the release for a while, until a visit to both went through. */
  async function serveBeside(visits: Visits): Promise<void> {
    const older = serving;
    const newer = await startProcess({ url, env });
    await expect
      .poll(() => fetch(`${newer.baseUrl}/readyz`).then(({ status }) => status), {
        timeout: READY_MS,
      })
      .toBe(200);
    serve([...older, newer]);
    await sleep(BETWEEN_MS);
    await visits.goOn();
    serve(older);
    expect(await newer.stop()).toBe(0);
  }

  it(
    'serves on while the schema goes forward, back, and forward again',
    { timeout: TEST_MS },
    async ({ task, skip }) => {
      if (release === undefined) return skip(NO_HISTORY);
      const released = await schemaOf(database);
      const member = await publisherIn(dataSource, () => site);
      let requests = 0;
      const next = (): string => serving[(requests += 1) % serving.length]?.baseUrl ?? '';
      const load = new KeyedLoad(member, next, PUBLISHERS);
      const visits = new Visits(() => site, member.user, member.client);
      const amidBoth = <T>(work: () => Promise<T>): Promise<T> => amid(load, visits, work);
      const migrate = () => cli.json<{ applied: string[] }>('db', 'migrate');
      const revert = () => cli.json<{ undone: string[] }>('db', 'revert', RELEASE);
      await visits.goOn();
      const { applied } = await amidBoth(migrate);
      expect(applied).not.toEqual([]);
      // SQLite is for one process.
      if (engine.kind !== 'sqlite') await amidBoth(() => serveBeside(visits));
      const { undone } = await amidBoth(revert);
      expect(undone).toEqual(applied.toReversed());
      expect(await schemaOf(database)).toEqual(released);
      await amidBoth(migrate);
      await visits.stop();
      await load.stop();
      expect([load.repetitions, visits.putOff]).toEqual([0, 0]);
      const here = new CommandLine(database, (args, more) =>
        runCommand(args, { ...more, METRICS_PORT: 'off' }),
      );
      expect(await here.json('db', 'check')).toMatchObject({ current: true });
      const found = await runDoctor(here);
      expect(found.filter(({ status }) => status === 'failed')).toEqual([]);
      await expectKept(database, kept, CHANGED_BY_USE);
      await expectVisited(dataSource, visits, member.user);
      show(
        task,
        `${engine.label}: forward, back and forward under 1.0.0, ${load.posts.size} posts, each there and counted once, ${load.repetitions} repetitions; ${visits.done} sign-ins with tokens and comments, ${visits.putOff} of them put off by a 503`,
      );
    },
  );
});
