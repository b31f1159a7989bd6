import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { Post } from '../../src/modules/posts/post.entities.js';
import { ApiCall, AppQuota, QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { inTurn } from '../support/cluster.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { beginPublish, Member, type PostBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const START = '2026-11-21T09:30:00.000Z';
const SECONDS_UNTIL_DECEMBER = 9 * 86_400 + 14 * 3600 + 30 * 60;
/** The maximum of `Retry-After`. */
const WEEK = 7 * 86_400;
const SECONDS_OF_NOVEMBER = 30 * 86_400;
const POST = { content: 'Hi' };

onOneEngine('Monthly post quota', (database) => {
  const app = useTestApp(database, { QUOTA_PLANS: 'partner=4,first-party=unlimited' });
  beforeEach(() => {
    app().clock.set(START);
  });

  const quota = () => app().service(QuotaService);
  const setLimit = ({ client }: Member, limit: number | null) =>
    quota().set(client.clientId, { limit }, { actor: 'test' });
  const setPlan = ({ client }: Member, plan: string) =>
    quota().set(client.clientId, { plan }, { actor: 'test' });
  const usageByMonth = ({ client: { clientId } }: Member) =>
    app().dataSource.manager.find(QuotaUsage, { where: { clientId }, order: { period: 'ASC' } });
  const used = async (member: Member) => (await quota().status(member.client.clientId)).used;

  /** Publishes one after the other and returns the statuses. */
  const publish = (member: Member, count: number): Promise<number[]> =>
    inTurn(count, async () => (await member.post('/posts', POST)).status);
  /** Publishes concurrently and returns the statuses in ascending order. */
  async function publishAtOnce(member: Member, count: number): Promise<number[]> {
    const responses = await Promise.all(
      Array.from({ length: count }, () => member.post('/posts', POST)),
    );
    return responses.map(({ status }) => status).toSorted();
  }
  const repeated = (count: number, status: number) => Array.from({ length: count }, () => status);

  it('C110 is 100 by default, and unlimited, without RateLimit headers, with an unlimited plan', async () => {
    const member = await Member.join(app());
    expect(await publishAtOnce(member, 99)).toEqual(repeated(99, 201));
    expect(await publish(member, 2)).toEqual([201, 429]);
    expect(await quota().status(member.client.clientId)).toMatchObject({
      plan: 'default',
      limit: 100,
      used: 100,
      remaining: 0,
      period: '2026-11',
    });
    await setPlan(member, 'first-party');
    const response = await member.post('/posts', POST);
    expect(response.status).toBe(201);
    expect(response.headers.get('ratelimit')).toBeNull();
    expect(await quota().status(member.client.clientId)).toMatchObject({
      limit: null,
      remaining: null,
      used: 101,
    });
  });

  it('is the limit of the plan, and the default after the plan is removed', async () => {
    const member = await Member.join(app());
    await setPlan(member, 'partner');
    expect(await publish(member, 5)).toEqual([...repeated(4, 201), 429]);
    await setPlan(member, 'default');
    expect(await publish(member, 1)).toEqual([201]);
    expect(await quota().status(member.client.clientId)).toMatchObject({ limit: 100, used: 5 });
  });

  it('is the configured limit of the plan, or the stored limit of a plan that is not configured any more', async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    await app().dataSource.manager.insert(AppQuota, [
      { clientId, plan: 'partner', monthlyPostLimit: 1 },
    ]);
    expect(await quota().status(clientId)).toMatchObject({ plan: 'partner', limit: 4 });
    expect(await publish(member, 5)).toEqual([...repeated(4, 201), 429]);
    await app().dataSource.manager.update(
      AppQuota,
      { clientId },
      { plan: 'retired', monthlyPostLimit: 5 },
    );
    expect(await quota().status(clientId)).toMatchObject({ plan: 'retired', limit: 5 });
    expect(await publish(member, 2)).toEqual([201, 429]);
  });

  it('is shared by all users of an app, and not by two apps of a user', async () => {
    const member = await Member.join(app());
    await setLimit(member, 1);
    await member.publish();
    const sameApp = await Member.join(app(), { client: member.client });
    const otherApp = await Member.join(app(), { user: member.user });
    await expectApiError(await sameApp.post('/posts', POST), 429, 'quota_exceeded');
    expect((await otherApp.post('/posts', POST)).status).toBe(201);
  });

  it('counts published posts only, and limits no other call', async () => {
    const member = await Member.join(app());
    await setLimit(member, 1);
    const { id } = await member.publish();
    await expectFieldErrors(await member.post('/posts', {}), 'one_of_required');
    const comment = await member.comment(id);
    for (const path of ['/me', '/posts', `/posts/${id}`, `/posts/${id}/comments`])
      expect((await member.get(path)).status).toBe(200);
    for (const path of [`/comments/${comment.id}`, `/posts/${id}`])
      expect((await member.delete(path)).status).toBe(200);
    const reader = await Member.join(app(), { ...member, scopes: ['posts.read'] });
    await expectApiError(await reader.post('/posts', POST), 403, 'insufficient_scope');
    expect(await used(member)).toBe(1);
  });

  it.each([
    [START, WEEK, '2026-12'],
    ['2026-11-24T00:00:00.001Z', WEEK, '2026-12'],
    ['2026-11-24T00:00:01.000Z', WEEK - 1, '2026-12'],
    ['2026-11-30T23:59:59.999Z', 1, '2026-12'],
    ['2026-12-01T00:00:00.000Z', WEEK, '2027-01'],
    ['2026-12-31T23:59:00.000Z', 60, '2027-01'],
    ['2028-02-01T00:00:00.000Z', WEEK, '2028-03'],
  ])(
    'C105 returns a Retry-After at %s of %d seconds, at most until %s starts in UTC',
    async (...row) => {
      const [now, wait, month] = row;
      app().clock.set(now);
      const member = await Member.join(app());
      await setLimit(member, 0);
      const response = await member.post('/posts', POST);
      const { error_description } = await expectApiError(response, 429, 'quota_exceeded');
      expect(response.headers.get('retry-after')).toBe(String(wait));
      expect(error_description).toContain(`${month}-01T00:00:00.000Z`);
    },
  );

  it('C109 counts a post in the UTC month of its createdAt, to the millisecond', async () => {
    app().clock.set('2026-11-30T23:30:00.000Z');
    const member = await Member.join(app());
    await setLimit(member, 1);
    app().clock.set('2026-11-30T23:59:59.999Z');
    const last = await member.publish();
    expect(last.createdAt).toBe('2026-11-30T23:59:59.999Z');
    expect(await publish(member, 1)).toEqual([429]);
    app().clock.set('2026-12-01T00:00:00.000Z');
    const first = await member.publish();
    expect(first.createdAt).toBe('2026-12-01T00:00:00.000Z');
    expect(await publish(member, 1)).toEqual([429]);
    const { clientId } = member.client;
    expect(await usageByMonth(member)).toMatchObject([
      { period: '2026-11', used: 1 },
      { period: '2026-12', used: 1 },
    ]);
    const calls = await app().dataSource.manager.find(ApiCall, {
      where: { clientId, status: 201 },
      order: { at: 'ASC' },
    });
    expect(calls.map(({ at }) => at.toISOString())).toEqual([last.createdAt, first.createdAt]);
  });

  it('C109 counts a publish that spans two months in the month of its createdAt', async () => {
    app().clock.set('2026-11-30T23:59:59.999Z');
    const member = await Member.join(app());
    await setLimit(member, 1);
    await member.publish();
    const body = JSON.stringify(POST);
    const { clientRequest, serverRequest } = await beginPublish(member, body);
    await expect.poll(() => serverRequest.context.caller?.clientId).toBe(member.client.clientId);
    app().clock.set('2026-12-01T00:00:00.000Z');
    const responded = once(clientRequest, 'response') as Promise<[IncomingMessage]>;
    // `beginPublish` has sent the first byte.
    clientRequest.end(body.slice(1));
    const { id, createdAt } = (await readJson((await responded)[0])) as PostBody;
    expect(createdAt).toBe('2026-12-01T00:00:00.000Z');
    const { clientId } = member.client;
    const { manager } = app().dataSource;
    const post = await manager.findOneByOrFail(Post, { id });
    expect(post.createdAt.toISOString()).toBe(createdAt);
    const calls = await manager.findBy(ApiCall, { clientId, at: post.createdAt });
    expect(calls).toMatchObject([{ status: 201 }]);
    expect(await usageByMonth(member)).toMatchObject([
      { period: '2026-11', used: 1 },
      { period: '2026-12', used: 1 },
    ]);
  });

  const rateLimitOf = ({ headers }: Response) => [
    headers.get('ratelimit'),
    headers.get('ratelimit-policy'),
  ];
  const quotaOf = async (member: Member) => json<object>(await member.get('/quota'));

  it('GET /quota returns limit, usage, remaining posts, month and reset time, and uses no quota', async () => {
    const member = await Member.join(app());
    await member.publish();
    const expected = {
      limit: 100,
      used: 1,
      remaining: 99,
      period: '2026-11',
      resetsAt: '2026-12-01T00:00:00.000Z',
    };
    expect(await quotaOf(member)).toStrictEqual(expected);
    expect(await quotaOf(member)).toStrictEqual(expected);
    await setLimit(member, null);
    expect(await quotaOf(member)).toStrictEqual({ ...expected, limit: null, remaining: null });
  });

  describe('RateLimit headers', () => {
    beforeEach(() => {
      app().clock.set('2026-11-21T09:30:00.250Z');
    });

    it('C106 state the limit, the length of the month in seconds and the remaining posts', async () => {
      const member = await Member.join(app());
      const responses = [await member.post('/posts', POST), await member.post('/posts', POST)];
      expect(responses.map(({ status }) => status)).toEqual([201, 201]);
      expect(responses.map(rateLimitOf)).toEqual([
        [
          `"posts-month";r=99;t=${SECONDS_UNTIL_DECEMBER}`,
          `"posts-month";q=100;w=${SECONDS_OF_NOVEMBER}`,
        ],
        [
          `"posts-month";r=98;t=${SECONDS_UNTIL_DECEMBER}`,
          `"posts-month";q=100;w=${SECONDS_OF_NOVEMBER}`,
        ],
      ]);
    });

    it('C106 stay the same for a replay', async () => {
      const member = await Member.join(app());
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'once' };
      const send = () => member.postRaw('/posts', JSON.stringify(POST), headers);
      const [first, second] = [await send(), await send()];
      expect(second.headers.get('idempotency-replayed')).toBe('true');
      expect(rateLimitOf(second)).toEqual(rateLimitOf(first));
    });

    it('C105 state the time until the reset once the quota is used up, as Retry-After does in the last week', async () => {
      app().clock.set('2026-11-30T00:00:00.000Z');
      const member = await Member.join(app());
      await setLimit(member, 1);
      await member.publish();
      const response = await member.post('/posts', POST);
      const body = await expectApiError(response, 429, 'quota_exceeded');
      expect(body.error_description).toContain('has used its quota of 1 post per month');
      expect(rateLimitOf(response)).toEqual([
        `"posts-month";r=0;t=86400`,
        `"posts-month";q=1;w=${SECONDS_OF_NOVEMBER}`,
      ]);
      expect(response.headers.get('retry-after')).toBe('86400');
    });

    it.each([
      ['2026-02-28T23:59:59.001Z', 28, 1],
      ['2028-02-01T00:00:00.000Z', 29, 29 * 86_400],
      ['2026-12-31T00:00:00.000Z', 31, 86_400],
    ])(
      'C106 have at %s a window of %d days that ends in %d seconds',
      async (now, days, seconds) => {
        app().clock.set(now);
        const member = await Member.join(app());
        expect(rateLimitOf(await member.post('/posts', POST))).toEqual([
          `"posts-month";r=99;t=${seconds}`,
          `"posts-month";q=100;w=${days * 86_400}`,
        ]);
      },
    );

    it('C110 reflect a limit below the usage, a limit above it, a limit of 0 and no limit, each from the next call on', async () => {
      const member = await Member.join(app());
      for (let post = 1; post <= 3; post += 1) await member.publish();
      await setLimit(member, 2);
      const rejected = await member.post('/posts', POST);
      await expectApiError(rejected, 429, 'quota_exceeded');
      expect(rateLimitOf(rejected)[0]).toMatch(/;r=0;/);
      expect(await quotaOf(member)).toMatchObject({ limit: 2, used: 3, remaining: 0 });
      await setLimit(member, 5);
      const raised = await member.post('/posts', POST);
      expect([raised.status, rateLimitOf(raised)[0]]).toEqual([
        201,
        `"posts-month";r=1;t=${SECONDS_UNTIL_DECEMBER}`,
      ]);
      await setLimit(member, 0);
      const none = await expectApiError(await member.post('/posts', POST), 429, 'quota_exceeded');
      expect(none.error_description).toContain('quota of 0 posts');
      await setLimit(member, null);
      const unlimited = await member.post('/posts', POST);
      expect([unlimited.status, ...rateLimitOf(unlimited)]).toEqual([201, null, null]);
    });

    it('C108 a deleted post does not give its quota back', async () => {
      const member = await Member.join(app());
      await setLimit(member, 1);
      const { id } = await member.publish();
      expect((await member.delete(`/posts/${id}`)).status).toBe(200);
      await expectApiError(await member.post('/posts', POST), 429, 'quota_exceeded');
      expect(await quotaOf(member)).toMatchObject({ used: 1, remaining: 0 });
    });

    it('are absent when a publish is rejected for another reason', async () => {
      const member = await Member.join(app());
      expect(rateLimitOf(await member.post('/posts', {}))).toEqual([null, null]);
    });
  });
});
