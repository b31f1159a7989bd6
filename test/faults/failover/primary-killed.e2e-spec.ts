import { randomBytes } from 'node:crypto';
import { QuotaService } from '../../../src/modules/quota/quota.service.js';
import { cleanUp } from '../../support/background.js';
import { IsNull } from 'typeorm';
import { AuthorizationCode } from '../../../src/modules/oauth/tokens/token.entities.js';
import { Member } from '../../support/member.js';
import { GROUP_TIMEOUT_MS, MysqlGroup } from '../../support/mysql-group.js';
import { startService, type StartedService } from '../../support/service-process.js';
import { rateLimits, type TestApp, UNLIMITED } from '../../support/test-app.js';
import { IdempotentPublishLoad } from '../idempotency/idempotent-publish-load.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { Rotations } from './rotations.js';
import { CodeExchanges } from './code-exchanges.js';

const COMMAND = process.env.TEST_GROUP_COMMAND ?? '';
const KILLS = byExtent({ whole: 3, quick: 1 });
const KILL_TIMEOUT_MS = 150_000;
const PUBLISHERS = 8;
const CODES = 20;
const CODE_INTERVAL_MS = 100;
const CODES_BEFORE_KILL = 4;
const ROTATING_APPS = 4;
/** Monthly quota of an app, low enough to be used up a few seconds after the kill. */
const QUOTA_LIMIT = 100;
const QUOTA_LOAD = { size: 4, maxPauseMs: 300 };
const DATABASE = `platform_test_${randomBytes(6).toString('hex')}`;
/** Includes the time in which the group detects the failure and elects another primary. */
const MAX_OUTAGE_MS = 15_000;

/** The clients during one kill. */
interface Clients {
  exchanges: CodeExchanges;
  rotations: Rotations;
  /** The user of the app with a quota. */
  member: Member;
}

describe.skipIf(COMMAND === '')('Database group with a killed primary', () => {
  let group: MysqlGroup;
  let served: StartedService | undefined;
  let app: TestApp;
  beforeAll(async () => {
    group = await MysqlGroup.start(COMMAND);
    await group.createDatabase(DATABASE);
    const env = {
      DB_TIMEOUT_MS: '1000',
      QUOTA_DEFAULT_LIMIT: '1000000',
      ...rateLimits({ 'grant-refreshes-per-hour': UNLIMITED }),
    };
    served = await startService({ url: await group.url(DATABASE), env });
    ({ app } = served);
  }, GROUP_TIMEOUT_MS);
  afterAll(() =>
    cleanUp(
      () => served?.stop(),
      () => group?.dropDatabase(DATABASE),
      () => group?.release(),
    ),
  );

  /** Runs before the first kill, because browsers do not retry sign-ins. */
  async function prepare(): Promise<Clients> {
    const exchanges = await CodeExchanges.prepare(app, CODES);
    const rotations = await Rotations.prepare(app, ROTATING_APPS);
    const member = await Member.join(app);
    const { clientId } = member.client;
    await app.service(QuotaService).set(clientId, { limit: QUOTA_LIMIT }, { actor: 'test' });
    return { exchanges, rotations, member };
  }

  /** Starts to publish, and waits until a tenth of the quota is used. */
  async function startQuotaLoad(member: Member): Promise<IdempotentPublishLoad> {
    const { size, maxPauseMs } = QUOTA_LOAD;
    const options = { isQuotaExceeded: true, maxPauseMs };
    const load = new IdempotentPublishLoad(member, () => app.baseUrl, size, options);
    await expect.poll(() => load.posts.size, { timeout: 10_000 }).toBeGreaterThan(QUOTA_LIMIT / 10);
    return load;
  }

  async function expectQuotaUsedUp(load: IdempotentPublishLoad): Promise<void> {
    await expect.poll(() => load.rejected, { timeout: 30_000 }).toBeGreaterThan(QUOTA_LOAD.size);
    await load.stopAndCheck();
    expect(load.posts.size).toBe(QUOTA_LIMIT);
  }

  it(
    `loses no acknowledged post, counts each once, exchanges no code twice and rotates no refresh token twice, ${KILLS} times`,
    { timeout: 60_000 + KILLS * KILL_TIMEOUT_MS },
    async ({ task }) => {
      const allClients: Clients[] = [];
      while (allClients.length < KILLS) allClients.push(await prepare());
      // The codes of the last kill are issued before the first kill, so they must stay valid for longer.
      const expiresAt = new Date(Date.now() + 3_600_000);
      await app.dataSource.manager.update(
        AuthorizationCode,
        { consumedAt: IsNull() },
        { expiresAt },
      );
      const member = await Member.join(app);
      const load = new IdempotentPublishLoad(member, () => app.baseUrl, PUBLISHERS);
      const outages: number[] = [];
      let refreshes = 0;
      for (const clients of allClients) {
        const { exchanges, rotations } = clients;
        rotations.begin();
        const quotaLoad = await startQuotaLoad(clients.member);
        const primary = await group.primaryToKill();
        const exchanged = exchanges.exchangeAll(CODE_INTERVAL_MS);
        await expect
          .poll(() => exchanges.done, { timeout: 60_000, interval: 5 })
          .toBeGreaterThan(CODES_BEFORE_KILL);
        primary.kill();
        const killedAt = performance.now();
        expect(quotaLoad.posts.size).toBeLessThan(QUOTA_LIMIT);
        expect(exchanges.done).toBeLessThan(CODES);
        // More than were in flight at the kill.
        const published = load.posts.size + PUBLISHERS;
        await expect
          .poll(() => load.posts.size, { timeout: MAX_OUTAGE_MS, interval: 20 })
          .toBeGreaterThan(published);
        const outageMs = performance.now() - killedAt;
        expect(outageMs).toBeLessThan(MAX_OUTAGE_MS);
        outages.push(outageMs / 1000);
        await exchanged;
        await exchanges.expectTokensStored();
        await expectQuotaUsedUp(quotaLoad);
        await rotations.stopAndCheck();
        expect(rotations.unavailable).toBeGreaterThan(0);
        refreshes += rotations.done;
        await group.rejoin(primary.port);
      }
      await load.stopAndCheck();
      const seconds = outages.map((outage) => outage.toFixed(1)).join(', ');
      reportFigure(
        task,
        `${KILLS} primaries killed: publishing again after ${seconds} s; ${load.posts.size} posts, each stored and counted once; ${KILLS * CODES} codes sent up to three times before, during and after the kill, each exchanged once; ${refreshes} refresh tokens sent up to three times, each rotated once; ${KILLS} quotas of ${QUOTA_LIMIT} posts, each used up exactly`,
      );
    },
  );
});
