import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { ROUNDS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';

const PROCESSES = 3;
const CONNECTIONS = 20;
const PUBLISHES = 300;
/** The default quota. */
const QUOTA = 100;

onEachServer('Concurrent publishing from three processes', (database) => {
  // The processes use the real time, so the tokens of this app must be current.
  const app = useTestApp(database);
  let processes: ServiceProcess[] = [];
  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    processes = await Promise.all(
      Array.from({ length: PROCESSES }, () =>
        startProcess({ url: database.url, env: { MIGRATE: '0', DEMO: '0', DB_POOL_SIZE: '10' } }),
      ),
    );
  });
  afterAll(() => Promise.all(processes.map((process) => process.stop())));

  async function publish(agent: Agent, number: number, token: string): Promise<number> {
    const sent = request(`${processes[number % PROCESSES]?.baseUrl}/dev/v1/posts`, {
      agent,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    sent.end(JSON.stringify({ content: `Post ${number}` }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response.statusCode ?? 0;
  }

  /** Returns how many publishes got each status. */
  async function race(tokens: readonly string[]): Promise<Record<number, number>> {
    const agent = new Agent({ keepAlive: true, maxTotalSockets: CONNECTIONS });
    const statuses = await Promise.all(
      Array.from({ length: PUBLISHES }, (_, number) =>
        publish(agent, number, tokens[number % tokens.length] ?? ''),
      ),
    );
    agent.destroy();
    const counts: Record<number, number> = {};
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  it.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    `C103 creates exactly ${QUOTA} posts for ${PUBLISHES} requests against a quota of ${QUOTA}, in round %d`,
    { timeout: 60_000 },
    async (round) => {
      app().clock.set(new Date().toISOString());
      const first = await Member.join(app());
      const members = [first];
      // Publishes of one user contend for the row of the user, those of several users for the row of the app's quota.
      const users = round % 2 === 1 ? 7 : 1;
      while (members.length < users)
        members.push(await Member.join(app(), { client: first.client }));
      expect(await race(members.map(({ token }) => token))).toEqual({
        201: QUOTA,
        429: PUBLISHES - QUOTA,
      });
      expect(await countPublished(app(), ...members)).toEqual(expectedCounts(QUOTA));
    },
  );
});
