import { Post } from '../../src/modules/posts/post.entities.js';
import { expectApiError } from '../support/api.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { Member, type PostBody } from '../support/member.js';
import { getRaw, requestHead, sendBytes } from '../support/raw-request.js';
import { json, returnUrl } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

/** Bytes. Exceeds Node's limit for request line and headers. */
const TOO_LONG = 16_384;

onOneEngine('Transport', (database) => {
  const app = useTestApp(database, { SITE_URL: 'https://site.example' });
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
  });

  const send = (method: string, path: string, headers: string[] = [], body = '') =>
    sendBytes(app().baseUrl, [...requestHead(app().baseUrl, method, path), ...headers], body);

  async function expectAlive(): Promise<void> {
    expect((await member.get('/me')).status).toBe(200);
  }

  it.each([
    ['a path', '/dev/v1/me?x='.padEnd(TOO_LONG, 'x'), []],
    ['one header', '/dev/v1/me', [`X-Long: ${'x'.repeat(TOO_LONG)}`]],
    [
      'many headers',
      '/dev/v1/me',
      Array.from({ length: 200 }, (_, i) => `X-${i}: ${'x'.repeat(90)}`),
    ],
    ['a token', '/dev/v1/me', [`Authorization: Bearer svcat_${'a'.repeat(TOO_LONG)}`]],
  ] as const)(
    'C19 rejects %s of at least 16 KiB with 431, and keeps running',
    async (_, path, headers) => {
      expect((await send('GET', path, [...headers])).status).toBe(431);
      await expectAlive();
    },
  );

  it.each(['http://[', 'http://[/dev/v1/posts'])(
    'C2 returns the 404 of the API for the invalid request target %s',
    async (target) => {
      for (const method of ['GET', 'POST'])
        await expectApiError(await send(method, target), 404, 'not_found');
      await expectAlive();
    },
  );

  it('C2 uses the path of an absolute request target', async () => {
    const response = await send('GET', 'http://evil.example/dev/v1/me');
    await expectApiError(response, 401, 'unauthorized');
  });

  it.each([
    ['both Transfer-Encoding and Content-Length', ['Transfer-Encoding: chunked'], '15'],
    ['two lengths', ['Content-Length: 3'], '15'],
    ['an invalid length', [], '0x0f'],
    ['chunked coding that is not the last', ['Transfer-Encoding: chunked, identity'], '15'],
  ])('C21 rejects %s with 400 and stores nothing', async (_, headers, length) => {
    const body = '{"content":"x"}';
    // With a wrong body length, a server would read `GET /livez` as a second request.
    const response = await send(
      'POST',
      '/dev/v1/posts',
      [
        `Authorization: Bearer ${member.token}`,
        'Content-Type: application/json',
        `Content-Length: ${length}`,
        ...headers,
      ],
      `f\r\n${body}\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    expect(response.status).toBe(400);
    expect(response.headers.get('connection')).toBe('close');
    expect(await response.text()).not.toContain('HTTP/1.1');
    expect(await app().dataSource.manager.countBy(Post, { userId: member.user.id })).toBe(0);
    await expectAlive();
  });

  const FORGED_HEADERS = [
    'Host: evil.example',
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Proto: https',
    'X-Original-URL: /evil.example',
    'Forwarded: host=evil.example;proto=https',
    'Connection: close',
  ];

  /** Sends a request with forged hosts. Returns the response, and in `all` its headers and body as one text. */
  async function sendForged(line: string, headers: string[] = [], body = '') {
    const sent = [
      `${line} HTTP/1.1`,
      ...FORGED_HEADERS,
      ...headers,
      `Content-Length: ${body.length}`,
    ];
    const response = await sendBytes(app().baseUrl, sent, body);
    const text = await response.clone().text();
    return { response, all: `${JSON.stringify([...response.headers])}${text}` };
  }

  it('C24 returns no forged host in permalink, Location, Link, error or metadata', async () => {
    const author = await Member.join(app());
    const authorized = [`Authorization: Bearer ${author.token}`, 'Content-Type: application/json'];
    const published = await sendForged('POST /dev/v1/posts', authorized, '{"content":"Hi"}');
    expect(published.response.status).toBe(201);
    const { id, permalink } = await json<PostBody>(published.response);
    expect(permalink).toBe(`https://site.example/post/${id}`);
    expect(published.response.headers.get('location')).toBe(`/dev/v1/posts/${id}`);
    await author.publish();
    const list = await sendForged('GET /dev/v1/posts?limit=1', authorized);
    expect(list.response.status).toBe(200);
    const absolute = await sendForged('GET http://evil.example/dev/v1/posts?limit=1', authorized);
    expect(absolute.response.status).toBe(200);
    const rejected = await sendForged('GET /dev/v1/nope');
    expect(await json(rejected.response)).toMatchObject({
      doc_url: `${app().baseUrl}/docs/errors#not_found`,
    });
    const metadata = await sendForged('GET /.well-known/oauth-authorization-server');
    expect(await json(metadata.response)).toMatchObject({
      issuer: app().baseUrl,
      token_endpoint: `${app().baseUrl}/oauth/token`,
    });
    for (const { all } of [published, list, absolute, rejected, metadata])
      expect(all).not.toMatch(/\bevil\b/);
  });

  it('C24 returns no forged host in redirects and pages', async () => {
    const client = await app().addClient();
    const rejected = await sendForged(`GET ${authorizeLink(client, { scope: 'nothing' })}`);
    const { origin, searchParams } = returnUrl(rejected.all);
    expect(origin).toBe('https://garden.example');
    expect(searchParams.get('iss')).toBe(app().baseUrl);
    const page = await sendForged(`GET ${authorizeLink(client)}`);
    expect(page.response.status).toBe(200);
    const account = await sendForged('GET /account');
    expect(account.response.headers.get('location')).toMatch(/^\/account/);
    for (const { all } of [rejected, page, account]) expect(all).not.toMatch(/\bevil\b/);
  });

  it.each([
    ['text/html'],
    ['application/xml'],
    ['*/*'],
    ['garbage'],
    [';;;,,'],
    ['application/json;q=0'],
    [undefined],
  ])('C104 returns JSON for Accept: %s', async (accept) => {
    const author = await Member.join(app());
    const { id } = await author.publish();
    const get = (path: string, token: string) => {
      const url = `${app().baseUrl}/dev/v1${path}`;
      const lines = accept === undefined ? [] : ['Accept', accept];
      const { host } = new URL(url);
      return getRaw(url, ['Host', host, 'Authorization', `Bearer ${token}`, ...lines]);
    };
    for (const path of ['/me', '/posts', `/posts/${id}`, `/posts/${id}/comments`]) {
      const response = await get(path, author.token);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await json(response)).toBeTypeOf('object');
    }
    await expectApiError(await get('/nope', author.token), 404, 'not_found');
    await expectApiError(await get('/me', 'x'), 401, 'invalid_token');
  });

  it('sends no header that names the server software, and forbids content sniffing', async () => {
    const { headers } = await app().fetch('/dev/v1/me');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
