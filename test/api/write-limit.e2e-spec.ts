import { addMilliseconds, MINUTE, SECOND } from '../../src/platform/clock.js';
import { expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member } from '../support/member.js';
import { DEFAULT_LIMITS, rateLimits, UNLIMITED, useTestApp } from '../support/test-app.js';

const UNKNOWN_COMMENT = '/comments/cmt_01kahq5f3veqdr8bn3tdmx3q0a';

/** The `RateLimit` headers of a response. */
function limitsOf({ headers }: Response): (string | null)[] {
  return [headers.get('ratelimit-policy'), headers.get('ratelimit')];
}

onOneEngine('The limit of writes of an app for a user, by default', (database) => {
  const app = useTestApp(database, DEFAULT_LIMITS);

  it('C148 accepts 60 comments and deletions a minute, together, and returns 429 for the next until the first leaves the window', async () => {
    const member = await Member.join(app());
    const { id: post } = await member.publish();
    const { id: doomed } = await member.publish();
    const { id: comment } = await member.comment(post);
    app().clock.advance(10 * SECOND);
    expect((await member.delete(`/comments/${comment}`)).status).toBe(200);
    expect((await member.delete(`/posts/${doomed}`)).status).toBe(200);
    for (let write = 4; write <= 60; write += 1) await member.comment(post);
    const before = await footprintOf(member);
    for (const response of [
      await member.post(`/posts/${post}/comments`, { text: 'One more' }),
      await member.delete(`/posts/${post}`),
      await member.delete(UNKNOWN_COMMENT),
    ]) {
      const { error_description } = await expectApiError(response, 429, 'too_many_requests');
      expect(error_description).toBe(
        'The app may send at most 60 comments and deletions per minute for a user. Try again in 50 seconds.',
      );
      expect(response.headers.get('retry-after')).toBe('50');
      expect(limitsOf(response)).toEqual(['"writes-minute";q=60;w=60', '"writes-minute";r=0;t=50']);
    }
    expect(await footprintOf(member)).toEqual(before);
    app().clock.advance(50 * SECOND);
    await member.comment(post);
    await expectApiError(await member.delete(`/posts/${post}`), 429, 'too_many_requests');
  });
});

const LIMIT = 3;

onOneEngine('The limit of writes of an app for a user', (database) => {
  const app = useTestApp(database, rateLimits({ 'grant-writes-per-minute': LIMIT }));

  /** A member who has a post and no writes left. */
  async function exhausted(): Promise<{ member: Member; post: string }> {
    const member = await Member.join(app());
    const { id: post } = await member.publish();
    for (let write = 1; write <= LIMIT; write += 1) await member.comment(post);
    return { member, post };
  }

  it('blocks for no longer if the clock of the machine is set back', async () => {
    const { member, post } = await exhausted();
    app().clock.set(addMilliseconds(app().clock.now(), -10 * MINUTE).toISOString());
    const rejected = await member.delete(`/posts/${post}`);
    await expectApiError(rejected, 429, 'too_many_requests');
    expect(Number(rejected.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    app().clock.advance(60 * SECOND);
    expect((await member.delete(`/posts/${post}`)).status).toBe(200);
  });

  it('C148 returns the remaining writes with each comment and deletion', async () => {
    const member = await Member.join(app());
    const { id: post } = await member.publish();
    const created = await member.post(`/posts/${post}/comments`, { text: 'Hi' });
    const { id } = (await created.json()) as { id: string };
    const policy = `"writes-minute";q=${LIMIT};w=60`;
    expect(limitsOf(created)).toEqual([policy, '"writes-minute";r=2;t=60']);
    const deleted = await member.delete(`/comments/${id}`);
    expect(limitsOf(deleted)).toEqual([policy, '"writes-minute";r=1;t=60']);
    const last = await member.delete(`/posts/${post}`);
    expect([last.status, ...limitsOf(last)]).toEqual([200, policy, '"writes-minute";r=0;t=60']);
  });

  it('C148 neither counts nor rejects reads and publishes, which have a monthly quota', async () => {
    const { member, post } = await exhausted();
    expect((await member.get(`/posts/${post}/comments`)).status).toBe(200);
    const published = await member.post('/posts', { content: 'Hello' });
    expect([published.status, limitsOf(published)[0]]).toEqual([
      201,
      expect.stringMatching(/^"posts-month"/),
    ]);
  });

  it('C148 counts all grants of a user to the app together, and each user and each app separately', async () => {
    const { member, post } = await exhausted();
    const { user, client } = member;
    const otherGrant = await Member.join(app(), { user, client });
    await expectApiError(await otherGrant.delete(`/posts/${post}`), 429, 'too_many_requests');
    const otherApp = await Member.join(app(), { user });
    await otherApp.comment(post);
    const otherUser = await Member.join(app(), { client });
    await otherUser.comment((await otherUser.publish()).id);
    await expectApiError(await member.delete(`/posts/${post}`), 429, 'too_many_requests');
  });

  it('C148 counts requests that fail and repeats of an Idempotency-Key, and stores no result of a rejected request', async () => {
    const member = await Member.join(app());
    const { id: post } = await member.publish();
    const add = (key: string, body = '{"text":"Hi"}') =>
      member.postRaw(`/posts/${post}/comments`, body, {
        'content-type': 'application/json',
        'idempotency-key': key,
      });
    expect((await member.delete(UNKNOWN_COMMENT)).status).toBe(404);
    expect((await add('first')).status).toBe(201);
    expect((await add('first')).headers.get('idempotency-replayed')).toBe('true');
    await expectApiError(await add('first'), 429, 'too_many_requests');
    await expectApiError(await add('second'), 429, 'too_many_requests');
    app().clock.advance(61 * SECOND);
    expect((await add('second', '{"text":"Other"}')).status).toBe(201);
  });

  it('C148 applies after the checks of token and scope, and before the body is read', async () => {
    const { member, post } = await exhausted();
    const path = `/posts/${post}/comments`;
    const { user, client } = member;
    const reader = await Member.join(app(), { user, client, scopes: ['posts.read'] });
    for (let call = 0; call <= LIMIT; call += 1)
      await expectApiError(await reader.postRaw(path, '{'), 403, 'insufficient_scope');
    const anonymous = await app().fetch(`/dev/v1${path}`, { method: 'POST', body: '{' });
    await expectApiError(anonymous, 401, 'unauthorized');
    await expectApiError(await member.postRaw(path, 'no JSON'), 429, 'too_many_requests');
  });
});

onOneEngine('The limit of writes of an app for a user, switched off', (database) => {
  const app = useTestApp(database, rateLimits({ 'grant-writes-per-minute': UNLIMITED }));

  it('C148 accepts any number, without RateLimit headers', async () => {
    const member = await Member.join(app());
    const { id: post } = await member.publish();
    for (let write = 1; write <= 61; write += 1) await member.comment(post);
    const response = await member.delete(`/posts/${post}`);
    expect([response.status, ...limitsOf(response)]).toEqual([200, null, null]);
  });
});
