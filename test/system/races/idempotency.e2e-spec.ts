import { IdempotencyKey } from '../../../src/platform/http/idempotency/idempotency-key.entity.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { QuotaService } from '../../../src/modules/quota/quota.service.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { concurrently, race, useCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { countPublished, expectedCounts } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { json, type ErrorBody } from '../../support/responses.js';
import { isStatementRunning, useTestApp } from '../../support/test-app.js';

const REQUESTS = 50;
const IN_USE = '409 idempotency_key_in_use';

onEachServer('Concurrent requests with one Idempotency-Key to three processes', (database) => {
  // The processes use the real time, so the tokens of this app must be current.
  const app = useTestApp(database);
  const cluster = useCluster(database, { DB_POOL_SIZE: '10' }, { processes: 3 });
  beforeEach(() => app().clock.set(new Date().toISOString()));

  const send = ({ token }: Member, path: string, body: object): Promise<Response> =>
    cluster().call(token, 'POST', path, body, { 'idempotency-key': 'the-key' });
  const publish = (member: Member, content = 'Hi'): Promise<Response> =>
    send(member, '/posts', { content });

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

  async function expectPublished(member: Member, number: number): Promise<void> {
    const { clientId } = member.client;
    expect(await countPublished(app(), member)).toEqual(expectedCounts(number));
    const keys = await app().dataSource.manager.countBy(IdempotencyKey, { clientId });
    expect(keys).toBe(number);
  }

  race(
    `C98 creates one post for ${REQUESTS} requests; the others get its response or 409`,
    async () => {
      const member = await Member.join(app());
      await expectOneOutcome(await concurrently(REQUESTS, () => publish(member)));
      await expectPublished(member, 1);
    },
  );

  race(`C98 creates one comment for ${REQUESTS} requests`, async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const comment = () => send(member, `/posts/${id}/comments`, { text: 'Hi' });
    await expectOneOutcome(await concurrently(REQUESTS, comment));
    const { manager } = app().dataSource;
    expect(await manager.countBy(Comment, { postId: id })).toBe(1);
    expect(await manager.findOneByOrFail(Post, { id })).toMatchObject({ commentCount: 1 });
  });

  race(
    `C98 stores nothing for ${REQUESTS} requests over the quota, and accepts the key once the quota is raised`,
    async () => {
      const member = await Member.join(app());
      const setQuota = (limit: number) =>
        app().service(QuotaService).set(member.client.clientId, { limit }, { actor: 'test' });
      await setQuota(0);
      const errors = new Set<string>();
      for (const response of await concurrently(REQUESTS, () => publish(member)))
        errors.add(`${response.status} ${(await json<ErrorBody>(response)).error}`);
      errors.delete(IN_USE);
      expect([...errors]).toEqual(['429 quota_exceeded']);
      await expectPublished(member, 0);
      await setQuota(1);
      const { status, headers } = await publish(member);
      expect([status, headers.get('idempotency-replayed')]).toEqual([201, null]);
      await expectPublished(member, 1);
    },
  );

  race('C98 publishes one of two different posts with the same key', async () => {
    const member = await Member.join(app());
    const responses = await concurrently(20, (number) => publish(member, `Body ${number % 2}`));
    const statuses = responses.map(({ status }) => status);
    expect(statuses).toContain(201);
    expect(statuses.filter((status) => ![201, 409, 422].includes(status))).toEqual([]);
    await expectPublished(member, 1);
  });

  it('C98 returns 409 for a key that is locked for more than a second, until its transaction ends', async () => {
    const member = await Member.join(app());
    // Locks the user's row, so that the first publish keeps its key locked until the rollback.
    const runner = app().dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.increment(User, { id: member.user.id }, 'karma', 1);
    const first = publish(member);
    await expect
      .poll(() => isStatementRunning(app(), 'UPDATE users'), { timeout: 4000 })
      .toBe(true);
    const startedAt = performance.now();
    const second = await publish(member);
    const waited = performance.now() - startedAt;
    await runner.rollbackTransaction();
    await runner.release();
    expect(second.status).toBe(409);
    expect(second.headers.get('retry-after')).toBe('1');
    expect(waited).toBeGreaterThan(900);
    // MySQL checks lock wait timeouts once a second.
    expect(waited).toBeLessThan(2500);
    expect((await first).status).toBe(201);
    const third = await publish(member);
    expect([third.status, third.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    await expectPublished(member, 1);
  });
});
