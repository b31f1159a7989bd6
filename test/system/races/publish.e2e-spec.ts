import { concurrently, race, useCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { useTestApp } from '../../support/test-app.js';

const CALLERS = 20;
/** The publishes of each caller, one after the other. */
const PUBLISHES = 15;
const ALL = CALLERS * PUBLISHES;
/** The default quota. */
const QUOTA = 100;

onEachServer('Concurrent publishing from three processes', (database) => {
  // The processes use the real time, so the tokens of this app must be current.
  const app = useTestApp(database);
  const cluster = useCluster(database, { DB_POOL_SIZE: '10' }, { processes: 3 });

  /** Returns how many publishes got each status. */
  async function publishAll(members: readonly Member[]): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    await concurrently(CALLERS, async (caller) => {
      for (let number = 0; number < PUBLISHES; number += 1) {
        const { token = '' } = members[(caller + number) % members.length] ?? {};
        const response = await cluster().call(token, 'POST', '/posts', { content: 'Hi' });
        await response.text();
        counts[response.status] = (counts[response.status] ?? 0) + 1;
      }
    });
    return counts;
  }

  race(
    `C103 creates exactly ${QUOTA} posts for ${ALL} requests against a quota of ${QUOTA}`,
    async (round) => {
      app().clock.set(new Date().toISOString());
      const first = await Member.join(app());
      const members = [first];
      // Publishes of one user contend for the row of the user, those of several users for the row of the app's quota.
      const users = round % 2 === 0 ? 7 : 1;
      while (members.length < users)
        members.push(await Member.join(app(), { client: first.client }));
      expect(await publishAll(members)).toEqual({ 201: QUOTA, 429: ALL - QUOTA });
      expect(await countPublished(app(), ...members)).toEqual(expectedCounts(QUOTA));
    },
  );
});
