import { DAY, MINUTE } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';
import { IdempotencyKey } from '../../src/idempotency/idempotency-key.entity.js';
import { Comment } from '../../src/modules/comments/comment.entity.js';
import { Post } from '../../src/modules/posts/post.entity.js';
import { ApiCall } from '../../src/modules/quota/api-call.entity.js';
import { CallLog } from '../../src/modules/quota/call-log.service.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { Prune } from '../../src/operations/jobs/prune.service.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { type CommentBody, Member, type PostBody } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const BODY = { content: 'Bring a chair', tags: ['party'], latitude: 37.5, longitude: -122.25 };

onOneEngine('Idempotency-Key', (database) => {
  const app = useTestApp(database);
  let keys = 0;
  const newKey = () => `key-${(keys += 1)}`;

  const send = (member: Member, path: string, body: unknown, key: string) =>
    member.postRaw(path, JSON.stringify(body), {
      'content-type': 'application/json',
      'idempotency-key': key,
    });
  const publish = (member: Member, key: string, body: unknown = BODY) =>
    send(member, '/posts', body, key);
  const isReplay = (answer: Response) => answer.headers.get('idempotency-replayed');
  const used = async ({ client }: Member) =>
    (await app().service(QuotaService).status(client.clientId)).used;
  const posts = ({ user }: Member) => app().dataSource.manager.countBy(Post, { userId: user.id });
  const stored = ({ client }: Member) =>
    app().dataSource.manager.findBy(IdempotencyKey, { clientId: client.clientId });

  it('C97 The same request with the same key gets the same bytes, marked as replayed, and is made and counted once', async () => {
    const member = await Member.join(app());
    const key = newKey();
    const first = await publish(member, key);
    app().clock.advance(MINUTE);
    const second = await publish(member, key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect([isReplay(first), isReplay(second)]).toEqual([null, 'true']);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect([await used(member), await posts(member)]).toEqual([1, 1]);
  });

  it('C97 Only the publish itself is recorded as metered; the replay is recorded as a call', async () => {
    const member = await Member.join(app());
    const key = newKey();
    await publish(member, key);
    await publish(member, key);
    await app().service(CallLog).flush();
    const { clientId } = member.client;
    const calls = await app().dataSource.manager.findBy(ApiCall, { clientId });
    expect(calls.map(({ route, status, metered }) => [route, status, metered])).toEqual(
      expect.arrayContaining([
        ['POST /dev/v1/posts', 201, true],
        ['POST /dev/v1/posts', 201, false],
      ]),
    );
    expect(calls).toHaveLength(2);
  });

  it('C97 A comment is added once, too, and its replay reads the same', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const key = newKey();
    const body = { text: 'Count me in', parentId: null };
    const first = await send(member, `/posts/${id}/comments`, body, key);
    const second = await send(member, `/posts/${id}/comments`, { text: 'Count me in' }, key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect([isReplay(first), isReplay(second)]).toEqual([null, 'true']);
    expect(await second.text()).toBe(await first.text());
    expect(await app().dataSource.manager.countBy(Comment, { postId: id })).toBe(1);
  });

  it('C97 What was made is told again, though it has been deleted since', async () => {
    const member = await Member.join(app());
    const [postKey, commentKey] = [newKey(), newKey()];
    const post = (await (await publish(member, postKey)).json()) as PostBody;
    const path = `/posts/${post.id}/comments`;
    const comment = (await (
      await send(member, path, { text: 'Hi' }, commentKey)
    ).json()) as CommentBody;
    expect((await member.delete(`/posts/${post.id}`)).status).toBe(200);
    expect(await (await publish(member, postKey)).json()).toEqual(post);
    expect(await (await send(member, path, { text: 'Hi' }, commentKey)).json()).toEqual(comment);
    await expectApiError(await send(member, path, { text: 'Hi' }, newKey()), 404, 'not_found');
  });

  it('C97 Members in another order and an explicit null are the same body', async () => {
    const member = await Member.join(app());
    const key = newKey();
    const { content, ...rest } = BODY;
    const { id } = (await (await publish(member, key)).json()) as PostBody;
    const again = await publish(member, key, { ...rest, title: null, content });
    expect(isReplay(again)).toBe('true');
    expect(await again.json()).toEqual(expect.objectContaining({ id }));
  });

  it('C97 stores nothing of what was sent', async () => {
    const member = await Member.join(app());
    await publish(member, newKey(), { content: 'A secret of the neighbourhood' });
    const { id } = await member.publish();
    await send(member, `/posts/${id}/comments`, { text: 'Another secret' }, newKey());
    const rows = await stored(member);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toMatch(/secret|key-\d/i);
  });

  it('C99 The same key with another body or on another route is refused with 422', async () => {
    const member = await Member.join(app());
    const key = newKey();
    const { id } = (await (await publish(member, key)).json()) as PostBody;
    const refusals = [
      await publish(member, key, { ...BODY, latitude: 37.6 }),
      await publish(member, key, { content: BODY.content }),
      await send(member, `/posts/${id}/comments`, { text: 'Hi' }, key),
    ];
    for (const answer of refusals) {
      const { error_description } = await expectApiError(answer, 422, 'idempotency_key_reused');
      expect(error_description).toContain('new key');
    }
    expect([await used(member), await posts(member)]).toEqual([1, 1]);
    expect(await app().dataSource.manager.countBy(Comment, { postId: id })).toBe(0);
  });

  it('C99 The same key on the comments of another post is another route', async () => {
    const member = await Member.join(app());
    const [one, two] = [await member.publish(), await member.publish()];
    const key = newKey();
    const answer = await send(member, `/posts/${one.id}/comments`, { text: 'Hi' }, key);
    expect(answer.status).toBe(201);
    await expectApiError(
      await send(member, `/posts/${two.id}/comments`, { text: 'Hi' }, key),
      422,
      'idempotency_key_reused',
    );
  });

  it('C99 Keys of another user and of another app are independent', async () => {
    const member = await Member.join(app());
    const neighbour = await Member.join(app(), { client: member.client });
    const elsewhere = await Member.join(app(), { user: member.user });
    const key = newKey();
    const answers = [];
    for (const each of [member, neighbour, elsewhere]) answers.push(await publish(each, key));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(answers.map(isReplay)).toEqual([null, null, null]);
    const ids = await Promise.all(answers.map(async (answer) => (await answer.json()) as PostBody));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(3);
  });

  it.each([
    ['an empty one', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a letter beyond ASCII', 'caf\u00e9'],
    ['a space inside', 'two words'],
    ['a tab inside', 'two\twords'],
  ])('C100 %s is no key', async (_, key) => {
    const member = await Member.join(app());
    const body = await expectFieldErrors(
      await publish(member, key),
      'Idempotency-Key invalid_format',
    );
    expect(body.errors?.[0]?.message).toContain('1 to 255 visible ASCII characters');
    expect(await posts(member)).toBe(0);
  });

  it('C100 255 characters and quotes are fine, and the quotes are part of the key', async () => {
    const member = await Member.join(app());
    expect((await publish(member, 'k'.repeat(255))).status).toBe(201);
    expect(isReplay(await publish(member, 'quoted'))).toBeNull();
    const quoted = await publish(member, '"quoted"');
    expect([quoted.status, isReplay(quoted)]).toEqual([201, null]);
    expect(isReplay(await publish(member, '"quoted"'))).toBe('true');
    expect(isReplay(await publish(member, 'Quoted'))).toBeNull();
  });

  it('C100 What is no key is told after all that is wrong with the body, in one answer', async () => {
    const member = await Member.join(app());
    const bad = { colour: 1, latitude: 91, visibility: 'all' };
    await expectFieldErrors(
      await publish(member, '', bad),
      'latitude too_large',
      'longitude pair_required',
      'visibility not_allowed_value',
      'one_of_required',
      'colour unknown_field',
      'Idempotency-Key invalid_format',
    );
    const { id } = await member.publish();
    await expectFieldErrors(
      await send(member, `/posts/${id}/comments`, { text: ' ' }, 'two words'),
      'text blank',
      'Idempotency-Key invalid_format',
    );
  });

  it('C100 Two headers are no key', async () => {
    const member = await Member.join(app());
    const headers = new Headers({ authorization: `Bearer ${member.token}` });
    headers.set('content-type', 'application/json');
    headers.append('idempotency-key', 'one');
    headers.append('idempotency-key', 'two');
    const answer = await app().fetch('/dev/v1/posts', {
      method: 'POST',
      headers,
      body: JSON.stringify(BODY),
    });
    await expectFieldErrors(answer, 'Idempotency-Key invalid_format');
  });

  it('C101 A refused attempt is not stored: the corrected one, or a later one, is made', async () => {
    const member = await Member.join(app());
    const key = newKey();
    await expectFieldErrors(await publish(member, key, { content: ' ' }), 'content blank');
    const set = (limit: number) =>
      app().service(QuotaService).set(member.client.clientId, { limit }, { actor: 'test' });
    await set(0);
    await expectApiError(await publish(member, key), 429, 'quota_exceeded');
    expect(await stored(member)).toEqual([]);
    await set(1);
    const answer = await publish(member, key, { content: 'Corrected' });
    expect([answer.status, isReplay(answer)]).toEqual([201, null]);
    const replay = await publish(member, key, { content: 'Corrected' });
    expect([replay.status, isReplay(replay)]).toEqual([201, 'true']);
  });

  it('C101 A comment that was refused for its post or its parent is not stored either', async () => {
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
    expect(await stored(member)).toEqual([]);
    const answer = await send(member, path, { text: 'Hi', parentId: parent.id }, key);
    expect([answer.status, isReplay(answer)]).toEqual([201, null]);
  });

  it('C102 A day later the key is new, whether its row was pruned or not', async () => {
    const member = await Member.join(app());
    const [left, pruned] = [newKey(), newKey()];
    const first = (await (await publish(member, left)).json()) as PostBody;
    await publish(member, pruned);
    app().clock.advance(DAY - 1);
    const fresh = await Member.join(app(), member);
    expect(isReplay(await publish(fresh, left))).toBe('true');
    app().clock.advance(1);
    const second = await publish(fresh, left, { content: 'Another body' });
    expect([second.status, isReplay(second)]).toEqual([201, null]);
    expect(((await second.json()) as PostBody).id).not.toBe(first.id);
    expect(isReplay(await publish(fresh, left, { content: 'Another body' }))).toBe('true');
    app().clock.advance(2 * MINUTE);
    expect(await stored(member)).toHaveLength(2);
    await app().service(Prune).run();
    expect(await stored(member)).toHaveLength(1);
    expect(isReplay(await publish(fresh, pruned))).toBeNull();
    expect(isReplay(await publish(fresh, left, { content: 'Another body' }))).toBe('true');
  });
});
