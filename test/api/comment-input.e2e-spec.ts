import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import {
  type CommentBody,
  footprintOf,
  Member,
  type PageBody,
  UNTOUCHED,
} from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const UNKNOWN_COMMENT_ID = 'cmt_01kahq5f3veqdr8bn3tdmx3q0a';

onOneEngine('POST /posts/:id/comments', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let postId: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id: postId } = await member.publish());
  });

  const comment = (body: object, post = postId, author = member) =>
    author.post(`/posts/${post}/comments`, body);

  /** A member with one post and one comment on it. */
  async function memberWithComment(): Promise<[Member, postId: string, commentId: string]> {
    const author = await Member.join(app());
    const post = await author.publish();
    return [author, post.id, (await author.comment(post.id)).id];
  }

  it('C80 C81 rejects invalid fields, stores nothing and charges no quota', async () => {
    const [author, post] = await memberWithComment();
    for (const [body, ...violations] of [
      [{}, 'text required'],
      [{ text: '' }, 'text blank'],
      [{ text: 1 }, 'text wrong_type'],
      [{ text: 'x'.repeat(2001) }, 'text too_long'],
      [{ text: 'a\u0000' }, 'text control_character'],
      [{ text: '\ud800' }, 'text not_well_formed'],
      [{ text: 'a', parentID: UNKNOWN_COMMENT_ID }, 'parentID unknown_field'],
      [{ parentId: 1 }, 'text required', 'parentId wrong_type'],
    ] as const)
      await expectFieldErrors(await comment(body, post, author), ...violations);
    expect(await footprintOf(author)).toEqual(UNTOUCHED);
  });

  describe('parentId', () => {
    it('C81 treats null like an absent parentId', async () => {
      for (const body of [{ text: 'a' }, { text: 'a', parentId: null }]) {
        const response = await comment(body);
        expect(response.status).toBe(201);
        expect(await json(response)).toMatchObject({ parentId: null });
      }
    });

    it('C81 rejects a parentId that is not the id of a comment, and stores nothing', async () => {
      const [author, post, id] = await memberWithComment();
      for (const parentId of [
        '',
        ' ',
        UNKNOWN_COMMENT_ID,
        UNKNOWN_COMMENT_ID.toUpperCase(),
        `${UNKNOWN_COMMENT_ID} `,
        id.toUpperCase(),
        `${id} `,
        'post_01kahq5f3veqdr8bn3tdmx3q0a',
        'x'.repeat(5000),
        "' OR 1=1 --",
        '\ud800',
        '\u0000',
      ])
        await expectFieldErrors(
          await comment({ text: 'a', parentId }, post, author),
          'parentId invalid_reference',
        );
      expect(await footprintOf(author)).toEqual(UNTOUCHED);
    });

    it('C81 rejects a parentId of a comment on another post, of a deleted comment and of a post', async () => {
      const onOtherPost = await member.comment(postId);
      const [, , foreign] = await memberWithComment();
      const { id } = await member.publish();
      const deleted = await member.comment(id);
      await member.delete(`/comments/${deleted.id}`);
      for (const parentId of [onOtherPost.id, foreign, deleted.id, id])
        await expectFieldErrors(
          await comment({ text: 'a', parentId }, id),
          'parentId invalid_reference',
        );
      expect(await json(await member.get(`/posts/${id}/comments`))).toMatchObject({ data: [] });
    });

    it('C83 accepts replies to replies, 50 levels deep', async () => {
      const { id } = await member.publish();
      const chain: CommentBody[] = [];
      for (let depth = 1; depth <= 50; depth += 1) {
        app().clock.advance(1);
        chain.unshift(await member.comment(id, `level ${depth}`, chain[0]?.id ?? null));
      }
      const { data } = await json<PageBody<CommentBody>>(
        await member.get(`/posts/${id}/comments?limit=50`),
      );
      expect(data).toEqual(chain);
      expect(data.map(({ parentId }) => parentId)).toEqual([
        ...chain.slice(1).map((parent) => parent.id),
        null,
      ]);
    });
  });

  it("C82 returns 404 for a post that never existed, was deleted or is another user's, unless the body is invalid", async () => {
    const { id: deleted } = await member.publish();
    await member.delete(`/posts/${deleted}`);
    const [author] = await memberWithComment();
    for (const post of ['post_01kahq5f3veqdr8bn3tdmx3q0a', deleted, postId]) {
      for (const parentId of [null, UNKNOWN_COMMENT_ID, 'x'])
        await expectApiError(
          await comment({ text: 'a', parentId }, post, author),
          404,
          'not_found',
        );
      await expectFieldErrors(await comment({}, post, author), 'text required');
    }
    await expectApiError(await comment({ text: 'a' }, deleted), 404, 'not_found');
    expect(await footprintOf(author)).toEqual(UNTOUCHED);
  });
});
