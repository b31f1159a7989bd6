import { DAY, MINUTE } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { IdempotencyKey } from '../../src/platform/http/idempotency/idempotency-key.entity.js';
import { Comment } from '../../src/modules/comments/comment.entity.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { Retention } from '../../src/modules/operations/retention.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member, type PostBody } from '../support/member.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const BODY = { content: 'Bring a chair', tags: ['party'], latitude: 37.5, longitude: -122.25 };

onOneEngine('Idempotency-Key', (database) => {
  const app = useTestApp(database);
  let keyCount = 0;
  const newKey = () => `key-${(keyCount += 1)}`;

  const send = (member: Member, path: string, body: unknown, key: string) =>
    member.postRaw(path, JSON.stringify(body), {
      'content-type': 'application/json',
      'idempotency-key': key,
    });
  const publish = (member: Member, key: string, body: unknown = BODY) =>
    send(member, '/posts', body, key);
  const replayHeader = (response: Response) => response.headers.get('idempotency-replayed');
  const usedQuota = async ({ client }: Member) =>
    (await app().service(QuotaService).status(client.clientId)).used;
  const setLimit = ({ client }: Member, limit: number) =>
    app().service(QuotaService).set(client.clientId, { limit }, { actor: 'test' });
  const countPosts = ({ user }: Member) =>
    app().dataSource.manager.countBy(Post, { userId: user.id });
  const storedKeys = ({ client }: Member) =>
    app().dataSource.manager.findBy(IdempotencyKey, { clientId: client.clientId });

  it('C97 returns the same bytes for the same request and key, marks them as replayed, and publishes once', async () => {
    const member = await Member.join(app());
    const key = newKey();
    const first = await publish(member, key);
    app().clock.advance(MINUTE);
    const second = await publish(member, key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect([replayHeader(first), replayHeader(second)]).toEqual([null, 'true']);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect([await usedQuota(member), await countPosts(member)]).toEqual([1, 1]);
  });

  it('C97 adds a comment once and replays the same response', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const key = newKey();
    const body = { text: 'Count me in', parentId: null };
    const first = await send(member, `/posts/${id}/comments`, body, key);
    const second = await send(member, `/posts/${id}/comments`, { text: 'Count me in' }, key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect([replayHeader(first), replayHeader(second)]).toEqual([null, 'true']);
    expect(await second.text()).toBe(await first.text());
    expect(await app().dataSource.manager.countBy(Comment, { postId: id })).toBe(1);
  });

  it('C97 replays the response after the post and its comment were deleted', async () => {
    const member = await Member.join(app());
    const [postKey, commentKey] = [newKey(), newKey()];
    const post = (await (await publish(member, postKey)).json()) as PostBody;
    const path = `/posts/${post.id}/comments`;
    const comment = await json(await send(member, path, { text: 'Hi' }, commentKey));
    expect((await member.delete(`/posts/${post.id}`)).status).toBe(200);
    expect(await (await publish(member, postKey)).json()).toEqual(post);
    expect(await (await send(member, path, { text: 'Hi' }, commentKey)).json()).toEqual(comment);
    await expectApiError(await send(member, path, { text: 'Hi' }, newKey()), 404, 'not_found');
  });

  it('C97 treats another order of fields and an explicit null as the same body', async () => {
    const member = await Member.join(app());
    const key = newKey();
    const { content, ...rest } = BODY;
    const { id } = (await (await publish(member, key)).json()) as PostBody;
    const again = await publish(member, key, { ...rest, title: null, content });
    expect(replayHeader(again)).toBe('true');
    expect(await again.json()).toEqual(expect.objectContaining({ id }));
  });

  it('C97 stores neither the body nor the key', async () => {
    const member = await Member.join(app());
    await publish(member, newKey(), { content: 'A secret of the neighbourhood' });
    const { id } = await member.publish();
    await send(member, `/posts/${id}/comments`, { text: 'Another secret' }, newKey());
    const rows = await storedKeys(member);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toMatch(/secret|key-\d/i);
  });

  it('C99 rejects the same key with another body or on another route with 422', async () => {
    const member = await Member.join(app());
    const key = newKey();
    const { id } = (await (await publish(member, key)).json()) as PostBody;
    const rejected = [
      await publish(member, key, { ...BODY, latitude: 37.6 }),
      await publish(member, key, { content: BODY.content }),
      await send(member, `/posts/${id}/comments`, { text: 'Hi' }, key),
    ];
    for (const response of rejected) {
      const { error_description } = await expectApiError(response, 422, 'idempotency_key_reused');
      expect(error_description).toContain('new key');
    }
    expect([await usedQuota(member), await countPosts(member)]).toEqual([1, 1]);
    expect(await app().dataSource.manager.countBy(Comment, { postId: id })).toBe(0);
  });

  it('C99 scopes a key to one user and one app', async () => {
    const member = await Member.join(app());
    const otherUser = await Member.join(app(), { client: member.client });
    const otherApp = await Member.join(app(), { user: member.user });
    const key = newKey();
    const responses = [];
    for (const each of [member, otherUser, otherApp]) responses.push(await publish(each, key));
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(responses.map(replayHeader)).toEqual([null, null, null]);
    const posts = await Promise.all(responses.map((response) => json<PostBody>(response)));
    expect(new Set(posts.map(({ id }) => id)).size).toBe(3);
  });

  it.each([
    ['an empty value', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a letter beyond ASCII', 'caf\u00e9'],
    ['a space inside', 'two words'],
    ['a tab inside', 'two\twords'],
  ])('C100 rejects %s as a key', async (_, key) => {
    const member = await Member.join(app());
    const body = await expectFieldErrors(
      await publish(member, key),
      'Idempotency-Key invalid_format',
    );
    expect(body.errors?.[0]?.message).toContain('1 to 255 visible ASCII characters');
    expect(await countPosts(member)).toBe(0);
  });

  it('C100 accepts 255 characters, and treats quotes and letter case as part of the key', async () => {
    const member = await Member.join(app());
    expect((await publish(member, 'k'.repeat(255))).status).toBe(201);
    expect(replayHeader(await publish(member, 'quoted'))).toBeNull();
    const quoted = await publish(member, '"quoted"');
    expect([quoted.status, replayHeader(quoted)]).toEqual([201, null]);
    expect(replayHeader(await publish(member, '"quoted"'))).toBe('true');
    expect(replayHeader(await publish(member, 'Quoted'))).toBeNull();
  });

  it('C100 rejects two Idempotency-Key headers', async () => {
    const member = await Member.join(app());
    const body = JSON.stringify(BODY);
    // `fetch` would join the two into one header.
    const response = await sendBytes(
      app().baseUrl,
      [
        ...requestHead(app().baseUrl, 'POST', '/dev/v1/posts'),
        `Authorization: Bearer ${member.token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Idempotency-Key: one',
        'Idempotency-Key: two',
      ],
      body,
    );
    await expectFieldErrors(response, 'Idempotency-Key invalid_format');
  });

  it('C101 does not store a rejected request, and accepts a corrected or later one with the same key', async () => {
    const member = await Member.join(app());
    const key = newKey();
    await expectFieldErrors(await publish(member, key, { content: ' ' }), 'content blank');
    await setLimit(member, 0);
    await expectApiError(await publish(member, key), 429, 'quota_exceeded');
    expect(await storedKeys(member)).toEqual([]);
    await setLimit(member, 1);
    const response = await publish(member, key, { content: 'Corrected' });
    expect([response.status, replayHeader(response)]).toEqual([201, null]);
    const replay = await publish(member, key, { content: 'Corrected' });
    expect([replay.status, replayHeader(replay)]).toEqual([201, 'true']);
  });

  it('C101 does not store a comment that was rejected for its parent', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    const parent = await member.comment(post.id);
    const key = newKey();
    const path = `/posts/${post.id}/comments`;
    const unknown = newId('cmt', app().clock.now());
    await expectFieldErrors(
      await send(member, path, { text: 'Hi', parentId: unknown }, key),
      'parentId invalid_reference',
    );
    expect(await storedKeys(member)).toEqual([]);
    const response = await send(member, path, { text: 'Hi', parentId: parent.id }, key);
    expect([response.status, replayHeader(response)]).toEqual([201, null]);
  });

  it('C102 treats the key as new after 24 hours, before and after its row is pruned', async () => {
    const member = await Member.join(app());
    const [expired, pruned] = [newKey(), newKey()];
    const first = (await (await publish(member, expired)).json()) as PostBody;
    await publish(member, pruned);
    app().clock.advance(DAY - 1);
    // The first access token has expired.
    const fresh = await Member.join(app(), member);
    expect(replayHeader(await publish(fresh, expired))).toBe('true');
    app().clock.advance(1);
    const second = await publish(fresh, expired, { content: 'Another body' });
    expect([second.status, replayHeader(second)]).toEqual([201, null]);
    expect(((await second.json()) as PostBody).id).not.toBe(first.id);
    expect(replayHeader(await publish(fresh, expired, { content: 'Another body' }))).toBe('true');
    // Expired keys are pruned after a margin of one minute.
    app().clock.advance(2 * MINUTE);
    expect(await storedKeys(member)).toHaveLength(2);
    await app().service(Retention).run();
    expect(await storedKeys(member)).toHaveLength(1);
    expect(replayHeader(await publish(fresh, pruned))).toBeNull();
    expect(replayHeader(await publish(fresh, expired, { content: 'Another body' }))).toBe('true');
  });
});
