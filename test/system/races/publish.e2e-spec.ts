import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { ROUNDS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { allEqual, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';

const PROCESSES = 3;
const CONNECTIONS = 20;
const PUBLISHES = 300;
const LIMIT = 100;

onEachServer('Publishing at once from three processes', (database) => {
  // The processes go by the real time, so the tokens of this app must be of today.
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
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    return answer.statusCode ?? 0;
  }

  /** Answers how many publishes got which status. */
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
    `C103 round %d: ${PUBLISHES} over ${CONNECTIONS} connections against a limit of ${LIMIT} give exactly ${LIMIT} posts`,
    { timeout: 60_000 },
    async (round) => {
      app().clock.set(new Date().toISOString());
      const first = await Member.join(app());
      const members = [first];
      // One user's publishes wait for each other at the user's row; those of several meet at the app's.
      const people = round % 2 === 1 ? 7 : 1;
      while (members.length < people)
        members.push(await Member.join(app(), { client: first.client }));
      expect(await race(members.map(({ token }) => token))).toEqual({
        201: LIMIT,
        429: PUBLISHES - LIMIT,
      });
      expect(await countPublished(app(), ...members)).toEqual(allEqual(LIMIT));
    },
  );
});
