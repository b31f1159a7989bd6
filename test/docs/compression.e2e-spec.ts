import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { onSqlite } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

const FILES = [
  '/openapi.json',
  '/docs/api.md',
  '/docs/swagger-ui-bundle.js',
  '/docs/swagger-ui-standalone-preset.js',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-init.js',
  '/docs/oauth2-redirect.html',
  '/docs/postman.json',
  '/docs/postman-environment.json',
  '/assets/style.css',
  '/assets/code.js',
  '/assets/icon.svg',
];

const DECODERS: Record<string, (body: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

interface Received {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

onSqlite('Compression', (database) => {
  const app = useTestApp(database);

  /** Without `fetch`, which decodes the body. */
  async function get(
    path: string,
    accepted?: string,
    { method = 'GET', ...headers }: Record<string, string> = {},
  ): Promise<Received> {
    const coding = accepted === undefined ? {} : { 'accept-encoding': accepted };
    const sent = request(`${app().baseUrl}${path}`, { method, headers: { ...coding, ...headers } });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: await buffer(response),
    };
  }

  it.each(FILES)(
    'sends %s in the coding of the client, with an entity tag of its own',
    async (path) => {
      const plain = await get(path);
      expect(plain.status).toBe(200);
      expect(plain.headers).not.toHaveProperty('content-encoding');
      const tags = [plain.headers.etag];
      for (const [coding, decode] of Object.entries(DECODERS)) {
        const response = await get(path, coding);
        const { headers, body } = response;
        expect(headers['content-encoding']).toBe(coding);
        expect(headers['content-type']).toBe(plain.headers['content-type']);
        expect(headers['cache-control']).toBe(plain.headers['cache-control']);
        expect(headers['content-length']).toBe(String(body.length));
        expect(decode(body).equals(plain.body)).toBe(true);
        const head = await get(path, coding, { method: 'HEAD' });
        expect([head.status, head.headers['content-encoding'], head.body.length]).toEqual([
          200,
          coding,
          0,
        ]);
        const again = await get(path, coding, { 'if-none-match': headers.etag ?? '' });
        expect([again.status, again.body.length]).toEqual([304, 0]);
        tags.push(headers.etag);
      }
      expect(new Set(tags).size).toBe(3);
      for (const tag of tags) expect(tag).toMatch(/^(W\/)?"[^"]+"$/);
      for (const accepted of [undefined, 'br', 'gzip'])
        expect((await get(path, accepted)).headers.vary).toContain('Accept-Encoding');
    },
  );

  it.each([
    ['br', 'gzip, deflate, br, zstd'],
    ['br', '*'],
    ['gzip', 'gzip, deflate'],
    ['gzip', 'GZIP;q=0.5, br;q=0'],
    [undefined, ''],
    [undefined, 'identity, br;q=0.5'],
    [undefined, 'deflate, zstd'],
    [undefined, 'br;q=0, gzip;q=0, *;q=1'],
  ])(
    'selects the coding %s for Accept-Encoding: %s (RFC 9110 §12.5.3)',
    async (coding, accepted) => {
      for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js']) {
        const { status, headers } = await get(path, accepted);
        expect([path, status, headers['content-encoding']]).toEqual([path, 200, coding]);
      }
    },
  );

  it('makes the document and the script of Swagger UI at least three times smaller', async () => {
    for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js']) {
      const [plain, compressed] = [await get(path), await get(path, 'gzip')];
      expect(compressed.body.length).toBeLessThan(plain.body.length / 3);
    }
  });
});
