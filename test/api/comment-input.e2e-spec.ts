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

const EMOJI = '\u{1f600}';
const NEVER = 'cmt_01kahq5f3veqdr8bn3tdmx3q0a';

onOneEngine('Comments', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  let postId: string;
  /** Sends what must be refused, and nothing else. */
  let refused: Member;
  let refusedPostId: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id: postId } = await member.publish());
    refused = await Member.join(app());
    ({ id: refusedPostId } = await refused.publish());
    await refused.comment(refusedPostId);
  });
  const comment = (body: object, post = postId) => member.post(`/posts/${post}/comments`, body);
  const refuse = (body: object, post = refusedPostId) =>
    refused.post(`/posts/${post}/comments`, body);

  it.each([
    ['x'],
    ['x'.repeat(2000)],
    [EMOJI.repeat(2000)],
    [' kept as sent '],
    ['a\n\tb\r\nc'],
    ["' OR 1=1 -- \\' <script>"],
    ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467} e\u0301 \u05e9\u05dc\u05d5\u05dd'],
  ])('C80 %j is taken, and listed as it was sent', async (text) => {
    const made = await member.comment(postId, text);
    expect(made.text).toBe(text);
    const { data } = await json<PageBody<CommentBody>>(
      await member.get(`/posts/${postId}/comments?limit=100`),
    );
    expect(data).toContainEqual(made);
  });

  it.each([
    [{}, 'required'],
    [{ text: null }, 'required'],
    [{ text: '' }, 'blank'],
    [{ text: ' \n' }, 'blank'],
    [{ text: '\u200b' }, 'blank'],
    [{ text: 1 }, 'wrong_type'],
    [{ text: ['a'] }, 'wrong_type'],
    [{ text: {} }, 'wrong_type'],
    [{ text: 'x'.repeat(2001) }, 'too_long'],
    [{ text: EMOJI.repeat(2001) }, 'too_long'],
    [{ text: 'a\u0000' }, 'control_character'],
    [{ text: '\ud800' }, 'not_well_formed'],
  ])('C80 %j is refused', async (body, code) => {
    await expectFieldErrors(await refuse(body), `text ${code}`);
  });

  it('an unknown field is refused', async () => {
    await expectFieldErrors(
      await refuse({ text: 'a', authorId: 'usr_x', parentID: NEVER }),
      'authorId unknown_field',
      'parentID unknown_field',
    );
  });

  it('both fields are told at once', async () => {
    await expectFieldErrors(await refuse({ parentId: 1 }), 'text required', 'parentId wrong_type');
  });

  describe('parentId', () => {
    it('C81 null is the same as absent', async () => {
      for (const body of [{ text: 'a' }, { text: 'a', parentId: null }]) {
        const answer = await comment(body);
        expect(answer.status).toBe(201);
        expect(await json(answer)).toMatchObject({ parentId: null });
      }
    });

    it.each([1, true, [], {}, ['x']])('C81 %j is of the wrong type', async (parentId) => {
      await expectFieldErrors(await refuse({ text: 'a', parentId }), 'parentId wrong_type');
    });

    it.each([
      '',
      ' ',
      NEVER,
      NEVER.toUpperCase(),
      `${NEVER} `,
      'post_01kahq5f3veqdr8bn3tdmx3q0a',
      'x'.repeat(5000),
      "' OR 1=1 --",
      '\ud800',
      '\u0000',
    ])('C81 %j refers to nothing', async (parentId) => {
      await expectFieldErrors(await refuse({ text: 'a', parentId }), 'parentId invalid_reference');
    });

    it('C81 A comment on another post, or a deleted one, cannot be replied to', async () => {
      const elsewhere = await member.comment(postId);
      const { id } = await member.publish();
      const deleted = await member.comment(id);
      await member.delete(`/comments/${deleted.id}`);
      for (const [parentId, post] of [
        [elsewhere.id, id],
        [deleted.id, id],
        [id, id],
      ] as const)
        await expectFieldErrors(
          await comment({ text: 'a', parentId }, post),
          'parentId invalid_reference',
        );
      expect(await json(await member.get(`/posts/${id}/comments`))).toMatchObject({ data: [] });
      await expectFieldErrors(
        await refuse({ text: 'a', parentId: elsewhere.id }),
        'parentId invalid_reference',
      );
    });

    it('C81 A comment in another case or with a space after it is another id', async () => {
      const { data } = await json<PageBody<CommentBody>>(
        await refused.get(`/posts/${refusedPostId}/comments`),
      );
      const id = data[0]?.id ?? '';
      expect(id).toMatch(/^cmt_/);
      for (const parentId of [id.toUpperCase(), `${id} `])
        await expectFieldErrors(
          await refuse({ text: 'a', parentId }),
          'parentId invalid_reference',
        );
    });

    it('C83 A reply can be replied to, 50 deep', async () => {
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

  describe('on a post that is not there', () => {
    const absent: string[] = ['post_01kahq5f3veqdr8bn3tdmx3q0a'];
    beforeAll(async () => {
      const { id } = await member.publish();
      await member.delete(`/posts/${id}`);
      absent.push(id, postId);
    });

    it("C82 are 404: it never was, was deleted or is another user's", async () => {
      expect(absent).toHaveLength(3);
      for (const post of absent)
        for (const parentId of [null, NEVER, 'x'])
          await expectApiError(await refuse({ text: 'a', parentId }, post), 404, 'not_found');
      await expectApiError(await comment({ text: 'a' }, absent[1]), 404, 'not_found');
    });

    it('C82 are 400 when the body is bad, too', async () => {
      for (const post of absent) await expectFieldErrors(await refuse({}, post), 'text required');
    });
  });

  it('made and removed at once are counted right', async () => {
    const { id } = await member.publish();
    const old = [];
    for (let count = 1; count <= 4; count += 1) old.push(await member.comment(id));
    const answers = await Promise.all([
      ...old.map((one) => member.delete(`/comments/${one.id}`)),
      ...Array.from({ length: 6 }, () => comment({ text: 'a' }, id)),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => 200),
      ...Array.from({ length: 6 }, () => 201),
    ]);
    const { data, meta } = await json<PageBody<CommentBody>>(
      await member.get(`/posts/${id}/comments`),
    );
    expect([data.length, meta.total]).toEqual([6, 6]);
  });

  it('C80 C81 C82 What was refused left no row and spent no quota', async () => {
    expect(await footprintOf(refused)).toEqual(UNTOUCHED);
  });
});
