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
/** `fetch` requires this option for a stream as body, but its types lack it. */
const STREAM_OPTIONS = { duplex: 'half' };
const MAX_BYTES = 262_144;
const BOMB_BLOCK = Buffer.alloc(16 * 1024 * 1024, ' ');
const GIGABYTE = Array.from({ length: 64 }, () => BOMB_BLOCK);

/** Nested objects as JSON text, each the only member of the object around it. */
const objects = (levels: number, name: string) =>
  `{"${name}":`.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

onOneEngine('JSON bodies', (database) => {
  const app = useTestApp(database);
  let member: Member;
  /** The service must reject all requests of this member, store nothing and charge no quota. */
  let rejectedMember: Member;
  /** The paths of both operations that accept a JSON body. */
  let paths: string[];
  let commentsPath: string;
  beforeAll(async () => {
    member = await Member.join(app());
    rejectedMember = await Member.join(app());
    const { id } = await rejectedMember.publish();
    await rejectedMember.comment(id);
    commentsPath = `/posts/${id}/comments`;
    paths = ['/posts', commentsPath];
  });
  afterAll(async () => {
    expect(await footprintOf(rejectedMember)).toEqual(UNTOUCHED);
  });
  const postRejected = (text: string, path = '/posts') =>
    rejectedMember.postRaw(path, text, JSON_TYPE);

  describe('syntax', () => {
    it('C45 rejects an empty or absent body with 400', async () => {
      for (const path of paths)
        for (const body of ['', ' ', null])
          await expectApiError(
            await rejectedMember.postRaw(path, body, JSON_TYPE),
            400,
            'invalid_request',
          );
    });

    it.each([
      ['a single brace', '{'],
      ['a quoted object', `'{"content":1}'`],
      ['NaN', 'NaN'],
      ['Infinity in a field', '{"latitude":-Infinity,"longitude":1}'],
      ['a comment', '{"content":"secret words"} // x'],
      ['trailing characters', '{"content":"secret words"} x'],
      ['a line break in a string', '{"content":"secret\nwords"}'],
      ['a missing brace', '{"content":"secret words"'],
    ])('C46 rejects JSON with %s and does not echo the body', async (_, text) => {
      for (const path of paths) {
        const body = await expectApiError(await postRejected(text, path), 400, 'invalid_request');
        expect(body.error_description).toBe('The body is not valid JSON.');
        expect(withoutRequestId(JSON.stringify(body), body)).not.toMatch(
          /secret|position|token|NaN|Infinity/i,
        );
      }
    });

    it('C47 rejects JSON that is not an object', async () => {
      for (const path of paths)
        for (const text of ['null', '"x"', '[{"content":"a","text":"a"}]']) {
          const response = await postRejected(text, path);
          const { error_description } = await expectApiError(response, 400, 'invalid_request');
          expect(error_description).toBe('The body must be a JSON object.');
        }
    });

    it('C52 ignores a byte order mark', async () => {
      const response = await member.postRaw('/posts', '\ufeff{"content":"Hi"}', JSON_TYPE);
      expect(response.status).toBe(201);
      expect(await json(response)).toMatchObject({ content: 'Hi' });
    });

    it.each([
      ['a single byte', [0xff]],
      ['an invalid continuation byte', [0xc3, 0x28]],
      ['half a surrogate pair', [0xed, 0xa0, 0x80]],
      ['an incomplete sequence', [0xe2, 0x82]],
      ['an overlong form', [0xc0, 0xaf]],
      ['a code point above the maximum', [0xf4, 0x90, 0x80, 0x80]],
    ])('C53 rejects bytes that are not UTF-8 and does not replace them: %s', async (_, bytes) => {
      const text = [Buffer.from('{"content":"'), Buffer.from(bytes), Buffer.from('"}')];
      for (const path of paths)
        await expectFieldErrors(
          await rejectedMember.postRaw(path, Buffer.concat(text), JSON_TYPE),
          'not_well_formed',
        );
    });
  });

  /** `request-body.spec.ts` tests more values. */
  describe('Content-Type', () => {
    async function expectUnsupported(type: string, message?: RegExp): Promise<void> {
      const body = Buffer.from('{"content":"Hi","text":"Hi"}');
      for (const path of paths) {
        const response = await rejectedMember.postRaw(path, body, { 'content-type': type });
        const { error_description } = await expectApiError(response, 415, 'unsupported_media_type');
        expect(error_description).toContain('Content-Type: application/json');
        if (message) expect(error_description).toMatch(message);
      }
    }

    it.each([
      'text/plain;charset=UTF-8',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application/vnd.api+json',
      'application/json, text/plain',
      'garbage',
      '',
    ])('C48 C49 C51 rejects "%s" with 415', async (type) => expectUnsupported(type));

    it('C48 rejects a request without Content-Type with 415, with or without a body', async () => {
      for (const path of paths)
        for (const body of [Buffer.from('{"content":"Hi","text":"Hi"}'), null])
          await expectApiError(
            await rejectedMember.postRaw(path, body),
            415,
            'unsupported_media_type',
          );
    });

    it('C50 rejects another charset with 415 and names the problem', () =>
      expectUnsupported('application/json; charset=utf-16', /^The body must be UTF-8/));

    it.each([
      'APPLICATION/JSON;charset="utf-8";',
      'application/json; charset=us-ascii',
      'application/json; odata=verbose; profile="a;charset=utf-16"',
    ])('C50 accepts "%s"', async (type) => {
      const body = '{"content":"\u00e9"}';
      const response = await member.postRaw('/posts', body, { 'content-type': type });
      expect(response.status).toBe(201);
      expect(await json(response)).toMatchObject({ content: '\u00e9' });
    });
  });

  describe('Content-Encoding', () => {
    const send = (sender: Member, body: Buffer<ArrayBuffer>, encoding: string) =>
      sender.postRaw('/posts', body, { ...JSON_TYPE, 'content-encoding': encoding });

    it('C54 accepts gzip, br and deflate', async () => {
      const text = Buffer.from('{"content":"Hi \u{1f600}"}');
      for (const [encoding, body] of [
        ['gzip', gzipSync(text)],
        ['GZIP', gzipSync(text)],
        ['br', brotliCompressSync(text)],
        ['deflate', deflateSync(text)],
      ] as const) {
        const response = await send(member, body, encoding);
        expect(response.status, encoding).toBe(201);
        expect(await json(response)).toMatchObject({ content: 'Hi \u{1f600}' });
      }
    });

    it('C54 rejects an unknown encoding with 415 and names the known ones', async () => {
      const text = Buffer.from('{"content":"Hi"}');
      for (const encoding of ['bogus', 'compress', 'gzip, br', 'identity, gzip']) {
        const response = await send(rejectedMember, text, encoding);
        const body = await expectApiError(response, 415, 'unsupported_media_type');
        expect(body.error_description).toMatch(/gzip, deflate or br.*Content-Encoding/);
      }
    });

    it('C54 rejects a body that does not match its encoding or is incomplete with 400', async () => {
      const text = Buffer.from('{"content":"Hi"}');
      const responses = [
        await send(rejectedMember, text, 'gzip'),
        await send(rejectedMember, gzipSync(text).subarray(0, -6), 'gzip'),
        await send(rejectedMember, text, 'br'),
      ];
      for (const response of responses) {
        const { error_description } = await expectApiError(response, 400, 'invalid_request');
        expect(error_description).toBe('The body does not match its Content-Encoding.');
      }
    });

    it('C54 rejects a compressed gigabyte with 413 without inflating all of it', async () => {
      // Higher levels compress better and take seconds.
      const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
      const brotli = await buffer(Readable.from(GIGABYTE).pipe(createBrotliCompress(fast)));
      const block = gzipSync(BOMB_BLOCK);
      const bombs = [
        ['br', brotli],
        ['gzip', Buffer.concat(GIGABYTE.map(() => block))],
      ] as const;
      expect(brotli.length).toBeLessThan(MAX_BYTES);
      for (const [encoding, bomb] of bombs) {
        const cost = await processorTimeOf(async () => {
          await expectApiError(
            await send(rejectedMember, bomb, encoding),
            413,
            'payload_too_large',
          );
        });
        // Inflating all of it takes more than a second of processor time.
        expect(cost).toBeLessThan(500);
      }
    });

    it('C55 limits the size after decompression', async () => {
      const largest = '{"content":"Hi"}'.padEnd(MAX_BYTES);
      expect((await send(member, gzipSync(largest), 'gzip')).status).toBe(201);
      const response = await send(rejectedMember, gzipSync(`${largest} `), 'gzip');
      await expectApiError(response, 413, 'payload_too_large');
    });
  });

  describe('size', () => {
    it(`C55 accepts ${MAX_BYTES} bytes and rejects one more with 413`, async () => {
      const emoji = '\u{1f600}'.repeat(10_000);
      for (const start of ['{"content":"Hi"}', `{"content":"${emoji}"}`]) {
        const largest = start + ' '.repeat(MAX_BYTES - Buffer.byteLength(start));
        expect((await member.postRaw('/posts', largest, JSON_TYPE)).status).toBe(201);
        const response = await postRejected(`${largest} `);
        const { error_description } = await expectApiError(response, 413, 'payload_too_large');
        expect(error_description).toContain(String(MAX_BYTES));
      }
    });

    it('C55 limits a streamed body without Content-Length', async () => {
      const stream = (sender: Member, bytes: number) =>
        app().fetch('/dev/v1/posts', {
          method: 'POST',
          headers: { ...JSON_TYPE, authorization: `Bearer ${sender.token}` },
          body: new Blob(['{"content":"Hi"}'.padEnd(bytes)]).stream(),
          ...STREAM_OPTIONS,
        });
      expect((await stream(member, MAX_BYTES)).status).toBe(201);
      await expectApiError(await stream(rejectedMember, MAX_BYTES + 1), 413, 'payload_too_large');
    });
  });

  /** `request.pipe.spec.ts` tests more names and levels. */
  describe('members of the object', () => {
    /**
     * Expects at least one of ten rejections to take less than `maxMs` of processor time. Other work of the process may add to the
     * time of the others.
     */
    async function expectCheap(
      { maxMs }: { maxMs: number },
      text: string,
      ...violations: string[]
    ): Promise<void> {
      let lowestCost = Infinity;
      for (let attempt = 1; attempt <= 10 && lowestCost >= maxMs; attempt += 1) {
        const cost = await processorTimeOf(async () => {
          await expectFieldErrors(await postRejected(text), ...violations);
        });
        lowestCost = Math.min(lowestCost, cost);
      }
      expect(lowestCost).toBeLessThan(maxMs);
    }

    it('C56 rejects 21 levels, and 50,000 levels within 50 ms', async () => {
      for (const path of paths)
        await expectFieldErrors(await postRejected(objects(21, 'a'), path), 'too_deep');
      for (const text of [objects(50_000, ''), `{"tags":${arrays(50_000)}}`])
        await expectCheap({ maxMs: 50 }, text, 'too_deep');
    });

    it('C57 lists 20 violations of a body full of unknown fields, within 200 ms', async () => {
      // About as many different names as fit into a body.
      const fields = Array.from({ length: 30_000 }, (_, i) => [i.toString(36), 1] as const);
      const text = JSON.stringify(Object.fromEntries(fields));
      const names = Object.keys(JSON.parse(text) as object).slice(0, 19);
      const violations = ['one_of_required', ...names.map((name) => `${name} unknown_field`)];
      await expectCheap({ maxMs: 200 }, text, ...violations);
    });

    it('C57 rejects 100,000 different names with 413', async () => {
      const names = Array.from({ length: 100_000 }, (_, i) => [i.toString(36), 1] as const);
      const response = await postRejected(JSON.stringify(Object.fromEntries(names)));
      await expectApiError(response, 413, 'payload_too_large');
    });

    it('C58 uses the last of two members with the same name', async () => {
      const response = await member.postRaw('/posts', '{"content":"a","content":"b"}', JSON_TYPE);
      expect(response.status).toBe(201);
      const { id, content } = await json<{ id: string; content: string }>(response);
      expect(content).toBe('b');
      expect(await json(await member.get(`/posts/${id}`))).toMatchObject({ content: 'b' });
      await expectFieldErrors(
        await postRejected('{"content":"a","content":1}'),
        'content wrong_type',
      );
    });

    it('C59 rejects members with the names of inherited properties', async () => {
      const inherited = '"__proto__":{"polluted":true}';
      for (const path of paths)
        for (const text of [
          `{"content":"a",${inherited}}`,
          `{"text":"a",${inherited}}`,
          `{"content":{${inherited}}}`,
        ]) {
          const response = await postRejected(text, path);
          const { errors } = await expectApiError(response, 400, 'invalid_request');
          expect(errors).toContainEqual(
            expect.objectContaining({ field: '__proto__', code: 'unknown_field' }),
          );
        }
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });

    it('C60 rejects fields that the server sets', async () => {
      const fields = {
        id: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
        createdAt: '2020-01-01T00:00:00.000Z',
        userId: 'usr_01kahq5f3veqdr8bn3tdmx3q0a',
        deleted: true,
        permalink: 'https://evil.example',
      };
      const violations = Object.keys(fields).map((field) => `${field} unknown_field`);
      await expectFieldErrors(
        await rejectedMember.post('/posts', { content: 'a', ...fields }),
        ...violations,
      );
      await expectFieldErrors(
        await rejectedMember.post(commentsPath, { text: 'a', ...fields }),
        ...violations,
      );
    });

    it('C61 suggests the nearest field in the message', async () => {
      const response = await rejectedMember.post('/posts', { content: 'a', reach_km: 1 });
      const { errors } = await expectFieldErrors(response, 'reach_km unknown_field');
      expect(errors?.[0]?.message).toBe(
        '"reach_km" is not a field of this body. Did you mean reachKm? Its fields are: ' +
          'title, content, type, images, tags, latitude, longitude, reachKm, visibility.',
      );
    });
  });
});
