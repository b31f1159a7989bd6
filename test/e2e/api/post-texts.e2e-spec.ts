import { onEachEngine } from '../../support/engines.js';
import { json } from '../../support/json.js';
import { useTestApp } from '../../support/test-app.js';
import { Member } from './member.js';
import { expectInvalid } from './refusal.js';

const EMOJI = '\u{1f600}';
const INVISIBLE = [' ', '\t\n', '\u200b', '\u3164', '\u2800', '\u00a0', '\u2060', '\ufeff'];

onEachEngine('The texts of a post', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
  });
  const publish = (body: object) => member.post('/posts', body);

  describe('at least one of title, content and images', () => {
    it.each([
      {},
      { type: 'general' },
      { tags: ['a'] },
      { images: [] },
      { title: null, content: null, images: null },
      { latitude: 1, longitude: 1 },
    ])('%j is refused', async (body) => {
      const { error_description } = await expectInvalid(await publish(body), 'one_of_required');
      expect(error_description).toBe('Send at least one of: title, content, images.');
    });

    it.each([{ title: 'T' }, { content: 'C' }, { images: ['https://example.com/a.jpg'] }])(
      '%j is enough',
      async (body) => {
        expect((await publish(body)).status).toBe(201);
      },
    );

    it('an empty list beside content is echoed', async () => {
      const answer = await publish({ content: 'a', images: [], tags: [] });
      expect(await json(answer)).toMatchObject({ images: [], tags: [] });
    });

    it('null is the same as absent, and not echoed', async () => {
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
    it.each([1, true, {}, [], ['a']])('%j is of the wrong type', async (value) => {
      await expectInvalid(await publish({ [field]: value }), `${field} wrong_type`);
    });

    it.each(['', ...INVISIBLE])('%j is blank', async (value) => {
      const blankOrControl = field === 'title' && value === '\t\n' ? 'control_character' : 'blank';
      await expectInvalid(await publish({ [field]: value }), `${field} ${blankOrControl}`);
    });

    it.each(['a', '\u00e9', EMOJI])(`holds ${most} times %s, and not one more`, async (letter) => {
      const full = letter.repeat(most);
      const answer = await publish({ [field]: full });
      expect(await json(answer)).toMatchObject({ [field]: full });
      await expectInvalid(await publish({ [field]: full + letter }), `${field} too_long`);
    });

    it('counts variation selectors and combining marks like any other character', async () => {
      const marked = 'a\ufe0f'.repeat(most);
      await expectInvalid(await publish({ [field]: marked }), `${field} too_long`);
      expect((await publish({ [field]: marked.slice(0, most) })).status).toBe(201);
    });

    it.each(['\ud800', 'a\udc00x', '\ud83d \ude00'])('%j is not well-formed', async (value) => {
      await expectInvalid(await publish({ [field]: value }), `${field} not_well_formed`);
    });

    it.each(['a\u0000b', 'a\u0008', '\u001ba', 'a\u007f'])('%j is refused', async (value) => {
      await expectInvalid(await publish({ [field]: value }), `${field} control_character`);
    });

    it.each([
      '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f1ee}\u{1f1f8}',
      '\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35',
      'Z\u0351\u036b\u0343a\u0310l\u0311g\u0302o\u030d',
      'e\u0301 \u00e9',
      '\u202eright to left',
      '<script>alert(1)</script>',
      "' OR 1=1 -- \\' \\\\",
      '{{7*7}} ${7*7} %s%n ../../ =cmd|x',
      ' kept as sent ',
    ])('%j is kept and shown as it was sent', async (value) => {
      const post = await json(await publish({ content: 'x', [field]: value }));
      expect(post[field]).toBe(value);
      if (field === 'content')
        expect(await json(await member.get(`/posts/${String(post.id)}`))).toMatchObject({
          content: value,
        });
    });
  });

  it.each(['a\nb', 'a\r\nb', 'a\rb', 'a\tb', 'a\u2028b', 'a\u0085b'])(
    'a title is on one line: %j is refused',
    async (title) => {
      await expectInvalid(await publish({ title }), 'title control_character');
    },
  );

  it('content may have tabs and line breaks of any kind, which stay as they are', async () => {
    const content = '\ta\nb\r\nc\rd\u2028e';
    const { id } = await member.publish({ content });
    expect(await json(await member.get(`/posts/${id}`))).toMatchObject({ content });
    expect(await json(await member.get('/posts?limit=1'))).toMatchObject({ meta: { limit: 1 } });
  });
});
