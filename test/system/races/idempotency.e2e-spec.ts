import { IdempotencyKey } from '../../../src/idempotency/idempotency-key.entity.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { ApiCall } from '../../../src/modules/quota/api-call.entity.js';
import { QuotaUsage } from '../../../src/modules/quota/quota-usage.entity.js';
import { QuotaService } from '../../../src/modules/quota/quota.service.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { concurrently, rounds, ROUNDS_MS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import type { ErrorBody } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { isStatementRunning, useTestApp } from '../../support/test-app.js';

const PROCESSES = 3;
const REQUESTS = 50;
const ENV = { MIGRATE: '0', DEMO: '0', DB_POOL_SIZE: '10' };

onEachServer('One Idempotency-Key at once', (database) => {
  // The processes go by the real time, so the tokens of this app must be of today.
  const app = useTestApp(database);
  let processes: ServiceProcess[] = [];
  beforeAll(async () => {
    processes = await concurrently(PROCESSES, () => startProcess({ url: database.url, env: ENV }));
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

  /** Every answer is this refusal or asks to come again; at least one is the refusal. */
  async function expectRefused(answers: Response[], status: number, error: string): Promise<void> {
    const told = new Set<string>();
    for (const answer of answers) {
      const text = await answer.text();
      expect([status, 409]).toContain(answer.status);
      told.add(`${answer.status} ${(JSON.parse(text) as ErrorBody).error}`);
    }
    expect(told).toContain(`${status} ${error}`);
    told.delete('409 idempotency_key_in_use');
    expect(told.size).toBe(1);
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
        const answers = await concurrently(REQUESTS, (number) =>
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
      const answers = await concurrently(REQUESTS, (number) =>
        send(processes[number % PROCESSES]?.baseUrl, member, path, { text: 'Hi' }, `k${round}`),
      );
      await expectOneOutcome(answers);
      const { manager } = app().dataSource;
      expect(await manager.countBy(Comment, { postId: id })).toBe(1);
      expect(await manager.findOneByOrFail(Post, { id })).toMatchObject({ commentCount: 1 });
    }),
  );

  it(
    `C98 ${REQUESTS} publishes with one key that the quota refuses are 429 or 409 and leave nothing, and the key works once it is raised`,
    { timeout: ROUNDS_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const set = (limit: number) =>
          app().service(QuotaService).set(member.client.clientId, { limit }, { actor: 'test' });
        const publish = (number: number) =>
          send(
            processes[number % PROCESSES]?.baseUrl,
            member,
            '/posts',
            { content: 'Hi' },
            `k${round}`,
          );
        await set(0);
        await expectRefused(await concurrently(REQUESTS, publish), 429, 'quota_exceeded');
        const none = { posts: 0, counted: 0, used: 0, metered: 0, keys: 0 };
        expect(await counts(member)).toEqual(none);
        await set(1);
        const answer = await publish(round);
        expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, null]);
        const one = { posts: 1, counted: 1, used: 1, metered: 1, keys: 1 };
        expect(await counts(member)).toEqual(one);
      }),
  );

  it(
    `C98 ${REQUESTS} comments with one key on a post that is not there are 404 or 409 and leave nothing, and the key works once it is`,
    { timeout: ROUNDS_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const { manager } = app().dataSource;
        const { id } = await member.publish();
        const comment = (number: number) =>
          send(
            processes[number % PROCESSES]?.baseUrl,
            member,
            `/posts/${id}/comments`,
            { text: 'Hi' },
            `k${round}`,
          );
        const left = async () => [
          await manager.countBy(Comment, { userId: member.user.id }),
          (await manager.findOneByOrFail(Post, { id })).commentCount,
          (await counts(member)).keys,
        ];
        await member.delete(`/posts/${id}`);
        await expectRefused(await concurrently(REQUESTS, comment), 404, 'not_found');
        expect(await left()).toEqual([0, 0, 0]);
        await manager.update(Post, { id }, { deletedAt: null });
        await manager.increment(User, { id: member.user.id }, 'postCount', 1);
        const answer = await comment(round);
        expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, null]);
        expect(await left()).toEqual([1, 1, 1]);
      }),
  );

  it(
    'C98 Two bodies under one key: one is made, the other is refused, whoever wins',
    { timeout: ROUNDS_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const answers = await concurrently(20, (number) =>
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
    await expect
      .poll(() => isStatementRunning(app(), 'UPDATE users'), { timeout: 4000 })
      .toBe(true);
    const began = performance.now();
    const second = await send(processes[1]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    const waited = performance.now() - began;
    await runner.rollbackTransaction();
    await runner.release();
    expect(second.status).toBe(409);
    expect(second.headers.get('retry-after')).toBe('1');
    expect(waited).toBeGreaterThan(900);
    // The server looks once a second whether a wait is over.
    expect(waited).toBeLessThan(2500);
    const answer = await first;
    expect(answer.status).toBe(201);
    const third = await send(processes[2]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    expect([third.status, third.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(await counts(member)).toMatchObject({ posts: 2, used: 2, keys: 1 });
  });
});
