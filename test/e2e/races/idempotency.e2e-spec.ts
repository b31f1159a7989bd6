import { setTimeout as sleep } from 'node:timers/promises';
import { IdempotencyKey } from '../../../src/idempotency/idempotency-key.entity.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { ApiCall } from '../../../src/modules/quota/api-call.entity.js';
import { QuotaUsage } from '../../../src/modules/quota/quota-usage.entity.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { startProcess, type AppProcess } from '../../support/app-process.js';
import { atOnce, rounds, ROUNDS_MS } from '../../support/cluster.js';
import { onEachServer, type TestDatabase } from '../../support/engines.js';
import { useTestApp } from '../../support/test-app.js';
import { Member, type PostBody } from '../api/member.js';

const PROCESSES = 3;
const REQUESTS = 50;
const ENV = { MIGRATE: '0', DEMO: '0', DB_POOL_SIZE: '10' };

onEachServer('One Idempotency-Key at once', (database) => {
  // The processes go by the real time, so the tokens of this app must be of today.
  const app = useTestApp(database);
  let processes: AppProcess[] = [];
  beforeAll(async () => {
    processes = await atOnce(PROCESSES, () => startProcess({ url: database.url, env: ENV }));
  });
  afterAll(() => Promise.all(processes.map((process) => process.stop())));
  beforeEach(() => {
    app().clock.set(new Date().toISOString());
  });

  const send = (
    at: string | undefined,
    { token }: Member,
    path: string,
    body: object,
    key: string,
  ) =>
    fetch(`${at}/dev/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });

  /** Every answer is the thing or asks to come again; at least one is the thing, and whoever gets it gets the same. */
  async function expectOneOutcome(answers: Response[]): Promise<void> {
    const made = new Set<string>();
    let replayed = 0;
    for (const answer of answers) {
      const text = await answer.text();
      if (answer.status === 409) {
        expect(JSON.parse(text)).toMatchObject({ error: 'idempotency_key_in_use' });
        expect(answer.headers.get('retry-after')).toBe('1');
        continue;
      }
      expect(`${answer.status} ${text}`).toMatch(/^201 /);
      made.add(text);
      if (answer.headers.get('idempotency-replayed') === 'true') replayed += 1;
    }
    expect(made.size).toBe(1);
    const told = answers.filter(({ status }) => status === 201).length;
    expect(replayed).toBe(told - 1);
  }

  async function counts({ user, client }: Member) {
    const { manager } = app().dataSource;
    const { clientId } = client;
    const usage = await manager.findBy(QuotaUsage, { clientId });
    return {
      posts: await manager.countBy(Post, { userId: user.id }),
      counted: (await manager.findOneByOrFail(User, { id: user.id })).postCount,
      used: usage.reduce((sum, { used }) => sum + used, 0),
      metered: await manager.countBy(ApiCall, { clientId, metered: true }),
      keys: await manager.countBy(IdempotencyKey, { clientId }),
    };
  }

  it(
    `C98 ${REQUESTS} publishes with one key to ${PROCESSES} processes give one post; the others get its answer or a 409`,
    { timeout: ROUNDS_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const answers = await atOnce(REQUESTS, (number) =>
          send(
            processes[number % PROCESSES]?.baseUrl,
            member,
            '/posts',
            { content: 'Hi' },
            `k${round}`,
          ),
        );
        await expectOneOutcome(answers);
        expect(await counts(member)).toEqual({
          posts: 1,
          counted: 1,
          used: 1,
          metered: 1,
          keys: 1,
        });
      }),
  );

  it('C98 The same for comments', { timeout: ROUNDS_MS }, () =>
    rounds(async (round) => {
      const member = await Member.join(app());
      const { id } = await member.publish();
      const path = `/posts/${id}/comments`;
      const answers = await atOnce(REQUESTS, (number) =>
        send(processes[number % PROCESSES]?.baseUrl, member, path, { text: 'Hi' }, `k${round}`),
      );
      await expectOneOutcome(answers);
      const { manager } = app().dataSource;
      expect(await manager.countBy(Comment, { postId: id })).toBe(1);
      expect(await manager.findOneByOrFail(Post, { id })).toMatchObject({ commentCount: 1 });
    }),
  );

  it(
    'C98 Two bodies under one key: one is made, the other is refused, whoever wins',
    { timeout: ROUNDS_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const answers = await atOnce(20, (number) =>
          send(
            processes[number % PROCESSES]?.baseUrl,
            member,
            '/posts',
            { content: `Body ${number % 2}` },
            `k${round}`,
          ),
        );
        const statuses = answers.map(({ status }) => status);
        expect(statuses).toContain(201);
        expect(statuses.filter((status) => ![201, 409, 422].includes(status))).toEqual([]);
        expect(await counts(member)).toMatchObject({ posts: 1, used: 1, keys: 1 });
      }),
  );

  it('C98 A key that is held for longer than a second is in use, and free again once its unit has ended', async () => {
    const member = await Member.join(app());
    await member.publish();
    // Holds the user's row, so that the first publish waits behind its key until this is rolled back.
    const runner = app().dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.increment(User, { id: member.user.id }, 'karma', 1);
    const first = send(processes[0]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    await sleep(300);
    const began = performance.now();
    const second = await send(processes[1]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    const waited = performance.now() - began;
    await runner.rollbackTransaction();
    await runner.release();
    expect(second.status).toBe(409);
    expect(second.headers.get('retry-after')).toBe('1');
    expect(waited).toBeLessThan(4000);
    const answer = await first;
    expect(answer.status).toBe(201);
    const third = await send(processes[2]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    expect([third.status, third.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(await counts(member)).toMatchObject({ posts: 2, used: 2, keys: 1 });
  });
});

onEachServer('A key whose process is killed', (database: TestDatabase) => {
  const app = useTestApp(database);

  it(
    'C23 C112 After kill -9 the key has made its post whole, or nothing at all, and works again at once',
    { timeout: 2 * ROUNDS_MS },
    () =>
      rounds(async (round) => {
        app().clock.set(new Date().toISOString());
        const member = await Member.join(app());
        const publish = (at: string): Promise<Response> =>
          fetch(`${at}/dev/v1/posts`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${member.token}`,
              'content-type': 'application/json',
              'idempotency-key': `kill-${round}`,
            },
            body: '{"content":"Hi"}',
          });
        const doomed = await startProcess({ url: database.url, env: ENV });
        const answer = publish(doomed.baseUrl).catch(() => null);
        await sleep(2 * (round % 10));
        await doomed.kill();
        const before = await answer;
        const next = await startProcess({ url: database.url, env: ENV });
        try {
          const after = await publish(next.baseUrl);
          expect(after.status).toBe(201);
          const { id } = (await after.json()) as PostBody;
          if (before?.status === 201) {
            expect(after.headers.get('idempotency-replayed')).toBe('true');
            expect((await before.json()) as PostBody).toMatchObject({ id });
          }
          const { manager } = app().dataSource;
          expect(await manager.findBy(Post, { userId: member.user.id })).toMatchObject([{ id }]);
          const { clientId } = member.client;
          expect(await manager.findBy(QuotaUsage, { clientId })).toMatchObject([{ used: 1 }]);
          expect(await manager.countBy(ApiCall, { clientId, metered: true })).toBe(1);
        } finally {
          await next.stop();
        }
      }),
  );
});
