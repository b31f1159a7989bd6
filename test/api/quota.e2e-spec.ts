import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { Post } from '../../src/modules/posts/post.entity.js';
import { ApiCall } from '../../src/modules/quota/api-call.entity.js';
import { AppQuota } from '../../src/modules/quota/app-quota.entity.js';
import { QuotaUsage } from '../../src/modules/quota/quota-usage.entity.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { User } from '../../src/modules/users/user.entity.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { beginPublish, Member, type PostBody } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const START = '2026-11-21T09:30:00.000Z';
const POST = { content: 'Hi' };

onOneEngine('The monthly post quota', (database) => {
  const app = useTestApp(database, { QUOTA_PLANS: 'partner=4,first-party=unlimited' });
  beforeEach(() => {
    app().clock.set(START);
  });

  const quota = () => app().service(QuotaService);
  const arrange = ({ client }: Member, limit: number | null) =>
    quota().set(client.clientId, { limit }, { actor: 'test' });
  const arrangePlan = ({ client }: Member, plan: string) =>
    quota().set(client.clientId, { plan }, { actor: 'test' });
  const used = async (member: Member) => (await quota().status(member.client.clientId)).used;

  async function publishes(member: Member, count: number): Promise<number[]> {
    const statuses = [];
    for (let post = 1; post <= count; post += 1)
      statuses.push((await member.post('/posts', POST)).status);
    return statuses;
  }
  const times = (count: number, status: number) => Array.from({ length: count }, () => status);

  it('is 100 by default', async () => {
    const member = await Member.join(app());
    expect(await publishes(member, 101)).toEqual([...times(100, 201), 429]);
    expect(await quota().status(member.client.clientId)).toMatchObject({
      plan: 'default',
      limit: 100,
      used: 100,
      remaining: 0,
      period: '2026-11',
    });
  });

  it('C110 is what the operator set, from the next publish on, also below what was used', async () => {
    const member = await Member.join(app());
    await arrange(member, 2);
    expect(await publishes(member, 3)).toEqual([201, 201, 429]);
    await arrange(member, 3);
    expect(await publishes(member, 2)).toEqual([201, 429]);
    await arrange(member, 1);
    expect(await publishes(member, 1)).toEqual([429]);
    expect(await used(member)).toBe(3);
  });

  it("is the plan's, and the default again without one", async () => {
    const member = await Member.join(app());
    await arrangePlan(member, 'partner');
    expect(await publishes(member, 5)).toEqual([...times(4, 201), 429]);
    await arrangePlan(member, 'default');
    expect(await publishes(member, 1)).toEqual([201]);
    expect(await quota().status(member.client.clientId)).toMatchObject({ limit: 100, used: 5 });
  });

  it("follows the plan's number in the configuration, and keeps the last one once the plan is gone", async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    await app().dataSource.manager.insert(AppQuota, [
      { clientId, plan: 'partner', monthlyPostLimit: 1 },
    ]);
    expect(await quota().status(clientId)).toMatchObject({ plan: 'partner', limit: 4 });
    expect(await publishes(member, 5)).toEqual([...times(4, 201), 429]);
    await app().dataSource.manager.update(
      AppQuota,
      { clientId },
      { plan: 'retired', monthlyPostLimit: 5 },
    );
    expect(await quota().status(clientId)).toMatchObject({ plan: 'retired', limit: 5 });
    expect(await publishes(member, 2)).toEqual([201, 429]);
  });

  it('C110 can be unlimited: no limit is told, and it is counted all the same', async () => {
    const member = await Member.join(app());
    await arrangePlan(member, 'first-party');
    expect(await publishes(member, 100)).toEqual(times(100, 201));
    const answer = await member.post('/posts', POST);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('ratelimit')).toBeNull();
    expect(await quota().status(member.client.clientId)).toMatchObject({
      limit: null,
      remaining: null,
      used: 101,
    });
  });

  it('C110 can be 0', async () => {
    const member = await Member.join(app());
    await arrange(member, 0);
    const body = await expectApiError(await member.post('/posts', POST), 429, 'quota_exceeded');
    expect(body.error_description).toContain('quota of 0 posts');
    expect(await used(member)).toBe(0);
  });

  it('counts what was published, and nothing else', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    await expectFieldErrors(await member.post('/posts', {}), 'one_of_required');
    await member.comment(id);
    for (const path of ['/me', '/posts', `/posts/${id}`, `/posts/${id}/comments`])
      await member.get(path);
    const reader = await Member.join(app(), { ...member, scopes: ['posts.read'] });
    await expectApiError(await reader.post('/posts', POST), 403, 'insufficient_scope');
    expect(await used(member)).toBe(1);
  });

  it('gets nothing back from deleting', async () => {
    const member = await Member.join(app());
    await arrange(member, 1);
    const { id } = await member.publish();
    expect((await member.delete(`/posts/${id}`)).status).toBe(200);
    expect(await publishes(member, 1)).toEqual([429]);
  });

  it('is looked at last: what is wrong with the body is told first', async () => {
    const member = await Member.join(app());
    await arrange(member, 0);
    await expectFieldErrors(await member.post('/posts', { content: ' ' }), 'content blank');
  });

  it.each([
    [START, 9 * 86_400 + 14 * 3600 + 30 * 60, '2026-12'],
    ['2026-11-30T23:59:58.999Z', 2, '2026-12'],
    ['2026-11-30T23:59:59.000Z', 1, '2026-12'],
    ['2026-11-30T23:59:59.999Z', 1, '2026-12'],
    ['2026-12-01T00:00:00.000Z', 31 * 86_400, '2027-01'],
    ['2026-12-31T23:59:00.000Z', 60, '2027-01'],
    ['2028-02-01T00:00:00.000Z', 29 * 86_400, '2028-03'],
  ])('spent at %s says to retry after %d seconds, when %s starts in UTC', async (...row) => {
    const [now, wait, month] = row;
    app().clock.set(now);
    const member = await Member.join(app());
    await arrange(member, 0);
    const answer = await member.post('/posts', POST);
    const { error_description } = await expectApiError(answer, 429, 'quota_exceeded');
    expect(answer.headers.get('retry-after')).toBe(String(wait));
    expect(error_description).toContain(`${month}-01T00:00:00.000Z`);
  });

  it('C109 belongs to the UTC month of createdAt, to the millisecond', async () => {
    app().clock.set('2026-11-30T23:30:00.000Z');
    const member = await Member.join(app());
    await arrange(member, 1);
    app().clock.set('2026-11-30T23:59:59.999Z');
    const last = await member.publish();
    expect(last.createdAt).toBe('2026-11-30T23:59:59.999Z');
    expect(await publishes(member, 1)).toEqual([429]);
    app().clock.set('2026-12-01T00:00:00.000Z');
    const first = await member.publish();
    expect(first.createdAt).toBe('2026-12-01T00:00:00.000Z');
    expect(await publishes(member, 1)).toEqual([429]);
    const { clientId } = member.client;
    const rows = await app().dataSource.manager.find(QuotaUsage, {
      where: { clientId },
      order: { period: 'ASC' },
    });
    expect(rows).toMatchObject([
      { period: '2026-11', used: 1 },
      { period: '2026-12', used: 1 },
    ]);
    const calls = await app().dataSource.manager.find(ApiCall, {
      where: { clientId, status: 201 },
      order: { at: 'ASC' },
    });
    expect(calls.map(({ at }) => at.toISOString())).toEqual([last.createdAt, first.createdAt]);
  });

  it('C109 of a publish that begins in one month and ends in the next is that of its createdAt', async () => {
    app().clock.set('2026-11-30T23:59:59.999Z');
    const member = await Member.join(app());
    await arrange(member, 1);
    await member.publish();
    const body = JSON.stringify(POST);
    const { sent, received } = await beginPublish(member, body);
    await expect.poll(() => received.caller?.clientId).toBe(member.client.clientId);
    app().clock.set('2026-12-01T00:00:00.000Z');
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    sent.end(body.slice(1));
    const { id, createdAt } = (await readJson((await answered)[0])) as PostBody;
    expect(createdAt).toBe('2026-12-01T00:00:00.000Z');
    const { clientId } = member.client;
    const { manager } = app().dataSource;
    const post = await manager.findOneByOrFail(Post, { id });
    expect(post.createdAt.toISOString()).toBe(createdAt);
    const calls = await manager.findBy(ApiCall, { clientId, at: post.createdAt });
    expect(calls).toMatchObject([{ status: 201 }]);
    const usage = await manager.find(QuotaUsage, { where: { clientId }, order: { period: 'ASC' } });
    expect(usage).toMatchObject([
      { period: '2026-11', used: 1 },
      { period: '2026-12', used: 1 },
    ]);
  });

  it('holds for publishes at once', async () => {
    const member = await Member.join(app());
    await arrange(member, 5);
    const answers = await Promise.all(times(12, 0).map(() => member.post('/posts', POST)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...times(5, 201),
      ...times(7, 429),
    ]);
    expect(await used(member)).toBe(5);
  });

  it('refuses as a whole: no post, no count, no record of a publish', async () => {
    const member = await Member.join(app());
    await arrange(member, 1);
    await member.publish();
    await expectApiError(await member.post('/posts', POST), 429, 'quota_exceeded');
    const { manager } = app().dataSource;
    const userId = member.user.id;
    const { clientId } = member.client;
    expect({
      posts: await manager.countBy(Post, { userId }),
      counted: (await manager.findOneByOrFail(User, { id: userId })).postCount,
      used: await used(member),
      published: await manager.countBy(ApiCall, { clientId, status: 201 }),
    }).toEqual({ posts: 1, counted: 1, used: 1, published: 1 });
  });
});
