import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const NOVEMBER = 30 * 86_400;
const POST = { content: 'Hi' };

onOneEngine('What an app is told of its quota', (database) => {
  const app = useTestApp(database);
  beforeEach(() => {
    app().clock.set('2026-11-21T09:30:00.250Z');
  });

  const set = ({ client }: Member, limit: number | null) =>
    app().service(QuotaService).set(client.clientId, { limit }, { actor: 'test' });
  const told = ({ headers }: Response) => [
    headers.get('ratelimit'),
    headers.get('ratelimit-policy'),
  ];
  const quota = async (member: Member) => json<object>(await member.get('/quota'));
  const untilDecember = 9 * 86_400 + 14 * 3600 + 30 * 60;

  it('C106 A publish names the quota, the month in seconds, and one post less than before', async () => {
    const member = await Member.join(app());
    const answers = [await member.post('/posts', POST), await member.post('/posts', POST)];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(told)).toEqual([
      [`"posts-month";r=99;t=${untilDecember}`, `"posts-month";q=100;w=${NOVEMBER}`],
      [`"posts-month";r=98;t=${untilDecember}`, `"posts-month";q=100;w=${NOVEMBER}`],
    ]);
  });

  it('C106 A replay takes nothing away', async () => {
    const member = await Member.join(app());
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'once' };
    const send = () => member.postRaw('/posts', JSON.stringify(POST), headers);
    const [first, second] = [await send(), await send()];
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(told(second)).toEqual(told(first));
  });

  it('C105 A spent quota is told in the body and in headers, none of which invites earlier than another', async () => {
    const member = await Member.join(app());
    await set(member, 1);
    await member.publish();
    const answer = await member.post('/posts', POST);
    const body = await expectApiError(answer, 429, 'quota_exceeded');
    expect(body.error_description).toContain('1 post per month is spent');
    expect(told(answer)).toEqual([
      `"posts-month";r=0;t=${untilDecember}`,
      `"posts-month";q=1;w=${NOVEMBER}`,
    ]);
    expect(answer.headers.get('retry-after')).toBe(String(untilDecember));
  });

  it.each([
    ['2026-02-28T23:59:59.001Z', 28, 1],
    ['2028-02-01T00:00:00.000Z', 29, 29 * 86_400],
    ['2026-12-31T00:00:00.000Z', 31, 86_400],
  ])('C106 At %s the window has %d days and ends in %d seconds', async (now, days, seconds) => {
    app().clock.set(now);
    const member = await Member.join(app());
    expect(told(await member.post('/posts', POST))).toEqual([
      `"posts-month";r=99;t=${seconds}`,
      `"posts-month";q=100;w=${days * 86_400}`,
    ]);
  });

  it('C110 A limit below what is used, one above it, none and 0 hold from the next call on', async () => {
    const member = await Member.join(app());
    for (let post = 1; post <= 3; post += 1) await member.publish();
    await set(member, 2);
    const refused = await member.post('/posts', POST);
    await expectApiError(refused, 429, 'quota_exceeded');
    expect(told(refused)[0]).toMatch(/;r=0;/);
    expect(await quota(member)).toMatchObject({ limit: 2, used: 3, remaining: 0 });
    await set(member, 5);
    const raised = await member.post('/posts', POST);
    expect([raised.status, told(raised)[0]]).toEqual([201, `"posts-month";r=1;t=${untilDecember}`]);
    await set(member, 0);
    await expectApiError(await member.post('/posts', POST), 429, 'quota_exceeded');
    await set(member, null);
    const unlimited = await member.post('/posts', POST);
    expect([unlimited.status, ...told(unlimited)]).toEqual([201, null, null]);
  });

  it('C107 A body that is wrong is told before a quota that is spent', async () => {
    const member = await Member.join(app());
    await set(member, 0);
    await expectFieldErrors(await member.post('/posts', { content: 1 }), 'content wrong_type');
  });

  it('C108 Deleting opens nothing', async () => {
    const member = await Member.join(app());
    await set(member, 1);
    const { id } = await member.publish();
    expect((await member.delete(`/posts/${id}`)).status).toBe(200);
    await expectApiError(await member.post('/posts', POST), 429, 'quota_exceeded');
    expect(await quota(member)).toMatchObject({ used: 1, remaining: 0 });
  });

  it('GET /quota tells limit, use, what is left, the month and its end, and costs nothing', async () => {
    const member = await Member.join(app());
    await member.publish();
    const expected = {
      limit: 100,
      used: 1,
      remaining: 99,
      period: '2026-11',
      resetsAt: '2026-12-01T00:00:00.000Z',
    };
    expect(await quota(member)).toStrictEqual(expected);
    expect(await quota(member)).toStrictEqual(expected);
    await set(member, null);
    expect(await quota(member)).toStrictEqual({ ...expected, limit: null, remaining: null });
  });

  it('GET /quota takes a token with any scope, and none without', async () => {
    const client = await app().addClient();
    for (const scope of ['profile.read', 'posts.read', 'posts.write', 'analytics.read'] as const) {
      const member = await Member.join(app(), { client, scopes: [scope] });
      expect((await member.get('/quota')).status).toBe(200);
    }
    await expectApiError(await app().fetch('/dev/v1/quota'), 401, 'unauthorized');
  });

  it('tells nothing of the quota where a publish was refused for another reason', async () => {
    const member = await Member.join(app());
    expect(told(await member.post('/posts', {}))).toEqual([null, null]);
  });
});
