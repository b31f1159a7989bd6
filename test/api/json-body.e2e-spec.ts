import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import { expectFieldErrors, expectApiError, withoutRequestId } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { footprintOf, Member, UNTOUCHED } from '../support/member.js';
import { processorTimeOf } from '../support/queries.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const JSON_TYPE = { 'content-type': 'application/json' };
/** What fetch wants with a body whose length it does not know; missing in its types. */
const IN_PIECES = { duplex: 'half' };
const MOST_BYTES = 262_144;
const BOMB_BLOCK = Buffer.alloc(64 * 1024 * 1024, ' ');
const GIGABYTE = Array.from({ length: 16 }, () => BOMB_BLOCK);

onOneEngine('Reading JSON bodies', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });
  let member: Member;
  /** Sends what must be refused, and nothing else. */
  let refused: Member;
  let paths: string[];
  beforeAll(async () => {
    member = await Member.join(app());
    refused = await Member.join(app());
    const { id } = await refused.publish();
    await refused.comment(id);
    paths = ['/posts', `/posts/${id}/comments`];
  });

  it('C45 An empty body, or none, is 400', async () => {
    for (const path of paths)
      for (const body of ['', ' ', null])
        await expectApiError(await refused.postRaw(path, body, JSON_TYPE), 400, 'invalid_request');
  });

  it.each([
    ['a brace', '{'],
    ['a comma too many', '{"content":"secret words",}'],
    ['single quotes', "{'content':'secret words'}"],
    ['an object in quotes', `'{"content":1}'`],
    ['NaN', 'NaN'],
    ['NaN in a field', '{"latitude":NaN,"longitude":1}'],
    ['Infinity in a field', '{"latitude":-Infinity,"longitude":1}'],
    ['a comment', '{"content":"secret words"} // x'],
    ['trailing garbage', '{"content":"secret words"} x'],
    ['two objects', '{"content":"secret words"}{"content":"a"}'],
    ['a line break in a string', '{"content":"secret\nwords"}'],
    ['the start of an object', '{"content":"secret words"'],
  ])('C46 JSON that is broken by %s is 400, and nothing of it comes back', async (_, text) => {
    for (const path of paths) {
      const answer = await refused.postRaw(path, text, JSON_TYPE);
      const body = await expectApiError(answer, 400, 'invalid_request');
      expect(body.error_description).toBe('The body is not valid JSON.');
      expect(withoutRequestId(JSON.stringify(body), body)).not.toMatch(
        /secret|position|token|NaN|Infinity/i,
      );
    }
  });

  it.each(['null', '"x"', '1', 'true', '[]', '[{}]', '[{"content":"a","text":"a"}]'])(
    'C47 The JSON value %s is 400, since only an object will do',
    async (text) => {
      for (const path of paths) {
        const answer = await refused.postRaw(path, text, JSON_TYPE);
        const { error_description } = await expectApiError(answer, 400, 'invalid_request');
        expect(error_description).toBe('The body must be a JSON object.');
      }
    },
  );

  it.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'text/json',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'application/json, text/plain',
    'garbage',
    '',
  ])('C48 Content-Type "%s" is 415', async (type) => {
    for (const path of paths) await expectUnsupported(path, type);
  });

  it('C48 A request without Content-Type is 415, with a body or without', async () => {
    for (const path of paths)
      for (const body of [Buffer.from('{"content":"Hi","text":"Hi"}'), null])
        await expectApiError(await refused.postRaw(path, body), 415, 'unsupported_media_type');
  });

  it('C49 A form is 415, and is not published', async () => {
    for (const path of paths) {
      const form = new URLSearchParams({ content: 'hi', text: 'hi' });
      await expectApiError(await refused.postRaw(path, form), 415, 'unsupported_media_type');
    }
  });

  it.each(['latin1', 'utf-16', 'utf-16le', 'us-ascii', 'bogus', '""'])(
    'C50 The charset %s is 415',
    async (charset) => {
      for (const path of paths)
        await expectUnsupported(path, `application/json; charset=${charset}`);
    },
  );

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;',
    'application/json; charset=utf-8;',
    'application/json; charset=UTF-8',
    'application/json;charset="utf-8"',
  ])('C50 Content-Type "%s" is taken', async (type) => {
    const answer = await member.postRaw('/posts', '{"content":"\u00e9"}', { 'content-type': type });
    expect(answer.status).toBe(201);
    expect(await json(answer)).toMatchObject({ content: '\u00e9' });
  });

  it.each(['application/vnd.api+json', 'application/problem+json', 'application/ld+json'])(
    'C51 %s is 415: one type is documented',
    async (type) => {
      for (const path of paths) await expectUnsupported(path, type);
    },
  );

  it('C52 A byte order mark is ignored', async () => {
    const answer = await member.postRaw('/posts', '\ufeff{"content":"Hi"}', JSON_TYPE);
    expect(answer.status).toBe(201);
    expect(await json(answer)).toMatchObject({ content: 'Hi' });
  });

  it.each([
    ['a lone byte', [0xff]],
    ['a continuation that is none', [0xc3, 0x28]],
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a sequence cut short', [0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a code point beyond the last', [0xf4, 0x90, 0x80, 0x80]],
  ])('C53 %s is not UTF-8, and refused instead of replaced', async (_, bytes) => {
    const text = [Buffer.from('{"content":"'), Buffer.from(bytes), Buffer.from('"}')];
    for (const path of paths)
      await expectFieldErrors(
        await refused.postRaw(path, Buffer.concat(text), JSON_TYPE),
        'not_well_formed',
      );
  });

  const send = (by: Member, body: Buffer<ArrayBuffer>, encoding: string) =>
    by.postRaw('/posts', body, { ...JSON_TYPE, 'content-encoding': encoding });

  it('C54 Bodies in gzip, br and deflate are read', async () => {
    const text = Buffer.from('{"content":"Hi \u{1f600}"}');
    for (const [encoding, body] of [
      ['gzip', gzipSync(text)],
      ['GZIP', gzipSync(text)],
      ['br', brotliCompressSync(text)],
      ['deflate', deflateSync(text)],
    ] as const) {
      const answer = await send(member, body, encoding);
      expect(answer.status, encoding).toBe(201);
      expect(await json(answer)).toMatchObject({ content: 'Hi \u{1f600}' });
    }
  });

  it('C54 An unknown Content-Encoding is 415, and the text says which there are', async () => {
    const text = Buffer.from('{"content":"Hi"}');
    for (const encoding of ['bogus', 'compress', 'gzip, br', 'identity, gzip']) {
      const answer = await send(refused, text, encoding);
      const body = await expectApiError(answer, 415, 'unsupported_media_type');
      expect(body.error_description).toMatch(/gzip, deflate or br.*Content-Encoding/);
    }
  });

  it('C54 A body that is not compressed as it says, or is cut short, is 400', async () => {
    const text = Buffer.from('{"content":"Hi"}');
    const answers = [
      await send(refused, text, 'gzip'),
      await send(refused, gzipSync(text).subarray(0, -6), 'gzip'),
      await send(refused, text, 'br'),
    ];
    for (const answer of answers) {
      const { error_description } = await expectApiError(answer, 400, 'invalid_request');
      expect(error_description).toBe('The body is not compressed as its Content-Encoding says.');
    }
  });

  it('C54 Bombs of a gigabyte are 413 before they are inflated', async () => {
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } };
    const small = await buffer(Readable.from(GIGABYTE).pipe(createBrotliCompress(quality)));
    const block = gzipSync(BOMB_BLOCK);
    const bombs = [
      ['br', small],
      ['gzip', Buffer.concat(GIGABYTE.map(() => block))],
    ] as const;
    expect(small.length).toBeLessThan(100_000);
    for (const [encoding, bomb] of bombs) {
      const cost = await processorTimeOf(async () => {
        await expectApiError(await send(refused, bomb, encoding), 413, 'payload_too_large');
      });
      // Inflating all of it takes more than a second of processor time.
      expect(cost).toBeLessThan(500);
    }
  });

  it(`C55 A body of ${MOST_BYTES} bytes is taken, and one byte more is 413`, async () => {
    const emoji = '\u{1f600}'.repeat(10_000);
    for (const start of ['{"content":"Hi"}', `{"content":"${emoji}"}`]) {
      const most = start + ' '.repeat(MOST_BYTES - Buffer.byteLength(start));
      expect((await member.postRaw('/posts', most, JSON_TYPE)).status).toBe(201);
      const answer = await refused.postRaw('/posts', `${most} `, JSON_TYPE);
      const { error_description } = await expectApiError(answer, 413, 'payload_too_large');
      expect(error_description).toContain(String(MOST_BYTES));
    }
  });

  it('C55 The limit holds for a body that comes in pieces, without Content-Length', async () => {
    const sendPieces = (by: Member, bytes: number) =>
      app().fetch('/dev/v1/posts', {
        method: 'POST',
        headers: { ...JSON_TYPE, authorization: `Bearer ${by.token}` },
        body: new Blob(['{"content":"Hi"}'.padEnd(bytes)]).stream(),
        ...IN_PIECES,
      });
    expect((await sendPieces(member, MOST_BYTES)).status).toBe(201);
    await expectApiError(await sendPieces(refused, MOST_BYTES + 1), 413, 'payload_too_large');
  });

  it('C55 The limit holds for what compressed bodies inflate to', async () => {
    const most = '{"content":"Hi"}'.padEnd(MOST_BYTES);
    expect((await send(member, gzipSync(most), 'gzip')).status).toBe(201);
    const more = await send(refused, gzipSync(`${most} `), 'gzip');
    await expectApiError(more, 413, 'payload_too_large');
  });

  it('C45 C46 C47 C48 C49 C50 C51 C53 C54 C55 What was refused left no row and spent no quota', async () => {
    expect(await footprintOf(refused)).toEqual(UNTOUCHED);
  });

  async function expectUnsupported(path: string, type: string): Promise<void> {
    const body = Buffer.from('{"content":"Hi","text":"Hi"}');
    const answer = await refused.postRaw(path, body, { 'content-type': type });
    const { error_description } = await expectApiError(answer, 415, 'unsupported_media_type');
    expect(error_description).toContain('Content-Type: application/json');
  }
});
