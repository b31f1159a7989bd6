import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { json, type ErrorBody } from '../../support/json.js';
import { MysqlGroup } from '../../support/mysql-group.js';
import { TestApp } from '../../support/test-app.js';
import { approve, exchange } from '../../support/visitor.js';
import { Member } from '../../e2e/api/member.js';
import { KeyedLoad } from '../created-once/keyed-load.js';
import { show } from '../figures.js';
import { times } from '../promises.js';

const COMMAND = process.env.TEST_GROUP_COMMAND ?? '';
const KILLS = times(3, 1);
const KILL_MS = 150_000;
const PUBLISHERS = 8;
const CODES = 20;
const DATABASE = `platform_test_${randomBytes(6).toString('hex')}`;
/** Most that are sent before the primary is noticed to be gone. */
const IN_FLIGHT = 3;
/** Until the group has noticed, and chosen another. */
const LONGEST_OUTAGE_MS = 15_000;

describe.skipIf(COMMAND === '')('A group of database servers whose primary is killed', () => {
  let group: MysqlGroup;
  let app: TestApp;
  beforeAll(async () => {
    group = await MysqlGroup.start(COMMAND);
    await group.createDatabase(DATABASE);
    app = await TestApp.start(
      { url: await group.url(DATABASE) },
      { DB_TIMEOUT_MS: '1000', QUOTA_DEFAULT_LIMIT: '1000000' },
    );
  }, 180_000);
  afterAll(async () => {
    await app?.stop();
    await group?.dropDatabase(DATABASE);
  });

  /** Sends a code until the answer is not "later". */
  async function statusOfExchange(member: Member, code: string): Promise<number> {
    for (;;) {
      const answer = await exchange(app, member.client, code);
      const body = await json<Partial<ErrorBody>>(answer);
      if (answer.status !== 503) {
        if (answer.status !== 200) expect(body.error).toBe('invalid_grant');
        return answer.status;
      }
      await sleep(100 * Math.random());
    }
  }

  it(
    `loses no post that was acknowledged, and exchanges no code twice, ${KILLS} times`,
    { timeout: 60_000 + KILLS * KILL_MS },
    async ({ task }) => {
      const member = await Member.join(app);
      const load = new KeyedLoad(member, () => app.baseUrl, PUBLISHERS);
      const outages: number[] = [];
      let tokens = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const codes: string[] = [];
        while (codes.length < CODES)
          codes.push((await approve(app, await app.addUser(), member.client)).get('code') ?? '');
        const before = await app.dataSource.manager.count(AccessToken);
        const killed = await group.killPrimary();
        const killedAt = performance.now();
        const exchanged = codes.map(async (code, index) => {
          await sleep(index * 100);
          const racers = [statusOfExchange(member, code), statusOfExchange(member, code)];
          return (await Promise.all(racers)).filter((status) => status === 200).length;
        });
        const published = load.posts.size + PUBLISHERS;
        await expect
          .poll(() => load.posts.size, { timeout: LONGEST_OUTAGE_MS, interval: 20 })
          .toBeGreaterThan(published);
        const outageMs = performance.now() - killedAt;
        expect(outageMs).toBeLessThan(LONGEST_OUTAGE_MS);
        outages.push(outageMs / 1000);
        const winners = await Promise.all(exchanged);
        expect(Math.max(...winners)).toBe(1);
        const told = winners.reduce((sum, count) => sum + count, 0);
        // The answer to a commit may be lost with the primary, of those few that it was working on.
        expect(told).toBeGreaterThanOrEqual(CODES - IN_FLIGHT);
        const added = (await app.dataSource.manager.count(AccessToken)) - before;
        expect(added).toBeGreaterThanOrEqual(told);
        expect(added).toBeLessThanOrEqual(CODES);
        tokens += added;
        await group.rejoin(killed);
      }
      await load.stop();
      const seconds = outages.map((outage) => outage.toFixed(1)).join(', ');
      show(
        task,
        `${KILLS} primaries killed: publishing again after ${seconds} s; ${load.posts.size} posts, each there and counted once; ${KILLS * CODES} codes sent twice, ${tokens} exchanged, none twice`,
      );
    },
  );
});
