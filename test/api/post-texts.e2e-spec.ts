import { expectFieldErrors } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member, type PageBody, type PostBody, UNTOUCHED } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const EMOJI = '\u{1f600}';
const INVISIBLE = [
  ' ',
  '   ',
  '\t\n',
  '\u200b',
  '\u3164',
  '\u2800',
  '\u00a0',
  '\u2060',
  '\ufeff',
  '\u115f\u1160\uffa0',
];

onOneEngine('The texts of a post', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  /** Sends what must be refused, and nothing else. */
  let refused: Member;
  beforeAll(async () => {
    member = await Member.join(app());
    refused = await Member.join(app());
    await refused.comment((await refused.publish()).id);
  });
  const publish = (body: object) => member.post('/posts', body);
  const refuse = (body: object) => refused.post('/posts', body);

  /** Asserts that the text comes back as it was sent, when it is published and when it is read. */
  async function expectKept(body: { title?: string; content?: string }): Promise<void> {
    app().clock.advance(1);
    const answer = await publish(body);
    expect(answer.status).toBe(201);
    const post = await json<PostBody>(answer);
    expect(post).toMatchObject(body);
    if (body.content === undefined) return;
    const bytes = Buffer.from(JSON.stringify(body.content));
    const read = await member.get(`/posts/${post.id}`);
    expect(Buffer.from(await read.arrayBuffer()).includes(bytes)).toBe(true);
    const { data } = await json<PageBody<PostBody>>(await member.get('/posts?limit=1'));
    expect(data[0]).toMatchObject({ id: post.id, content: body.content });
  }

  describe('at least one of title, content and images', () => {
    it.each([
      {},
      { type: 'general' },
      { tags: ['a'] },
      { images: [] },
      { title: null, content: null, images: null },
      { latitude: 1, longitude: 1 },
    ])('C63 %j is refused', async (body) => {
      const { error_description, errors } = await expectFieldErrors(
        await refuse(body),
        'one_of_required',
      );
      expect(error_description).toBe('Send at least one of: title, content, images.');
      expect(errors?.[0]?.field).toBe('');
    });

    it.each([{ title: 'T' }, { content: 'C' }, { images: ['https://example.com/a.jpg'] }])(
      'C64 %j is enough',
      async (body) => {
        const answer = await publish(body);
        expect(answer.status).toBe(201);
        expect(await json(answer)).toMatchObject(body);
      },
    );

    it('an empty list beside content is echoed', async () => {
      const answer = await publish({ content: 'a', images: [], tags: [] });
      expect(await json(answer)).toMatchObject({ images: [], tags: [] });
    });

    it('C62 null is the same as absent, and not echoed', async () => {
      await expectFieldErrors(await refuse({ content: null }), 'one_of_required');
      const nothing = {
        title: null,
        type: null,
        images: null,
        tags: null,
        latitude: null,
        longitude: null,
        reachKm: null,
        visibility: null,
      };
      const post = await json(await publish({ content: 'a', ...nothing }));
      expect(Object.keys(post)).toEqual(['id', 'content', 'permalink', 'createdAt']);
      expect(await json(await member.get(`/posts/${String(post.id)}`))).toMatchObject({
        tags: [],
        reachKm: null,
        visibility: 'public',
      });
    });
  });

  describe.each([
    ['title', 300],
    ['content', 10_000],
  ] as const)('%s', (field, most) => {
    it.each([123, true, {}, [], ['a']])('C62 %j is of the wrong type', async (value) => {
      await expectFieldErrors(await refuse({ [field]: value }), `${field} wrong_type`);
    });

    it.each(['', ...INVISIBLE])('C63 %j is blank', async (value) => {
      const blankOrControl = field === 'title' && value === '\t\n' ? 'control_character' : 'blank';
      await expectFieldErrors(await refuse({ [field]: value }), `${field} ${blankOrControl}`);
    });

    it.each(['a', '\u00e9', EMOJI])(
      `C65 C70 ${most} times %s fit, and not one more`,
      async (letter) => {
        const full = letter.repeat(most);
        await expectKept({ [field]: full });
        await expectFieldErrors(await refuse({ [field]: full + letter }), `${field} too_long`);
      },
    );

    it('C65 Variation selectors and combining marks count like any other character', async () => {
      for (const pair of ['a\ufe0f', 'e\u0301', '\u{1f44d}\u{1f3fd}']) {
        const half = pair.repeat(most / 2);
        await expectKept({ [field]: half });
        for (const more of [`${half}a`, pair.repeat(most)])
          await expectFieldErrors(await refuse({ [field]: more }), `${field} too_long`);
      }
    });

    it.each(['\ud800', '\udc00x', 'a\udc00x', '\ud83d \ude00'])(
      'C67 %j is not well-formed',
      async (value) => {
        await expectFieldErrors(await refuse({ [field]: value }), `${field} not_well_formed`);
      },
    );

    it.each(['\u0000', 'a\u0000b', 'a\u0008', '\u001ba', 'a\u001f', 'a\u007f'])(
      'C68 %j has a control character',
      async (value) => {
        await expectFieldErrors(await refuse({ [field]: value }), `${field} control_character`);
      },
    );

    it.each([
      '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}',
      '\u{1f1ee}\u{1f1f8} \u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
      '\u0645\u0631\u062d\u0628\u0627',
      '\u05e9\u05dc\u05d5\u05dd',
      '\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35',
      'Z\u0351\u036b\u0343a\u0310l\u0311g\u0302o\u030d',
      'e\u0301 \u00e9 \u1e9b\u0323 \ufb01 \u212b',
      '\u202eright to left\u2066',
      'a\u0085b\u009f\ufffe\u{10ffff}',
      ' kept as sent ',
    ])('C66 %j is kept and shown byte for byte', async (value) => {
      const line = field === 'title' ? value.replace('\u0085', '') : value;
      await expectKept({ content: 'x', [field]: line });
    });

    it.each([
      '<script>alert(1)</script>',
      '{{7*7}}',
      '${7*7}',
      "' OR 1=1 --",
      '\\\' \\\\ "; DROP TABLE posts; --',
      '../../etc/passwd',
      '%s%n',
      "=cmd|' /C calc'!A0",
      '&lt;b&gt; &amp;',
    ])('C69 %j is a text like any other', async (value) => {
      await expectKept({ content: 'x', [field]: value });
    });
  });

  it.each(['a\nb', 'a\r\nb', 'a\rb', 'a\tb', 'a\u2028b', 'a\u2029b', 'a\u0085b', 'a\n'])(
    'C70 A title is on one line: %j is refused',
    async (title) => {
      await expectFieldErrors(await refuse({ title }), 'title control_character');
    },
  );

  it('C68 Content may have tabs and line breaks of any kind, which stay as they are', async () => {
    for (const content of ['a\tb', 'a\nb', 'a\r\nb', '\ta\nb\r\nc\rd\u2028e'])
      await expectKept({ content });
  });

  it('C62 C63 C65 C67 C68 C70 What was refused left no row and spent no quota', async () => {
    expect(await footprintOf(refused)).toEqual(UNTOUCHED);
  });
});
