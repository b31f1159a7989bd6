import { onEachEngine } from '../../support/engines.js';
import { json } from '../../support/json.js';
import { useTestApp } from '../../support/test-app.js';
import { Member, type CommentBody, type PageBody } from './member.js';
import { expectInvalid, expectRefusal } from './refusal.js';

const EMOJI = '\u{1f600}';
const NEVER = 'cmt_01kahq5f3veqdr8bn3tdmx3q0a';

onEachEngine('Comments', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  let postId: string;
  beforeAll(async () => {
    member = await Member.join(app());
    ({ id: postId } = await member.publish());
  });
  const comment = (body: object, post = postId) => member.post(`/posts/${post}/comments`, body);
  const commentCount = async () => {
    const answer = await member.get(`/posts/${postId}/comments?limit=1`);
    return (await json<PageBody<CommentBody>>(answer)).meta.total;
  };

  it.each([
    ['x'],
    ['x'.repeat(2000)],
    [EMOJI.repeat(2000)],
    [' kept as sent '],
    ['a\n\tb\r\nc'],
    ["' OR 1=1 -- \\' <script>"],
    ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467} e\u0301 \u05e9\u05dc\u05d5\u05dd'],
  ])('%j is taken, and listed as it was sent', async (text) => {
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
  ])('%j is refused, and leaves no row', async (body, code) => {
    const before = await commentCount();
    await expectInvalid(await comment(body), `text ${code}`);
    expect(await commentCount()).toBe(before);
  });

  it('an unknown field is refused', async () => {
    await expectInvalid(
      await comment({ text: 'a', authorId: 'usr_x', parentID: NEVER }),
      'authorId unknown_field',
      'parentID unknown_field',
    );
  });

  it('both fields are told at once', async () => {
    await expectInvalid(await comment({ parentId: 1 }), 'text required', 'parentId wrong_type');
  });

  describe('parentId', () => {
    it('null is the same as absent', async () => {
      for (const body of [{ text: 'a' }, { text: 'a', parentId: null }])
        expect(await json(await comment(body))).toMatchObject({ parentId: null });
    });

    it.each([1, true, [], {}, ['x']])('%j is of the wrong type', async (parentId) => {
      await expectInvalid(await comment({ text: 'a', parentId }), 'parentId wrong_type');
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
    ])('%j refers to nothing', async (parentId) => {
      const before = await commentCount();
      await expectInvalid(await comment({ text: 'a', parentId }), 'parentId invalid_reference');
      expect(await commentCount()).toBe(before);
    });

    it('a comment in another case or with a space after it is another id', async () => {
      const { id } = await member.comment(postId);
      for (const parentId of [id.toUpperCase(), `${id} `])
        await expectInvalid(await comment({ text: 'a', parentId }), 'parentId invalid_reference');
    });

    it('replies can be replied to, 50 deep', async () => {
      let parentId: string | null = null;
      for (let depth = 1; depth <= 50; depth += 1)
        parentId = (await member.comment(postId, `level ${depth}`, parentId)).id;
      expect(parentId).toMatch(/^cmt_/);
    });
  });

  describe('on a post that is not there', () => {
    const ABSENT = 'post_01kahq5f3veqdr8bn3tdmx3q0a';

    it('are 404, with a good parentId or a bad one', async () => {
      for (const parentId of [null, NEVER, 'x'])
        await expectRefusal(await comment({ text: 'a', parentId }, ABSENT), 404, 'not_found');
    });

    it('are 400 when the body is bad, too', async () => {
      await expectInvalid(await comment({}, ABSENT), 'text required');
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
});
