import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { onEachEngine } from '../../support/engines.js';
import { useTestApp } from '../../support/test-app.js';
import { Member } from './member.js';
import { expectInvalid, expectRefusal } from './refusal.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TEXT_TYPE = { 'content-type': 'text/plain' };
const TOO_LONG = ' '.repeat(262_145);
const BROKEN = [
  ['a body that is no JSON', 'application/json', '{'],
  ['a body that breaks a rule', 'application/json', '{}'],
  ['a body of another type', 'text/plain', 'Hi'],
  ['a body that is too long', 'application/json', TOO_LONG],
] as const;
const NEVER = 'post_01kahq5f3veqdr8bn3tdmx3q0a';
const NO_COMMENT = 'cmt_01kahq5f3veqdr8bn3tdmx3q0a';

/** Each test breaks two rules at once: the one that comes first is told. */
onEachEngine('The order in which a call is looked at', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '3' });
  let member: Member;
  let reader: Member;
  beforeAll(async () => {
    member = await Member.join(app());
    reader = await Member.join(app(), { scopes: ['posts.read'] });
  });

  it('path, method, token: 404, then 405, then 401', async () => {
    await expectRefusal(await app().fetch('/dev/v1/nope', { method: 'PUT' }), 404, 'not_found');
    const put = await app().fetch('/dev/v1/me', { method: 'PUT' });
    await expectRefusal(put, 405, 'method_not_allowed');
  });

  it.each(BROKEN)('C39 C40 token and scope before %s: 401, then 403', async (_, type, body) => {
    const headers = { 'content-type': type };
    const answer = await app().fetch('/dev/v1/posts', { method: 'POST', headers, body });
    await expectRefusal(answer, 401, 'unauthorized');
    await expectRefusal(await reader.postRaw('/posts', body, headers), 403, 'insufficient_scope');
  });

  it('type before length, length before syntax: 415, then 413, then 400', async () => {
    const typed = await member.postRaw('/posts', TOO_LONG, TEXT_TYPE);
    await expectRefusal(typed, 415, 'unsupported_media_type');
    const long = await member.postRaw('/posts', `{${TOO_LONG}`, JSON_TYPE);
    await expectRefusal(long, 413, 'payload_too_large');
  });

  it.each(['x', NEVER, NEVER.toUpperCase(), '%00', 'usr_01kahq5f3veqdr8bn3tdmx3q0a'])(
    'body before the post %s: 415, 413 and 400, then 404',
    async (id) => {
      const path = `/posts/${id}/comments`;
      await expectRefusal(
        await member.postRaw(path, 'x', TEXT_TYPE),
        415,
        'unsupported_media_type',
      );
      await expectRefusal(
        await member.postRaw(path, TOO_LONG, JSON_TYPE),
        413,
        'payload_too_large',
      );
      await expectRefusal(await member.postRaw(path, '{', JSON_TYPE), 400, 'invalid_request');
      await expectInvalid(await member.post(path, {}), 'text required');
      await expectInvalid(await member.post(path, { text: 'Hi', txt: 1 }), 'txt unknown_field');
      await expectRefusal(await member.post(path, { text: 'Hi' }), 404, 'not_found');
    },
  );

  it.each(['x', NEVER])('query before the post %s: 400, then 404', async (id) => {
    await expectInvalid(await member.get(`/posts/${id}/comments?page=0`), 'page too_small');
    await expectRefusal(await member.get(`/posts/${id}/comments?page=1`), 404, 'not_found');
  });

  it.each(['x', NEVER])(
    'post %s before the comment that is replied to: 404, then 400',
    async (id) => {
      const reply = { text: 'Hi', parentId: NO_COMMENT };
      await expectRefusal(await member.post(`/posts/${id}/comments`, reply), 404, 'not_found');
      const post = await member.publish();
      await expectInvalid(
        await member.post(`/posts/${post.id}/comments`, reply),
        'parentId invalid_reference',
      );
      expect(await app().dataSource.manager.countBy(Comment, { userId: member.user.id })).toBe(0);
    },
  );

  it('body before the quota: 400, then 429', async () => {
    const spender = await Member.join(app());
    for (let post = 0; post < 3; post += 1) await spender.publish();
    await expectRefusal(await spender.postRaw('/posts', '{', JSON_TYPE), 400, 'invalid_request');
    await expectInvalid(await spender.post('/posts', {}), 'one_of_required');
    await expectRefusal(await spender.post('/posts', { content: 'Hi' }), 429, 'quota_exceeded');
  });
});
