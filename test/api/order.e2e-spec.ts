import { Post } from '../../src/modules/posts/post.entities.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine, onOneServer } from '../support/database.js';
import { Member } from '../support/member.js';
import { isStatementRunning, useTestApp } from '../support/test-app.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TEXT_TYPE = { 'content-type': 'text/plain' };
const TOO_LONG = ' '.repeat(262_145);
const INVALID_BODIES = [
  ['malformed JSON', 'application/json', '{'],
  ['an invalid body', 'application/json', '{}'],
  ['a body of another type', 'text/plain', 'Hi'],
  ['a body that is too long', 'application/json', TOO_LONG],
] as const;
const UNKNOWN_POST_ID = 'post_01kahq5f3veqdr8bn3tdmx3q0a';

const comment = (member: Member, path: string, { text, key }: { text: string; key: string }) =>
  member.postRaw(path, JSON.stringify({ text }), { ...JSON_TYPE, 'idempotency-key': key });
const publish = (member: Member, { content, key }: { content: string; key: string }) =>
  member.postRaw('/posts', JSON.stringify({ content }), { ...JSON_TYPE, 'idempotency-key': key });

/** Each rejected request breaks at least two rules. The response reports the rule that the server checks first. */
onOneEngine('Order of checks', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '3' });
  let member: Member;
  let reader: Member;
  beforeAll(async () => {
    member = await Member.join(app());
    reader = await Member.join(app(), { scopes: ['posts.read'] });
  });

  it('checks path, method and token: 404, then 405, then 401', async () => {
    await expectApiError(await app().fetch('/dev/v1/nope', { method: 'PUT' }), 404, 'not_found');
    for (const path of ['/dev/v1/me', '/dev/v1/quota']) {
      const put = await app().fetch(path, { method: 'PUT' });
      await expectApiError(put, 405, 'method_not_allowed');
      await expectApiError(await app().fetch(`${path}?page=0`), 401, 'unauthorized');
    }
  });

  it.each(INVALID_BODIES)(
    'C39 C40 checks token and scope before %s: 401, then 403',
    async (_, type, body) => {
      const headers = { 'content-type': type };
      const response = await app().fetch('/dev/v1/posts', { method: 'POST', headers, body });
      await expectApiError(response, 401, 'unauthorized');
      await expectApiError(
        await reader.postRaw('/posts', body, headers),
        403,
        'insufficient_scope',
      );
    },
  );

  it('checks type before length and length before syntax: 415, then 413, then 400', async () => {
    const typed = await member.postRaw('/posts', TOO_LONG, TEXT_TYPE);
    await expectApiError(typed, 415, 'unsupported_media_type');
    const long = await member.postRaw('/posts', `{${TOO_LONG}`, JSON_TYPE);
    await expectApiError(long, 413, 'payload_too_large');
  });

  it.each([
    'x',
    UNKNOWN_POST_ID,
    UNKNOWN_POST_ID.toUpperCase(),
    '%00',
    'usr_01kahq5f3veqdr8bn3tdmx3q0a',
  ])('checks the body before the post %s: 415, 413 and 400, then 404', async (id) => {
    const path = `/posts/${id}/comments`;
    await expectApiError(await member.postRaw(path, 'x', TEXT_TYPE), 415, 'unsupported_media_type');
    await expectApiError(await member.postRaw(path, TOO_LONG, JSON_TYPE), 413, 'payload_too_large');
    await expectApiError(await member.postRaw(path, '{', JSON_TYPE), 400, 'invalid_request');
    await expectFieldErrors(await member.post(path, {}), 'text required');
    await expectFieldErrors(await member.post(path, { text: 'Hi', txt: 1 }), 'txt unknown_field');
    await expectApiError(await member.post(path, { text: 'Hi' }), 404, 'not_found');
  });

  it.each(['x', UNKNOWN_POST_ID])(
    'checks the query before the post %s: 400, then 404',
    async (id) => {
      await expectFieldErrors(await member.get(`/posts/${id}/comments?page=0`), 'page too_small');
      await expectApiError(await member.get(`/posts/${id}/comments?page=1`), 404, 'not_found');
    },
  );

  it('C107 checks the body before the quota: 400, then 429', async () => {
    const spender = await Member.join(app());
    for (let post = 0; post < 3; post += 1) await spender.publish();
    await expectApiError(await spender.postRaw('/posts', '{', JSON_TYPE), 400, 'invalid_request');
    await expectFieldErrors(await spender.post('/posts', {}), 'one_of_required');
    await expectApiError(await spender.post('/posts', { content: 'Hi' }), 429, 'quota_exceeded');
    expect((await spender.get('/quota')).status).toBe(200);
  });

  it('C100 checks the key after token, scope, type, length and JSON syntax, together with the fields, and before the post', async () => {
    const invalidKey = { ...JSON_TYPE, 'idempotency-key': 'two words' };
    const path = `/posts/${UNKNOWN_POST_ID}/comments`;
    const init = { method: 'POST', headers: invalidKey, body: '{}' };
    await expectApiError(await app().fetch(`/dev/v1${path}`, init), 401, 'unauthorized');
    await expectApiError(await reader.postRaw(path, '{}', invalidKey), 403, 'insufficient_scope');
    const typed = await member.postRaw(path, '{}', { ...invalidKey, ...TEXT_TYPE });
    await expectApiError(typed, 415, 'unsupported_media_type');
    await expectApiError(
      await member.postRaw(path, TOO_LONG, invalidKey),
      413,
      'payload_too_large',
    );
    const { errors } = await expectApiError(
      await member.postRaw(path, '{', invalidKey),
      400,
      'invalid_request',
    );
    expect(errors).toBeUndefined();
    const key = 'Idempotency-Key invalid_format';
    await expectFieldErrors(await member.postRaw(path, '{}', invalidKey), 'text required', key);
    await expectFieldErrors(await member.postRaw(path, '{"text":"Hi"}', invalidKey), key);
  });

  it('C97 C99 checks the body, a used key, then the post: 400, then 201 (replay) or 422, then 404', async () => {
    const post = await member.publish();
    const path = `/posts/${post.id}/comments`;
    expect((await comment(member, path, { text: 'Hi', key: 'used' })).status).toBe(201);
    await member.delete(`/posts/${post.id}`);
    await expectFieldErrors(await comment(member, path, { text: ' ', key: 'used' }), 'text blank');
    const replay = await comment(member, path, { text: 'Hi', key: 'used' });
    expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    for (const [otherPath, text] of [
      [path, 'Ho'],
      [`/posts/${UNKNOWN_POST_ID}/comments`, 'Hi'],
      ['/posts/x/comments', 'Hi'],
    ] as const)
      await expectApiError(
        await comment(member, otherPath, { text, key: 'used' }),
        422,
        'idempotency_key_reused',
      );
    await expectApiError(await comment(member, path, { text: 'Hi', key: 'new' }), 404, 'not_found');
  });

  it('C97 C99 checks a used key before the quota: 201 (replay) or 422, then 429', async () => {
    const spender = await Member.join(app());
    expect((await publish(spender, { content: 'Hi', key: 'used' })).status).toBe(201);
    for (let post = 0; post < 2; post += 1) await spender.publish();
    const replay = await publish(spender, { content: 'Hi', key: 'used' });
    expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    await expectApiError(
      await publish(spender, { content: 'Ho', key: 'used' }),
      422,
      'idempotency_key_reused',
    );
    await expectApiError(
      await publish(spender, { content: 'Hi', key: 'new' }),
      429,
      'quota_exceeded',
    );
  });
});

onOneServer('Order of checks: key in use', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1' });

  it('C98 checks a key in use before the post and the quota: 409, then 404 and 429', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    // Locks the row of the post, so that the first comment holds its key until this transaction is rolled back.
    const runner = app().dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.increment(Post, { id }, 'likeCount', 1);
    const first = comment(member, `/posts/${id}/comments`, { text: 'Hi', key: 'held' });
    await expect
      .poll(() => isStatementRunning(app(), 'UPDATE posts'), { timeout: 4000 })
      .toBe(true);
    const others = await Promise.all([
      comment(member, `/posts/${UNKNOWN_POST_ID}/comments`, { text: 'Hi', key: 'held' }),
      publish(member, { content: 'Hi', key: 'held' }),
    ]);
    await runner.rollbackTransaction();
    await runner.release();
    for (const response of others) await expectApiError(response, 409, 'idempotency_key_in_use');
    expect((await first).status).toBe(201);
    const absent = await comment(member, `/posts/${UNKNOWN_POST_ID}/comments`, {
      text: 'Hi',
      key: 'free',
    });
    await expectApiError(absent, 404, 'not_found');
    await expectApiError(
      await publish(member, { content: 'Hi', key: 'free' }),
      429,
      'quota_exceeded',
    );
  });
});
