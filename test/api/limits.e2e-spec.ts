import { expectFieldErrors, expectApiError } from '../support/api.js';
import { approve, exchange, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { json, type TokenBody } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const MAX_FAILURES = 20;
/** The window of 15 minutes, and less than a minute for the slot of its oldest attempt. */
const MAX_WAIT_SECONDS = 16 * 60;

onOneEngine('Limits (product requirements, section 8)', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '3' });

  async function memberWithUsedUpQuota(): Promise<Member> {
    const member = await Member.join(app());
    for (let post = 1; post <= 3; post += 1) await member.publish();
    return member;
  }

  it('counts the monthly quota per app, across all of its users', async () => {
    const first = await memberWithUsedUpQuota();
    const sameApp = await Member.join(app(), { client: first.client });
    const otherApp = await Member.join(app(), { user: first.user });
    const body = { content: 'Hi' };
    await expectApiError(await sameApp.post('/posts', body), 429, 'quota_exceeded');
    expect((await otherApp.post('/posts', body)).status).toBe(201);
  });

  it('resets the quota at the start of the next calendar month', async () => {
    const { user, client } = await memberWithUsedUpQuota();
    const now = app().clock.now();
    app().clock.set('2026-12-01T00:00:00.000Z');
    const member = await Member.join(app(), { user, client });
    expect((await member.post('/posts', { content: 'Hi' })).status).toBe(201);
    app().clock.set(now.toISOString());
  });

  it('charges the quota for successful POST /posts only', async () => {
    const member = await Member.join(app());
    for (let call = 1; call <= 5; call += 1) {
      await member.get('/posts');
      await member.post('/posts', {});
    }
    const { id } = await member.publish();
    await member.publish();
    await member.publish();
    await expectApiError(await member.post('/posts', { content: 'Hi' }), 429, 'quota_exceeded');
    for (const path of ['/me', '/posts', `/posts/${id}`, `/posts/${id}/analytics`])
      expect((await member.get(path)).status).toBe(200);
    const comment = await member.comment(id);
    expect((await member.delete(`/comments/${comment.id}`)).status).toBe(200);
    expect((await member.delete(`/posts/${id}`)).status).toBe(200);
  });

  it("returns 'Too many attempts' at the token endpoint until the rate limit window ends", async () => {
    const client = await app().addClient();
    const form = { grant_type: 'refresh_token', refresh_token: 'svcrt_x', client_secret: 'guess' };
    const sendWrongSecret = () => requestToken(app(), client, form);
    for (let attempt = 1; attempt <= MAX_FAILURES; attempt += 1)
      expect((await sendWrongSecret()).status).toBe(401);
    const limited = await sendWrongSecret();
    expect(limited.status).toBe(429);
    expect(await limited.text()).toContain('Too many attempts');
    const wait = Number(limited.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(MAX_WAIT_SECONDS);
    app().clock.advance(wait * 1000);
    expect((await sendWrongSecret()).status).toBe(401);
  });

  it('C87 accepts 50 posts a page at most', async () => {
    const member = await Member.join(app());
    expect((await member.get('/posts?limit=50')).status).toBe(200);
    await expectFieldErrors(await member.get('/posts?limit=51'), 'limit too_large');
  });

  it('C87 accepts 100 comments a page at most', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    expect((await member.get(`/posts/${id}/comments?limit=100`)).status).toBe(200);
    await expectFieldErrors(await member.get(`/posts/${id}/comments?limit=101`), 'limit too_large');
  });

  it('C80 accepts comments of 1 to 2000 characters', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const comment = (text: string) => member.post(`/posts/${id}/comments`, { text });
    await expectFieldErrors(await comment(''), 'text blank');
    expect((await comment('x')).status).toBe(201);
    expect((await comment('x'.repeat(2000))).status).toBe(201);
    await expectFieldErrors(await comment('x'.repeat(2001)), 'text too_long');
  });

  it('expires authorization codes after 5 minutes', async () => {
    const client = await app().addClient();
    const codes = [];
    for (let code = 1; code <= 2; code += 1)
      codes.push((await approve(app(), await app().addUser(), client)).get('code') ?? '');
    app().clock.advance(299_999);
    expect((await exchange(app(), client, codes[0] ?? '')).status).toBe(200);
    app().clock.advance(1);
    const late = await exchange(app(), client, codes[1] ?? '');
    expect(await json(late)).toMatchObject({ error: 'invalid_grant' });
  });

  it('expires access tokens after 1 hour', async () => {
    const client = await app().addClient();
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const { access_token } = await json<TokenBody>(await exchange(app(), client, code));
    app().clock.advance(3_599_999);
    expect((await app().call(access_token, 'GET', '/me')).status).toBe(200);
    app().clock.advance(1);
    expect((await app().call(access_token, 'GET', '/me')).status).toBe(401);
  });
});
