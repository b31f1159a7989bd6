import { AuditEvent } from '../../src/audit/audit-event.entity.js';
import { Post } from '../../src/modules/posts/post.entity.js';
import { expectApiError } from '../support/api.js';
import { authorizeLink, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { Member, type PostBody } from '../support/member.js';
import { getRaw, head, sendBytes } from '../support/raw-request.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

/** More than Node reads of a request's first line and headers, in bytes. */
const TOO_MUCH = 16_384;

onOneEngine('Requests that clients would not send', (database) => {
  const app = useTestApp(database);
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
  });

  const send = (method: string, path: string, headers: string[] = [], body = '') =>
    sendBytes(app().baseUrl, [...head(app().baseUrl, method, path), ...headers], body);

  async function expectAlive(): Promise<void> {
    expect((await member.get('/me')).status).toBe(200);
  }

  it.each([
    ['an address', '/dev/v1/me?x='.padEnd(TOO_MUCH, 'x'), []],
    ['one header', '/dev/v1/me', [`X-Long: ${'x'.repeat(TOO_MUCH)}`]],
    [
      'many headers',
      '/dev/v1/me',
      Array.from({ length: 200 }, (_, i) => `X-${i}: ${'x'.repeat(90)}`),
    ],
    ['a token', '/dev/v1/me', [`Authorization: Bearer svcat_${'a'.repeat(TOO_MUCH)}`]],
  ] as const)('C19 %s beyond 16 kB is 431, and the service goes on', async (_, path, headers) => {
    expect((await send('GET', path, [...headers])).status).toBe(431);
    await expectAlive();
  });

  it.each(['http://[', 'http://[/dev/v1/posts'])(
    'C2 The target %s, which is no address, is 404 in our words',
    async (target) => {
      for (const method of ['GET', 'POST'])
        await expectApiError(await send(method, target), 404, 'not_found');
      await expectAlive();
    },
  );

  it('C2 A whole address as the target is its path', async () => {
    const answer = await send('GET', 'http://evil.example/dev/v1/me');
    await expectApiError(answer, 401, 'unauthorized');
  });

  it.each([
    ['both Transfer-Encoding and Content-Length', ['Transfer-Encoding: chunked'], '15'],
    ['two lengths', ['Content-Length: 3'], '15'],
    ['a length that is no number', [], '0x0f'],
    ['a transfer coding that is not the last', ['Transfer-Encoding: chunked, identity'], '15'],
  ])('C21 %s are 400 at once, and nothing is stored', async (_, headers, length) => {
    const body = '{"content":"x"}';
    const answer = await send(
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
    expect(answer.status).toBe(400);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await answer.text()).not.toContain('HTTP/1.1');
    expect(await app().dataSource.manager.countBy(Post, { userId: member.user.id })).toBe(0);
    await expectAlive();
  });

  it.each([
    ['a line break', 'a\r\n b'],
    ['a bare line feed', 'a\nX-Injected: 1'],
    ['a carriage return', 'a\rX-Injected: 1'],
    ['NUL', 'a\0b'],
  ])('C26 a request id with %s goes no further than the parser', async (_, id) => {
    const answer = await send('GET', '/dev/v1/me', [`X-Request-Id: ${id}`]);
    expect([400, 401]).toContain(answer.status);
    expect(answer.headers.get('x-request-id') ?? 'req_').toMatch(/^(req_|a$)/);
    expect(answer.headers.get('x-injected')).toBeNull();
    await expectAlive();
  });

  it('C26 of several request ids none is taken', async () => {
    const answer = await send('GET', '/dev/v1/me', ['X-Request-Id: one', 'X-Request-Id: two']);
    const { request_id } = await expectApiError(answer, 401, 'unauthorized');
    expect(request_id).toMatch(/^req_[0-9a-z]{26}$/);
  });
});

onOneEngine('What a caller says about the way that it came', (database) => {
  const app = useTestApp(database, {
    SITE_URL: 'https://site.example',
    OAUTH_TOKEN_FAILURES: '2',
  });
  const FORGED = [
    'Host: evil.example',
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Proto: https',
    'X-Original-URL: /evil.example',
    'Forwarded: host=evil.example;proto=https',
    'Connection: close',
  ];

  /** A request in which every address is a lie, with its whole answer as one text. */
  async function lie(line: string, headers: string[] = [], body = '') {
    const sent = [`${line} HTTP/1.1`, ...FORGED, ...headers, `Content-Length: ${body.length}`];
    const answer = await sendBytes(app().baseUrl, sent, body);
    const text = await answer.clone().text();
    return { answer, all: `${JSON.stringify([...answer.headers])}${text}` };
  }

  it('C24 is in no permalink, Location, Link, error or metadata', async () => {
    const member = await Member.join(app());
    const own = [`Authorization: Bearer ${member.token}`, 'Content-Type: application/json'];
    const published = await lie('POST /dev/v1/posts', own, '{"content":"Hi"}');
    expect(published.answer.status).toBe(201);
    const { id, permalink } = await json<PostBody>(published.answer);
    expect(permalink).toBe(`https://site.example/post/${id}`);
    expect(published.answer.headers.get('location')).toBe(`/dev/v1/posts/${id}`);
    await member.publish();
    const list = await lie('GET /dev/v1/posts?limit=1', own);
    expect(list.answer.status).toBe(200);
    const absolute = await lie('GET http://evil.example/dev/v1/posts?limit=1', own);
    expect(absolute.answer.status).toBe(200);
    const refused = await lie('GET /dev/v1/nope');
    expect(await json(refused.answer)).toMatchObject({
      doc_url: `${app().baseUrl}/docs/errors#not_found`,
    });
    const metadata = await lie('GET /.well-known/oauth-authorization-server');
    expect(await json(metadata.answer)).toMatchObject({
      issuer: app().baseUrl,
      token_endpoint: `${app().baseUrl}/oauth/token`,
    });
    for (const { all } of [published, list, absolute, refused, metadata])
      expect(all).not.toMatch(/\bevil\b/);
  });

  it('C24 is in no redirect and on no page', async () => {
    const client = await app().addClient();
    const back = await lie(`GET ${authorizeLink(client, { scope: 'nothing' })}`);
    const { origin, searchParams } = new URL(back.answer.headers.get('location') ?? '');
    expect(origin).toBe('https://garden.example');
    expect(searchParams.get('iss')).toBe(app().baseUrl);
    const page = await lie(`GET ${authorizeLink(client)}`);
    expect(page.answer.status).toBe(200);
    const account = await lie('GET /account');
    expect(account.answer.headers.get('location')).toMatch(/^\/account/);
    for (const { all } of [back, page, account]) expect(all).not.toMatch(/\bevil\b/);
  });

  it('C25 buys nobody another budget, and stands in no audit event', async () => {
    const client = await app().addClient();
    const statuses = [];
    for (let guess = 1; guess <= 4; guess += 1) {
      const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
      const headers = {
        'x-forwarded-for': `203.0.113.${guess}`,
        forwarded: `for=192.0.2.${guess}`,
      };
      statuses.push((await requestToken(app(), client, form, headers)).status);
    }
    expect(statuses).toEqual([401, 401, 429, 429]);
    const events = await app().dataSource.manager.find(AuditEvent);
    const addresses = new Set(events.map(({ address }) => address).filter(Boolean));
    expect([...addresses]).toEqual(['127.0.0.1']);
  });
});

onOneEngine('What a caller accepts', (database) => {
  const app = useTestApp(database);

  it.each([
    ['text/html'],
    ['application/xml'],
    ['*/*'],
    ['garbage'],
    [';;;,,'],
    ['application/json;q=0'],
    [undefined],
  ])('C104 is not asked: with Accept %s everything is JSON', async (accept) => {
    const member = await Member.join(app());
    const { id } = await member.publish();
    const get = (path: string, token: string) => {
      const url = `${app().baseUrl}/dev/v1${path}`;
      const asked = accept === undefined ? [] : ['Accept', accept];
      const { host } = new URL(url);
      return getRaw(url, ['Host', host, 'Authorization', `Bearer ${token}`, ...asked]);
    };
    for (const path of ['/me', '/posts', `/posts/${id}`, `/posts/${id}/comments`]) {
      const answer = await get(path, member.token);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await json(answer)).toBeTypeOf('object');
    }
    await expectApiError(await get('/nope', member.token), 404, 'not_found');
    await expectApiError(await get('/me', 'x'), 401, 'invalid_token');
  });
});
