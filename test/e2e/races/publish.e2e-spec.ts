import { ApiCall } from '../../../src/modules/quota/api-call.entity.js';
import { QuotaUsage } from '../../../src/modules/quota/quota-usage.entity.js';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { startProcess, type AppProcess } from '../../support/app-process.js';
import { ROUNDS } from '../../support/cluster.js';
import { onEachServer } from '../../support/engines.js';
import { useTestApp } from '../../support/test-app.js';
import { Member } from '../api/member.js';

const PROCESSES = 3;
const PUBLISHES = 300;
const LIMIT = 100;

onEachServer('Publishing at once from three processes', (database) => {
  // The processes go by the real time, so the tokens of this app must be of today.
  const app = useTestApp(database);
  let processes: AppProcess[] = [];
  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    processes = await Promise.all(
      Array.from({ length: PROCESSES }, () =>
        startProcess({ url: database.url, env: { MIGRATE: '0', DEMO: '0', DB_POOL_SIZE: '10' } }),
      ),
    );
  });
  afterAll(() => Promise.all(processes.map((process) => process.stop())));

  /** Answers how many publishes got which status. */
  async function race(tokens: readonly string[]): Promise<Record<number, number>> {
    const statuses = await Promise.all(
      Array.from({ length: PUBLISHES }, async (_, number) => {
        const answer = await fetch(`${processes[number % PROCESSES]?.baseUrl}/dev/v1/posts`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${tokens[number % tokens.length]}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ content: `Post ${number}` }),
        });
        await answer.text();
        return answer.status;
      }),
    );
    const counts: Record<number, number> = {};
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  it.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    `round %d: ${PUBLISHES} against a limit of ${LIMIT} give exactly ${LIMIT} posts`,
    { timeout: 60_000 },
    async (round) => {
      app().clock.set(new Date().toISOString());
      const first = await Member.join(app());
      const { clientId } = first.client;
      const members = [first];
      // One user's publishes wait for each other at the user's row; those of several meet at the app's.
      const people = round % 2 === 1 ? 7 : 1;
      while (members.length < people)
        members.push(await Member.join(app(), { client: first.client }));
      expect(await race(members.map(({ token }) => token))).toEqual({
        201: LIMIT,
        429: PUBLISHES - LIMIT,
      });
      const { manager } = app().dataSource;
      const counted = await Promise.all(
        members.map(({ user: { id } }) => manager.findOneByOrFail(User, { id })),
      );
      const used = await manager.findBy(QuotaUsage, { clientId });
      expect({
        used: used.reduce((sum, row) => sum + row.used, 0),
        posts: await manager.countBy(Post, { clientId }),
        counted: counted.reduce((sum, { postCount }) => sum + postCount, 0),
        recorded: await manager.countBy(ApiCall, { clientId, status: 201 }),
      }).toEqual({ used: LIMIT, posts: LIMIT, counted: LIMIT, recorded: LIMIT });
    },
  );
});
