import { ApiCall } from '../../src/modules/quota/quota.entities.js';
import { expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { recordCalls } from '../support/fixtures.js';
import { Member } from '../support/member.js';
import { json } from '../support/responses.js';
import { flushDeferredWrites, useTestApp } from '../support/test-app.js';

interface Item {
  id: string;
  createdAt: string;
  method: string;
  route: string;
  status: number;
  errorCode: string | null;
  durationMs: number;
}
interface List {
  data: Item[];
  meta: { limit: number; hasMore: boolean };
}

const DAY = 86_400_000;

onOneEngine('Requests of an app', (database) => {
  const app = useTestApp(database, { CALL_LOG_DAYS: '62' });
  let member: Member;
  beforeEach(async () => {
    app().clock.advance(DAY);
    member = await Member.join(app());
  });

  async function list({ get }: Pick<Member, 'get'>, query = ''): Promise<List> {
    await flushDeferredWrites(app());
    const response = await get(`/requests${query}`);
    expect(response.status).toBe(200);
    return json<List>(response);
  }
  const reader = (who: Member) => ({ get: (path: string) => who.get(path) });
  const listOf = (who: Member, query?: string): Promise<List> => list(reader(who), query);

  it('lists the calls of the app for the user with any scope, newest first, without its own calls', async () => {
    const narrow = await Member.join(app(), {
      user: member.user,
      client: member.client,
      scopes: ['profile.read'],
    });
    const published = await member.post('/posts', { content: 'Free plums' });
    app().clock.advance(10);
    const missing = await member.get('/posts/post_none');
    app().clock.advance(10);
    const refused = await narrow.get('/posts');
    app().clock.advance(10);
    await listOf(narrow);
    await member.app.call(member.token, 'HEAD', '/requests');
    const { data, meta } = await listOf(narrow);
    expect(meta).toEqual({ limit: 20, hasMore: false });
    expect(
      data.map(({ method, route, status, errorCode }) => [method, route, status, errorCode]),
    ).toEqual([
      ['GET', '/dev/v1/posts', 403, 'insufficient_scope'],
      ['GET', '/dev/v1/posts/:id', 404, 'not_found'],
      ['POST', '/dev/v1/posts', 201, null],
    ]);
    const ids = [refused, missing, published].map(({ headers }) => headers.get('x-request-id'));
    expect(data.map(({ id }) => id)).toEqual(ids);
    for (const { createdAt, durationMs } of data) {
      expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(durationMs).toBeGreaterThanOrEqual(0);
    }
    for (const item of data)
      expect(await json(await narrow.get(`/requests/${item.id}`))).toEqual(item);
  });

  it('reads the whole list in parts, also if calls have the same time', async () => {
    for (let number = 0; number < 7; number += 1) {
      await member.get('/me');
      if (number === 3) app().clock.advance(5);
    }
    const whole = (await listOf(member)).data.map(({ id }) => id);
    expect(new Set(whole).size).toBe(7);
    const read: string[] = [];
    for (let path = '/requests?limit=2'; ;) {
      const response = await member.get(path);
      const { data, meta } = await json<List>(response);
      read.push(...data.map(({ id }) => id));
      const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
      expect(meta.hasMore).toBe(next !== undefined);
      if (next === undefined) break;
      expect(next).toContain(`limit=2&before=${read.at(-1)}`);
      path = next.slice(next.indexOf('/requests'));
    }
    expect(read).toEqual(whole);
  });

  it('O174 has no requests of other apps and for other users, and does not reveal whether they exist', async () => {
    const otherApp = await Member.join(app(), { user: member.user });
    const otherUser = await Member.join(app(), { client: member.client });
    for (const other of [otherApp, otherUser]) {
      const id = (await other.get('/me')).headers.get('x-request-id') ?? '';
      await flushDeferredWrites(app());
      expect((await other.get(`/requests/${id}`)).status).toBe(200);
      await expectApiError(await member.get(`/requests/${id}`), 404, 'not_found');
      expect((await listOf(member, `?before=${id}`)).data).toEqual([]);
    }
    expect((await listOf(member)).data).toEqual([]);
  });

  it('returns 404 for ids that do not exist, of its own calls, and with times that no database has', async () => {
    const own = (await member.get('/requests')).headers.get('x-request-id') ?? '';
    await flushDeferredWrites(app());
    const ids = [
      'none',
      'req_01kahq5f3veqdr8bn3tdmx3q0a',
      `req_7${'z'.repeat(25)}`,
      `req_${'0'.repeat(26)}`,
    ];
    for (const id of [own, ...ids])
      await expectApiError(await member.get(`/requests/${id}`), 404, 'not_found');
  });

  it('takes an id of before that it does not have as a point in time', async () => {
    const older = (await member.get('/me')).headers.get('x-request-id');
    app().clock.advance(10);
    const listed = (await member.get('/requests')).headers.get('x-request-id') ?? '';
    app().clock.advance(10);
    await member.get('/me');
    const idsBefore = async (id: string) =>
      (await listOf(member, `?before=${id}`)).data.map((item) => item.id);
    expect(await idsBefore(listed)).toEqual([older]);
    expect(await idsBefore(`req_7${'z'.repeat(25)}`)).toHaveLength(2);
    expect(await idsBefore(`req_${'0'.repeat(26)}`)).toEqual([]);
  });

  it.for(['limit=0', 'limit=101', 'limit=x', 'before=post_none'])('rejects %s', async (query) => {
    await expectApiError(await member.get(`/requests?${query}`), 400, 'invalid_request');
  });

  it('keeps requests as long as the call log', async () => {
    const { id: userId } = member.user;
    const { clientId } = member.client;
    const now = app().clock.now().getTime();
    const at = [61, 64].map((days) => new Date(now - days * DAY));
    await recordCalls(app().dataSource, at, {
      userId,
      clientId,
      requestId: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
    });
    expect((await listOf(member)).data.map(({ createdAt }) => createdAt)).toEqual([
      at[0]?.toISOString(),
    ]);
  });

  it('reads an index by user', async () => {
    const statements = await app().statementsOf(() => member.get('/requests'));
    const select = statements.find((statement) => /FROM .?api_calls/.test(statement)) ?? '';
    expect(select).toMatch(/user_id/);
    const { engine } = database;
    if (engine.kind === 'sqlite') return;
    expect(select).toContain('ix_api_calls_user_id');
    expect(await app().dataSource.manager.count(ApiCall)).toBeGreaterThanOrEqual(0);
  });
});
