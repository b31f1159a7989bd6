import { expectFieldErrors } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member, UNTOUCHED } from '../support/member.js';
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
