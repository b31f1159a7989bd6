import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { onEachEngine } from '../../support/engines.js';
import { json } from '../../support/json.js';
import { useTestApp } from '../../support/test-app.js';
import { Member, type PostBody } from './member.js';
import { expectInvalid, expectRefusal } from './refusal.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const MOST_BYTES = 262_144;

/** An object nested so deep that its innermost level is level `levels`. */
const nested = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);

onEachEngine('JSON bodies', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  let comments: string;
  beforeAll(async () => {
    member = await Member.join(app());
    comments = `/posts/${(await member.publish()).id}/comments`;
  });

  it.each([
    ['nothing', ''],
    ['a brace', '{'],
    ['a comma too many', '{"content":"a",}'],
    ['single quotes', "{'content':'a'}"],
    ['NaN', 'NaN'],
    ['NaN in a field', '{"latitude":NaN,"longitude":1}'],
    ['trailing garbage', '{"content":"secret words"} x'],
    ['null', 'null'],
    ['a string', '"x"'],
    ['a number', '1'],
    ['an array', '[]'],
    ['an array of an object', '[{"content":"a"}]'],
  ])('%s is 400, and nothing of it comes back', async (_, text) => {
    for (const path of ['/posts', comments]) {
      const answer = await member.postRaw(path, text, JSON_TYPE);
      const body = await expectRefusal(answer, 400, 'invalid_request');
      expect(body.error_description).not.toMatch(/secret|position|token|NaN/i);
    }
  });

  it('no body at all is 400', async () => {
    for (const path of ['/posts', comments])
      await expectRefusal(await member.postRaw(path, null, JSON_TYPE), 400, 'invalid_request');
  });

  it('JSON that is no object is told so', async () => {
    for (const text of ['null', '"x"', '1', '[]']) {
      const answer = await member.postRaw('/posts', text, JSON_TYPE);
      const body = await expectRefusal(answer, 400, 'invalid_request');
      expect(body.error_description).toBe('The body must be a JSON object.');
    }
  });

  it.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/vnd.api+json',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'garbage',
    '',
  ])('Content-Type "%s" is 415', async (type) => {
    for (const path of ['/posts', comments]) {
      const answer = await member.postRaw(path, Buffer.from('{"content":"Hi","text":"Hi"}'), {
        'content-type': type,
      });
      await expectRefusal(answer, 415, 'unsupported_media_type');
    }
  });

  it('no Content-Type is 415, with a body or without', async () => {
    const body = Buffer.from('{"content":"Hi"}');
    await expectRefusal(await member.postRaw('/posts', body), 415, 'unsupported_media_type');
    await expectRefusal(await member.postRaw('/posts', null), 415, 'unsupported_media_type');
  });

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;',
    'application/json; charset=UTF-8',
    'application/json;charset="utf-8"',
  ])('Content-Type "%s" is taken', async (type) => {
    const answer = await member.postRaw('/posts', '{"content":"Hi"}', { 'content-type': type });
    expect(answer.status).toBe(201);
  });

  it('a byte order mark is ignored', async () => {
    const answer = await member.postRaw('/posts', '\ufeff{"content":"Hi"}', JSON_TYPE);
    expect(await json(answer)).toMatchObject({ content: 'Hi' });
  });

  it('bytes that are not UTF-8 are refused, not replaced', async () => {
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const text = Buffer.concat([
        Buffer.from('{"content":"'),
        Buffer.from(bytes),
        Buffer.from('"}'),
      ]);
      await expectInvalid(await member.postRaw('/posts', text, JSON_TYPE), 'not_well_formed');
    }
  });

  it('compressed bodies are read, within the same limit', async () => {
    const text = Buffer.from('{"content":"Hi"}');
    const send = (body: Buffer<ArrayBuffer>, encoding: string) =>
      member.postRaw('/posts', body, { ...JSON_TYPE, 'content-encoding': encoding });
    expect((await send(gzipSync(text), 'gzip')).status).toBe(201);
    expect((await send(brotliCompressSync(text), 'br')).status).toBe(201);
    await expectRefusal(await send(text, 'bogus'), 415, 'unsupported_media_type');
    await expectRefusal(await send(text, 'gzip'), 400, 'invalid_request');
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    await expectRefusal(await send(bomb, 'gzip'), 413, 'payload_too_large');
  });

  it(`takes ${MOST_BYTES} bytes, and not one more`, async () => {
    const most = '{"content":"Hi"}'.padEnd(MOST_BYTES);
    expect((await member.postRaw('/posts', most, JSON_TYPE)).status).toBe(201);
    const more = await member.postRaw('/posts', `${most} `, JSON_TYPE);
    await expectRefusal(more, 413, 'payload_too_large');
  });

  it('may be nested 20 levels deep, and no deeper', async () => {
    const send = (levels: number) => member.postRaw('/posts', nested(levels), JSON_TYPE);
    await expectInvalid(await send(20), 'a unknown_field', 'one_of_required');
    await expectInvalid(await send(21), 'too_deep');
    const started = performance.now();
    await expectInvalid(await send(40_000), 'too_deep');
    expect(performance.now() - started).toBeLessThan(1000);
    const lists = `{"tags":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    await expectInvalid(await member.postRaw('/posts', lists, JSON_TYPE), 'too_deep');
  });

  it('of two members with one name, the last counts', async () => {
    const answer = await member.postRaw('/posts', '{"content":"a","content":"b"}', JSON_TYPE);
    expect(await json(answer)).toMatchObject({ content: 'b' });
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'])(
    'a member named %s is unknown, nested ones too, and pollutes nothing',
    async (name) => {
      const top = `{"content":"a","${name}":{"polluted":true}}`;
      await expectInvalid(await member.postRaw('/posts', top, JSON_TYPE), `${name} unknown_field`);
      const inner = `{"content":"a","tags":[{"${name}":{"polluted":true}}]}`;
      await expectRefusal(await member.postRaw('/posts', inner, JSON_TYPE), 400, 'invalid_request');
      expect('polluted' in {}).toBe(false);
    },
  );

  it('a member named prototype or toDraft is unknown', async () => {
    for (const name of ['prototype', 'toDraft'])
      await expectInvalid(
        await member.post('/posts', { content: 'a', [name]: 1 }),
        `${name} unknown_field`,
      );
  });

  it('what the service sets cannot be sent', async () => {
    const answer = await member.post('/posts', {
      content: 'a',
      id: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
      createdAt: '2020-01-01T00:00:00.000Z',
      userId: 'usr_01kahq5f3veqdr8bn3tdmx3q0a',
      deleted: true,
      permalink: 'https://evil.example',
    });
    const fields = ['id', 'createdAt', 'userId', 'deleted', 'permalink'];
    await expectInvalid(answer, ...fields.map((field) => `${field} unknown_field`));
  });

  it('a misspelt field is refused, and the message tells which there are', async () => {
    const body = await expectInvalid(
      await member.post('/posts', { content: 'a', latitiude: 1 }),
      'latitiude unknown_field',
    );
    expect(body.errors?.[0]?.message).toMatch(/"latitiude" is not a field .*\blatitude\b/);
  });

  it('bodies of GET and DELETE are not looked at', async () => {
    const { id } = await member.publish();
    const remove = await app().fetch(`/dev/v1/posts/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${member.token}`, ...JSON_TYPE },
      body: '{',
    });
    expect(remove.status).toBe(200);
  });

  it('what is refused leaves no row', async () => {
    const before = await app().dataSource.manager.count(Post);
    await member.postRaw('/posts', '{', JSON_TYPE);
    await member.post('/posts', { content: 'a', nope: 1 });
    await member.postRaw('/posts', 'content=a', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(await app().dataSource.manager.count(Post)).toBe(before);
    const post = await json<PostBody>(await member.post('/posts', { content: 'a' }));
    expect(post.content).toBe('a');
  });
});
