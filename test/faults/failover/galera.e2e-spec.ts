import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { cleanUp } from '../../support/background.js';
import { runCommandProcess } from '../../support/command-line.js';
import { Member } from '../../support/member.js';
import { obtainTokens, requestToken } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import {
  type ServiceProcess,
  type StartedService,
  startProcess,
  startService,
} from '../../support/service-process.js';
import { runSql } from '../../support/sql.js';
import { rateLimits, UNLIMITED } from '../../support/test-app.js';
import { byExtent } from '../../suite.js';
import { IdempotentPublishLoad } from '../idempotency/idempotent-publish-load.js';
import { reportFigure } from '../figures.js';

const COMMAND = process.env.TEST_GALERA_COMMAND ?? '';
const NODES = 3;
const TOKENS = byExtent({ whole: 1000, quick: 100 });
const PUBLISHERS = 4;
const MIGRATIONS = byExtent({ whole: 5, quick: 1 });
const DATABASE = `platform_test_${randomBytes(6).toString('hex')}`;

/** The ports of the nodes, after starting the cluster if it does not run. */
async function startCluster(): Promise<number[]> {
  const syncedPorts = async (word: string): Promise<number[]> => {
    const { stdout } = await promisify(execFile)(COMMAND, [word]);
    return [...stdout.matchAll(/^(\d+)\s+Synced\b/gm)].map(([, port]) => Number(port));
  };
  const running = await syncedPorts('status');
  const ports = running.length === NODES ? running : await syncedPorts('start');
  expect(ports).toHaveLength(NODES);
  return ports;
}

describe.skipIf(COMMAND === '')('Galera cluster with a process on each of two nodes', () => {
  let first: StartedService;
  let second: ServiceProcess;
  let administrator: string;
  let otherNode: string;

  beforeAll(async () => {
    const [one, two] = (await startCluster()).map((port) => `mysql://root@127.0.0.1:${port}`);
    administrator = `${one}`;
    otherNode = `${two}`;
    await runSql(administrator, `CREATE DATABASE ${DATABASE}`);
    const env = {
      QUOTA_DEFAULT_LIMIT: '1000000',
      ...rateLimits({ 'grant-refreshes-per-hour': UNLIMITED }),
    };
    first = await startService({ url: `${one}/${DATABASE}`, env });
    second = await startProcess({
      url: `${two}/${DATABASE}`,
      env: { ...env, MIGRATE: '0', DEMO: '0' },
    });
  }, 180_000);
  afterAll(() =>
    cleanUp(
      () => second?.stop(),
      () => first?.stop(),
      () => runSql(administrator, `DROP DATABASE ${DATABASE}`),
    ),
  );

  it('accepts each token at once on the other node, while posts are published', async ({
    task,
  }) => {
    const { app } = first;
    const member = await Member.join(app);
    const load = new IdempotentPublishLoad(member, () => app.baseUrl, PUBLISHERS);
    const client = await app.addClient();
    let tokens = await obtainTokens(app, client);
    const statuses = new Map<number, number>();
    for (let count = 0; count < TOKENS; count += 1) {
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      tokens = await json<TokenBody>(await requestToken(app, client, form));
      const { status } = await fetch(new URL('/dev/v1/me', second.baseUrl), {
        headers: { authorization: `Bearer ${tokens.access_token}` },
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    await load.stopAndCheck();
    expect(Object.fromEntries(statuses)).toEqual({ 200: TOKENS });
    reportFigure(
      task,
      `Galera: ${TOKENS} tokens, each used at once on another node than the one that issued it, none rejected, while ${load.posts.size} posts were published`,
    );
  }, 300_000);

  it('needs another run after migrations on two nodes at once, and says so', async ({ task }) => {
    let failures = 0;
    for (let round = 0; round < MIGRATIONS; round += 1) {
      const database = `${DATABASE}_${round}`;
      await runSql(administrator, `CREATE DATABASE ${database}`);
      const migrate = (server: string) =>
        runCommandProcess(['db', 'migrate'], { DATABASE_URL: `${server}/${database}` });
      const results = await Promise.all([migrate(administrator), migrate(otherNode)]);
      for (const { code, stderr } of results.filter((result) => result.code !== 0)) {
        failures += 1;
        expect(code).toBe(1);
        expect(stderr).not.toMatch(/^ +at /m);
        expect(stderr).toMatch(/on one node only/);
      }
      expect(await migrate(administrator)).toMatchObject({ code: 0 });
      const status = ['db', 'status'];
      const env = { DATABASE_URL: `${otherNode}/${database}` };
      expect(await runCommandProcess(status, env)).toMatchObject({ code: 0 });
      await runSql(administrator, `DROP DATABASE ${database}`);
    }
    reportFigure(
      task,
      `Galera: ${MIGRATIONS} times "db migrate" on two nodes at once, ${failures} failed with a sentence, and the next run completed each`,
    );
  }, 300_000);
});
