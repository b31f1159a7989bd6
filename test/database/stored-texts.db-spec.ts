import { Post } from '../../src/modules/posts/post.entities.js';
import { onEachEngine } from '../support/database.js';
import { type CommentBody, Member, type PageBody, type PostBody } from '../support/member.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const EMOJI = '\u{1f600}';
const IMAGES = [
  'https://example.com/a.jpg',
  'http://example.com',
  'HTTPS://EXAMPLE.COM/A?b=c#d',
  'https://b\u00fccher.example/\u{1f600}.jpg',
  'http://127.0.0.1/',
  'http://[::1]:8080/a',
  'https://example.com/@user:1?q=@',
  `https://example.com/${'a'.repeat(2028)}`,
  `https://example.com/${EMOJI.repeat(1000)}${'a'.repeat(1028)}`,
];
/** An image URL of the maximum length that takes the most bytes in the stored JSON. */
const LARGEST_IMAGE = `https://example.com/${EMOJI.repeat(1000)}${'"'.repeat(1028)}`;

onEachEngine('Stored texts and numbers', (database) => {
  const app = useTestApp(database);

  /** Publishes each body and expects its exact values in the response, in the row, in `GET /posts/:id` and in the list. */
  async function expectStored(...bodies: readonly Partial<Post>[]): Promise<void> {
    const member = await Member.join(app());
    const sent = bodies.map((body) => ({ content: 'x', ...body }));
    const posts = await Promise.all(sent.map((body) => member.publish(body)));
    const { data } = await json<PageBody<PostBody>>(await member.get('/posts?limit=50'));
    const contents = new Map(data.map(({ id, content }) => [id, content]));
    for (const [index, { id, ...echo }] of posts.entries()) {
      const body = sent[index] ?? { content: '' };
      expect(echo).toMatchObject(body);
      expect(await app().dataSource.manager.findOneByOrFail(Post, { id })).toMatchObject(body);
      const read = Buffer.from(await (await member.get(`/posts/${id}`)).arrayBuffer());
      expect(read.includes(Buffer.from(JSON.stringify(body.content)))).toBe(true);
      const { tags = [], reachKm = null, visibility = 'public' } = sent[index] as Partial<Post>;
      expect(JSON.parse(read.toString())).toMatchObject({ tags, reachKm, visibility });
      expect(contents.get(id)).toBe(body.content);
    }
  }

  /** Stores each text as title and as content. A title must not contain the line break U+0085. */
  const expectTextsStored = (...texts: readonly string[]) =>
    expectStored(...texts.map((text) => ({ title: text.replace('\u0085', ''), content: text })));

  it('C65 C70 stores the longest title and content', async () => {
    const letters = ['a', '\u00e9', EMOJI];
    const pairs = ['a\ufe0f', 'e\u0301', '\u{1f44d}\u{1f3fd}'];
    await expectStored(
      ...letters.map((one) => ({ title: one.repeat(300), content: one.repeat(10_000) })),
      ...pairs.map((two) => ({ title: two.repeat(150), content: two.repeat(5000) })),
    );
  });

  it('C66 stores texts byte for byte', async () => {
    await expectTextsStored(
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
    );
  });

  it('C68 stores tabs and line breaks of any kind', async () => {
    const contents = ['a\tb', 'a\nb', 'a\r\nb', '\ta\nb\r\nc\rd\u2028e'];
    await expectStored(...contents.map((content) => ({ content })));
  });

  it('C69 stores markup, templates, SQL, paths and formulas like other texts', async () => {
    await expectTextsStored(
      '<script>alert(1)</script>',
      '{{7*7}}',
      '${7*7}',
      "' OR 1=1 --",
      '\\\' \\\\ "; DROP TABLE posts; --',
      '../../etc/passwd',
      '%s%n',
      "=cmd|' /C calc'!A0",
      '&lt;b&gt; &amp;',
    );
  });

  it('C71 stores tags with their letter case, order and repeats', async () => {
    await expectStored(
      { tags: [] },
      { tags: ['Block party'] },
      { tags: ['A', 'a'] },
      { tags: ['a', 'a'] },
      { tags: [' kept '] },
      { tags: Array.from({ length: 20 }, () => EMOJI.repeat(50)) },
      { tags: ['"quoted"', '\\', "'", '</script>'] },
    );
  });

  it('C72 stores image URLs unchanged, also ten of the largest', async () => {
    const largest = Array.from({ length: 10 }, () => LARGEST_IMAGE);
    await expectStored({ images: IMAGES }, { images: largest });
  });

  it('C73 C75 C76 stores numbers to the last digit', async () => {
    const places = [
      [90, 180],
      [-90, -180],
      [0, 0],
      [0.1 + 0.2, -122.419_415_550_000_01],
      [1.234_567_890_123_456_7, 5e-324],
      [1e-7, 179.999_999_999_999_97],
      [12.345_678_901_234_567, -12.345_678_901_234_567],
      [9.007_199_254_740_993, 10],
    ] as const;
    const reaches = [0.001, 0.1 + 0.2, 1, 2.5, 99.999_999_999_999_99, 100];
    await expectStored(
      ...places.map(([latitude, longitude]) => ({ latitude, longitude })),
      ...reaches.map((reachKm) => ({ reachKm })),
    );
  });

  it('C77 stores each visibility and any type', async () => {
    const types = ['general', 'a', 'for_sale', 'lost-and-found2', 'a'.repeat(32)];
    const visibilities = ['public', 'neighborhood', 'private'] as const;
    await expectStored(
      ...types.map((type) => ({ type })),
      ...visibilities.map((visibility) => ({ visibility })),
    );
  });

  it('C80 stores comments byte for byte', async () => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const texts = [
      'x',
      'x'.repeat(2000),
      EMOJI.repeat(2000),
      ' kept as sent ',
      'a\n\tb\r\nc',
      "' OR 1=1 -- \\' <script>",
      '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} e\u0301 \u05e9\u05dc\u05d5\u05dd',
    ];
    const comments = await Promise.all(texts.map((text) => member.comment(id, text)));
    expect(comments.map(({ text }) => text)).toEqual(texts);
    const list = await member.get(`/posts/${id}/comments?limit=100`);
    const { data } = await json<PageBody<CommentBody>>(list);
    expect(data).toHaveLength(texts.length);
    expect(data).toEqual(expect.arrayContaining(comments));
  });
});
