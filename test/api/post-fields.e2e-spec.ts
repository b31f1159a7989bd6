import { Post } from '../../src/modules/posts/post.entity.js';
import { expectFieldErrors, expectApiError } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member, UNTOUCHED } from '../support/member.js';
import { type ErrorBody, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const EMOJI = '\u{1f600}';
const url = (length: number) => `https://example.com/${'a'.repeat(length - 20)}`;

onOneEngine('The fields of a post beside its texts', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  /** Sends what must be refused, and nothing else. */
  let refused: Member;
  beforeAll(async () => {
    member = await Member.join(app());
    refused = await Member.join(app());
    await refused.comment((await refused.publish()).id);
  });
  const publish = (body: object) => member.post('/posts', { content: 'x', ...body });
  const refuse = (body: object) => refused.post('/posts', { content: 'x', ...body });
  /** The fields as JSON text, for numbers that no object holds. */
  const refuseText = (fields: string) =>
    refused.postRaw('/posts', fields.replace('{', '{"content":"x",'), JSON_TYPE);

  /** Asserts that the post is made, and that its answer and its row hold just these values. */
  async function expectKept(body: Partial<Post>): Promise<void> {
    const answer = await publish(body);
    const text = await answer.text();
    expect(`${answer.status} ${text}`).toMatch(/^201 /);
    const post = JSON.parse(text) as { id: string };
    expect(post).toMatchObject(body);
    const { id } = post;
    expect(await app().dataSource.manager.findOneByOrFail(Post, { id })).toMatchObject(body);
  }

  describe('type', () => {
    it.each(['general', 'a', 'for_sale', 'lost-and-found2', 'a'.repeat(32)])(
      'C77 %s is taken',
      async (type) => expectKept({ type }),
    );

    it.each(['', 'For Sale', 'A', '1a', '-a', '_a', 'a.b', 'a ', 'a\n', '\u00e9', 'a'.repeat(33)])(
      'C77 %j has the wrong form',
      async (type) => {
        await expectFieldErrors(await refuse({ type }), 'type invalid_format');
      },
    );

    it.each([1, [], {}, true])('C77 %j is of the wrong type', async (type) => {
      await expectFieldErrors(await refuse({ type }), 'type wrong_type');
    });
  });

  describe('visibility', () => {
    it.each(['public', 'neighborhood', 'private'] as const)('C77 %s is taken', async (visibility) =>
      expectKept({ visibility }),
    );

    it.each(['PUBLIC', 'public ', '\u0440ublic', '', 'friends'])(
      'C77 %j is refused, and the message lists what is allowed',
      async (visibility) => {
        const answer = await refuse({ visibility });
        const { errors } = await expectFieldErrors(answer, 'visibility not_allowed_value');
        expect(errors?.[0]?.message).toMatch(/public, neighborhood, private/);
      },
    );

    it.each([1, [], ['public']])('C77 %j is of the wrong type', async (visibility) => {
      await expectFieldErrors(await refuse({ visibility }), 'visibility wrong_type');
    });
  });

  describe('tags', () => {
    it.each([
      [[]],
      [['Block party']],
      [['A', 'a']],
      [['a', 'a']],
      [[' kept ']],
      [Array.from({ length: 20 }, () => EMOJI.repeat(50))],
      [['"quoted"', '\\', "'", '</script>']],
    ])('C71 %j are taken, and kept as they were sent', async (tags) => {
      await expectKept({ tags });
      const { id } = await member.publish({ content: 'x', tags });
      expect(await json(await member.get(`/posts/${id}`))).toMatchObject({ tags });
    });

    it.each([
      ['x', 'wrong_type'],
      [{ 0: 'a' }, 'wrong_type'],
      [[1], 'wrong_type'],
      [[null], 'wrong_type'],
      [[['a']], 'wrong_type'],
      [[''], 'blank'],
      [['a', '  '], 'blank'],
      [['a\u0000b'], 'control_character'],
      [['a\nb'], 'control_character'],
      [['\ud800'], 'not_well_formed'],
      [Array.from({ length: 21 }, () => 'a'), 'too_many'],
      [['a'.repeat(51)], 'too_long'],
      [[EMOJI.repeat(51)], 'too_long'],
    ])('C71 %j are refused', async (tags, code) => {
      await expectFieldErrors(await refuse({ tags }), `tags ${code}`);
    });

    it('C71 A message names the tag that is wrong', async () => {
      const { errors } = await json<ErrorBody>(await refuse({ tags: ['fine', ' '] }));
      expect(errors).toEqual([
        { field: 'tags', code: 'blank', message: 'tags[1] must not be blank.' },
      ]);
    });
  });

  describe('images', () => {
    it.each([
      'https://example.com/a.jpg',
      'http://example.com',
      'HTTPS://EXAMPLE.COM/A?b=c#d',
      'https://b\u00fccher.example/\u{1f600}.jpg',
      'http://127.0.0.1/',
      'http://[::1]:8080/a',
      'https://example.com/@user:1?q=@',
      url(2048),
      `https://example.com/${EMOJI.repeat(1000)}${'a'.repeat(1028)}`,
    ])('C72 %s is taken, and kept as it was sent', async (image) =>
      expectKept({ images: [image] }),
    );

    it.each([
      'javascript:alert(1)',
      'data:image/png;base64,AA==',
      'file:///etc/passwd',
      'ftp://example.com/a',
      '//example.com/a',
      '/a.jpg',
      'a.jpg',
      '',
      'https://',
      'https:///example.com/a',
      'https:example.com',
      'https://user:secret@example.com/a',
      'https://user@example.com/a',
      'https://@example.com/a',
      'https://example.com/a b',
      ' https://example.com/a',
      'https://exa\\mple.com',
      'https://example.com:99999/',
      'https://256.256.256.256/',
      'https://a|b/',
      'https://%00/',
    ])('C72 %j is refused', async (image) => {
      await expectFieldErrors(await refuse({ images: [image] }), 'images invalid_format');
    });

    it.each([
      ['https://example.com/a', 'wrong_type'],
      [[1], 'wrong_type'],
      [[null], 'wrong_type'],
      [['https://example.com/\n'], 'invalid_format'],
      [['https://example.com/a\r\nb'], 'invalid_format'],
      [['https://example.com/\u0000'], 'control_character'],
      [['https://example.com/\ud800'], 'not_well_formed'],
      [[url(2049)], 'too_long'],
      [[`https://example.com/${EMOJI.repeat(1001)}`], 'invalid_format'],
      [Array.from({ length: 11 }, () => 'https://example.com/a'), 'too_many'],
    ])('C72 %j are refused', async (images, code) => {
      await expectFieldErrors(await refuse({ images }), `images ${code}`);
    });

    it('C72 Ten that take the most bytes are taken', async () => {
      const most = `https://example.com/${EMOJI.repeat(1000)}${'"'.repeat(1028)}`;
      await expectKept({ images: Array.from({ length: 10 }, () => most) });
    });
  });

  describe('latitude and longitude', () => {
    it.each([
      [90, 180],
      [-90, -180],
      [0, 0],
      [0.1 + 0.2, -122.419_415_550_000_01],
      [1.234_567_890_123_456_7, 5e-324],
      [1e-7, 179.999_999_999_999_97],
    ])('C73 C75 %d, %d are taken, and kept to the last digit', async (latitude, longitude) =>
      expectKept({ latitude, longitude }),
    );

    it('C75 -0 is a place, and equals 0 in the answer', async () => {
      const text = '{"content":"x","latitude":-0,"longitude":-0.0}';
      const answer = await member.postRaw('/posts', text, JSON_TYPE);
      const { latitude, longitude } = await json<{ latitude: number; longitude: number }>(answer);
      expect([latitude === 0, longitude === 0]).toEqual([true, true]);
    });

    it.each(['0.30000000000000004', '12.345678901234567', '1.0', '1e1', '9007199254740993e-15'])(
      'C75 The echo of %s equals it as a JSON value',
      async (number) => {
        const text = `{"content":"x","latitude":${number},"longitude":-${number},"reachKm":${number}}`;
        const answer = await member.postRaw('/posts', text, JSON_TYPE);
        const value = Number(number);
        const post = await json<{ id: string }>(answer);
        expect(post).toMatchObject({ latitude: value, longitude: -value, reachKm: value });
        const { id } = post;
        expect(await json(await member.get(`/posts/${id}`))).toMatchObject({ reachKm: value });
        expect(await app().dataSource.manager.findOneByOrFail(Post, { id })).toMatchObject({
          latitude: value,
          longitude: -value,
        });
      },
    );

    it.each([
      ['{"latitude":90.0000001,"longitude":0}', 'latitude too_large'],
      ['{"latitude":-90.0000001,"longitude":0}', 'latitude too_small'],
      ['{"latitude":0,"longitude":180.0000001}', 'longitude too_large'],
      ['{"latitude":0,"longitude":-180.0000001}', 'longitude too_small'],
      ['{"latitude":1e400,"longitude":0}', 'latitude too_large'],
      ['{"latitude":0,"longitude":-1e400}', 'longitude too_small'],
      ['{"latitude":"1","longitude":0}', 'latitude wrong_type'],
      ['{"latitude":true,"longitude":0}', 'latitude wrong_type'],
      ['{"latitude":[1],"longitude":0}', 'latitude wrong_type'],
      ['{"latitude":{},"longitude":0}', 'latitude wrong_type'],
    ])('C73 %s is refused', async (fields, violation) => {
      await expectFieldErrors(await refuseText(fields), violation);
    });

    it('C73 NaN is no JSON', async () => {
      const answer = await refuseText('{"latitude":NaN,"longitude":0}');
      await expectApiError(answer, 400, 'invalid_request');
    });

    it.each([
      ['{"latitude":1}', 'longitude'],
      ['{"longitude":1}', 'latitude'],
      ['{"latitude":null,"longitude":1}', 'latitude'],
      ['{"latitude":1,"longitude":null}', 'longitude'],
    ])('C73 C74 %s is refused: %s is missing', async (fields, missing) => {
      const { errors } = await expectFieldErrors(
        await refuseText(fields),
        `${missing} pair_required`,
      );
      const other = missing === 'latitude' ? 'longitude' : 'latitude';
      expect(errors?.[0]?.message).toBe(
        `${missing} is missing: it must be sent together with ${other}.`,
      );
    });

    it('C74 One without the other is told beside what is wrong with it', async () => {
      await expectFieldErrors(
        await refuseText('{"latitude":91}'),
        'latitude too_large',
        'longitude pair_required',
      );
      await expectFieldErrors(
        await refuseText('{"longitude":"x"}'),
        'latitude pair_required',
        'longitude wrong_type',
      );
    });
  });

  describe('reachKm', () => {
    it.each([0.001, 0.1 + 0.2, 1, 2.5, 99.999_999_999_999_99, 100])(
      'C76 %d is taken, and kept to the last digit',
      async (reachKm) => {
        await expectKept({ reachKm });
        const { id } = await member.publish({ content: 'x', reachKm });
        expect(await json(await member.get(`/posts/${id}`))).toMatchObject({ reachKm });
      },
    );

    it.each([
      ['0', 'too_small'],
      ['-1', 'too_small'],
      ['0.0009999', 'too_small'],
      ['1e-320', 'too_small'],
      ['100.0001', 'too_large'],
      ['1e400', 'too_large'],
      ['"1"', 'wrong_type'],
      ['[]', 'wrong_type'],
    ])('C76 %s is refused', async (value, code) => {
      await expectFieldErrors(await refuseText(`{"reachKm":${value}}`), `reachKm ${code}`);
    });
  });

  it('C71 C72 C73 C74 C76 C77 What was refused left no row and spent no quota', async () => {
    expect(await footprintOf(refused)).toEqual(UNTOUCHED);
  });
});
