import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import {
  footprintOf,
  Member,
  UNTOUCHED,
  type CommentBody,
  type PageBody,
} from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const JSON_TYPE = { 'content-type': 'application/json' };

/** One body for each rule and error code. `create-post.request.spec.ts` tests more values. */
const INVALID: readonly (readonly [body: string, ...violations: string[]])[] = [
  ['{"content":1}', 'content wrong_type'],
  ['{"images":[]}', 'one_of_required'],
  ['{"content":"\u200b"}', 'content blank'],
  [JSON.stringify({ content: '\u{1f600}'.repeat(10_001) }), 'content too_long'],
  [String.raw`{"content":"\ud800"}`, 'content not_well_formed'],
  [String.raw`{"content":"a\u0000"}`, 'content control_character'],
  [String.raw`{"title":"a\nb"}`, 'title control_character'],
  [JSON.stringify({ title: 'a'.repeat(301) }), 'title too_long'],
  [JSON.stringify({ content: 'x', tags: Array.from({ length: 21 }, () => 'a') }), 'tags too_many'],
  ['{"images":["javascript:alert(1)"]}', 'images invalid_format'],
  ['{"content":"x","latitude":1e400,"longitude":0}', 'latitude too_large'],
  ['{"content":"x","latitude":0,"longitude":-1e400}', 'longitude too_small'],
  ['{"content":"x","latitude":"1","longitude":0}', 'latitude wrong_type'],
  ['{"content":"x","latitude":1}', 'longitude pair_required'],
  ['{"content":"x","reachKm":0}', 'reachKm too_small'],
  ['{"content":"x","type":"For Sale"}', 'type invalid_format'],
  ['{"content":"x","visibility":"friends"}', 'visibility not_allowed_value'],
  ['{"content":"x","body":1}', 'body unknown_field'],
];
const UNKNOWN_COMMENT_ID = 'cmt_01kahq5f3veqdr8bn3tdmx3q0a';

onOneEngine('POST /posts: fields', (database) => {
  const app = useTestApp(database);

  it('C62 C63 C65 C67 C68 C70 C71 C72 C73 C74 C76 C77 rejects invalid fields, stores nothing and charges no quota', async () => {
    const member = await Member.join(app());
    await member.comment((await member.publish()).id);
    for (const [body, ...violations] of INVALID)
      await expectFieldErrors(await member.postRaw('/posts', body, JSON_TYPE), ...violations);
    expect(await footprintOf(member)).toEqual(UNTOUCHED);
  });

  it('lists several violations in the order of the fields', async () => {
    const member = await Member.join(app());
    const body = await expectFieldErrors(
      await member.post('/posts', {
        visibility: 'everyone',
        reachKm: 0,
        longitude: 181,
        latitude: -91,
        tags: [1],
        images: ['x'],
        type: 'For Sale',
        content: ' ',
        title: 'a\nb',
      }),
      'title control_character',
      'content blank',
      'type invalid_format',
      'images invalid_format',
      'tags wrong_type',
      'latitude too_small',
      'longitude too_large',
      'reachKm too_small',
      'visibility not_allowed_value',
    );
    expect(body.error_description).toBe(
      '9 fields are invalid: title, content, type, images, tags, latitude, longitude, reachKm, visibility.',
    );
  });

  it('C62 treats null like an absent field and does not echo it', async () => {
    const member = await Member.join(app());
    await expectFieldErrors(await member.post('/posts', { content: null }), 'one_of_required');
    const post = await member.publish({
      content: 'a',
      title: null,
      type: null,
      images: null,
      tags: null,
      latitude: null,
      longitude: null,
      reachKm: null,
      visibility: null,
    });
    expect(Object.keys(post)).toEqual(['id', 'content', 'permalink', 'createdAt']);
    expect(await json(await member.get(`/posts/${post.id}`))).toMatchObject({
      tags: [],
      reachKm: null,
      visibility: 'public',
    });
  });

  it('C72 echoes URLs of internationalized domains as sent, and links to them', async () => {
    const member = await Member.join(app());
    const images = [
      'https://\u{1f4a9}.example/a',
      'HTTPS://\u4f8b\u3048\u3002jp',
      'http://a_b.example/\u0646\u200c',
    ];
    const post = await member.publish({ images });
    expect(post).toMatchObject({ images });
    const page = await app().fetch(new URL(post.permalink).pathname);
    expect(page.status).toBe(200);
    const html = await page.text();
    for (const image of images) expect(html).toContain(`href="${image}"`);
  });

  it('echoes empty lists beside content', async () => {
    const member = await Member.join(app());
    const post = await member.publish({ content: 'a', images: [], tags: [] });
    expect(post).toMatchObject({ images: [], tags: [] });
  });

  it.each(['0.30000000000000004', '12.345678901234567', '1.0', '1e1', '9007199254740993e-15'])(
    'C75 echoes %s as an equal JSON value',
    async (number) => {
      const member = await Member.join(app());
      const text = `{"content":"x","latitude":${number},"longitude":-${number},"reachKm":${number}}`;
      const response = await member.postRaw('/posts', text, JSON_TYPE);
      const value = Number(number);
      const post = await json<{ id: string }>(response);
      expect(post).toMatchObject({ latitude: value, longitude: -value, reachKm: value });
      expect(await json(await member.get(`/posts/${post.id}`))).toMatchObject({ reachKm: value });
    },
  );

  it('C75 accepts -0 as a coordinate and echoes a value equal to 0', async () => {
    const member = await Member.join(app());
    const text = '{"content":"x","latitude":-0,"longitude":-0.0}';
    const response = await member.postRaw('/posts', text, JSON_TYPE);
    const { latitude, longitude } = await json<{ latitude: number; longitude: number }>(response);
    expect([latitude === 0, longitude === 0]).toEqual([true, true]);
  });
});

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
