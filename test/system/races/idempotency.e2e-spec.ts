import { IdempotencyKey } from '../../../src/platform/http/idempotency/idempotency-key.entity.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { ApiCall } from '../../../src/modules/quota/calls/call-log.entities.js';
import { QuotaUsage } from '../../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../../src/modules/quota/quota.service.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { concurrently, rounds, ROUNDS_TIMEOUT_MS } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import type { ErrorBody } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { isStatementRunning, useTestApp } from '../../support/test-app.js';

const PROCESSES = 3;
const REQUESTS = 50;
const ENV = { MIGRATE: '0', DEMO: '0', DB_POOL_SIZE: '10' };

onEachServer('Concurrent requests with one Idempotency-Key', (database) => {
  // The processes use the real time, so the tokens of this app must be current.
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
    baseUrl: string | undefined,
    { token }: Member,
    path: string,
    body: object,
    key: string,
  ) =>
    fetch(`${baseUrl}/dev/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });

  /** Expects that every response is 201 or 409. All with 201 must have the same body, and all of these but one must be replayed. */
  async function expectOneOutcome(responses: Response[]): Promise<void> {
    const bodies = new Set<string>();
    let replayed = 0;
    for (const response of responses) {
      const text = await response.text();
      if (response.status === 409) {
        expect(JSON.parse(text)).toMatchObject({ error: 'idempotency_key_in_use' });
        expect(response.headers.get('retry-after')).toBe('1');
        continue;
      }
      expect(`${response.status} ${text}`).toMatch(/^201 /);
      bodies.add(text);
      if (response.headers.get('idempotency-replayed') === 'true') replayed += 1;
    }
    expect(bodies.size).toBe(1);
    const successes = responses.filter(({ status }) => status === 201).length;
    expect(replayed).toBe(successes - 1);
  }

  /** Expects that every response is this error or a 409, and at least one is this error. */
  async function expectRejected(
    responses: Response[],
    status: number,
    error: string,
  ): Promise<void> {
    const errors = new Set<string>();
    for (const response of responses) {
      const text = await response.text();
      expect([status, 409]).toContain(response.status);
      errors.add(`${response.status} ${(JSON.parse(text) as ErrorBody).error}`);
    }
    expect(errors).toContain(`${status} ${error}`);
    errors.delete('409 idempotency_key_in_use');
    expect(errors.size).toBe(1);
  }

  /** Counts posts, used quota, `metered` calls (those that count against the quota) and idempotency keys. */
  async function counts({ user, client }: Member) {
    const { manager } = app().dataSource;
    const { clientId } = client;
    const usage = await manager.findBy(QuotaUsage, { clientId });
    return {
      posts: await manager.countBy(Post, { userId: user.id }),
      postCount: (await manager.findOneByOrFail(User, { id: user.id })).postCount,
      used: usage.reduce((sum, { used }) => sum + used, 0),
      metered: await manager.countBy(ApiCall, { clientId, metered: true }),
      keys: await manager.countBy(IdempotencyKey, { clientId }),
    };
  }

  it(
    `C98 creates one post for ${REQUESTS} requests to ${PROCESSES} processes; the others get its response or 409`,
    { timeout: ROUNDS_TIMEOUT_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const responses = await concurrently(REQUESTS, (number) =>
          send(
            processes[number % PROCESSES]?.baseUrl,
            member,
            '/posts',
            { content: 'Hi' },
            `k${round}`,
          ),
        );
        await expectOneOutcome(responses);
        expect(await counts(member)).toEqual({
          posts: 1,
          postCount: 1,
          used: 1,
          metered: 1,
          keys: 1,
        });
      }),
  );

  it(`C98 creates one comment for ${REQUESTS} requests`, { timeout: ROUNDS_TIMEOUT_MS }, () =>
    rounds(async (round) => {
      const member = await Member.join(app());
      const { id } = await member.publish();
      const path = `/posts/${id}/comments`;
      const responses = await concurrently(REQUESTS, (number) =>
        send(processes[number % PROCESSES]?.baseUrl, member, path, { text: 'Hi' }, `k${round}`),
      );
      await expectOneOutcome(responses);
      const { manager } = app().dataSource;
      expect(await manager.countBy(Comment, { postId: id })).toBe(1);
      expect(await manager.findOneByOrFail(Post, { id })).toMatchObject({ commentCount: 1 });
    }),
  );

  it(
    `C98 stores nothing for ${REQUESTS} requests over the quota, and accepts the key once the quota is raised`,
    { timeout: ROUNDS_TIMEOUT_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const setQuota = (limit: number) =>
          app().service(QuotaService).set(member.client.clientId, { limit }, { actor: 'test' });
        const publish = (number: number) =>
          send(
            processes[number % PROCESSES]?.baseUrl,
            member,
            '/posts',
            { content: 'Hi' },
            `k${round}`,
          );
        await setQuota(0);
        await expectRejected(await concurrently(REQUESTS, publish), 429, 'quota_exceeded');
        const none = { posts: 0, postCount: 0, used: 0, metered: 0, keys: 0 };
        expect(await counts(member)).toEqual(none);
        await setQuota(1);
        const response = await publish(round);
        expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([
          201,
          null,
        ]);
        const one = { posts: 1, postCount: 1, used: 1, metered: 1, keys: 1 };
        expect(await counts(member)).toEqual(one);
      }),
  );

  it(
    `C98 stores nothing for ${REQUESTS} comments on a deleted post, and accepts the key once the post is restored`,
    { timeout: ROUNDS_TIMEOUT_MS },
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
        /** The comments of the member, the comment count of the post, and the idempotency keys. */
        const commentCounts = async () => [
          await manager.countBy(Comment, { userId: member.user.id }),
          (await manager.findOneByOrFail(Post, { id })).commentCount,
          (await counts(member)).keys,
        ];
        await member.delete(`/posts/${id}`);
        await expectRejected(await concurrently(REQUESTS, comment), 404, 'not_found');
        expect(await commentCounts()).toEqual([0, 0, 0]);
        await manager.update(Post, { id }, { deletedAt: null });
        await manager.increment(User, { id: member.user.id }, 'postCount', 1);
        const response = await comment(round);
        expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([
          201,
          null,
        ]);
        expect(await commentCounts()).toEqual([1, 1, 1]);
      }),
  );

  it(
    'C98 publishes one of two different posts with the same key and rejects the other',
    { timeout: ROUNDS_TIMEOUT_MS },
    () =>
      rounds(async (round) => {
        const member = await Member.join(app());
        const responses = await concurrently(20, (number) =>
          send(
            processes[number % PROCESSES]?.baseUrl,
            member,
            '/posts',
            { content: `Body ${number % 2}` },
            `k${round}`,
          ),
        );
        const statuses = responses.map(({ status }) => status);
        expect(statuses).toContain(201);
        expect(statuses.filter((status) => ![201, 409, 422].includes(status))).toEqual([]);
        expect(await counts(member)).toMatchObject({ posts: 1, used: 1, keys: 1 });
      }),
  );

  it('C98 returns 409 for a key that is locked for more than a second, until its transaction ends', async () => {
    const member = await Member.join(app());
    await member.publish();
    // Locks the user's row, so that the first publish keeps its key locked until the rollback.
    const runner = app().dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.increment(User, { id: member.user.id }, 'karma', 1);
    const first = send(processes[0]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    await expect
      .poll(() => isStatementRunning(app(), 'UPDATE users'), { timeout: 4000 })
      .toBe(true);
    const startedAt = performance.now();
    const second = await send(processes[1]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    const waited = performance.now() - startedAt;
    await runner.rollbackTransaction();
    await runner.release();
    expect(second.status).toBe(409);
    expect(second.headers.get('retry-after')).toBe('1');
    expect(waited).toBeGreaterThan(900);
    // MySQL checks lock wait timeouts once a second.
    expect(waited).toBeLessThan(2500);
    const response = await first;
    expect(response.status).toBe(201);
    const third = await send(processes[2]?.baseUrl, member, '/posts', { content: 'Hi' }, 'held');
    expect([third.status, third.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(await counts(member)).toMatchObject({ posts: 2, used: 2, keys: 1 });
  });
});
