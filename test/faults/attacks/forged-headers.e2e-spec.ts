import { Post } from '../../../src/modules/posts/post.entities.js';
import { ApiCall } from '../../../src/modules/quota/quota.entities.js';
import { CallLog } from '../../../src/modules/quota/calls/call-log.service.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { expectPage } from '../../support/responses.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { inOneChunk, smuggling } from './smuggling.js';
import { sendRaw, requestOf } from './send-raw.js';

const FORGED_HEADERS = [
  'X-Forwarded-Host: evil.example',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Port: 8443',
  'X-Forwarded-Prefix: /evil',
  'X-Forwarded-For: 203.0.113.66',
  'X-Forwarded-Server: evil.example',
  'Forwarded: for=203.0.113.66;host=evil.example;proto=https',
  'X-Host: evil.example',
  'X-Real-IP: 203.0.113.66',
  'X-Client-IP: 203.0.113.66',
  'CF-Connecting-IP: 203.0.113.66',
  'True-Client-IP: 203.0.113.66',
  'X-Original-URL: /dev/v1/posts',
  'X-Rewrite-URL: /dev/v1/posts',
  'X-Original-Host: evil.example',
  'Referer: https://evil.example/dev/v1/posts',
  'Origin: https://evil.example',
  'Via: 1.1 evil.example',
  'Client-Cert: :MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6:',
  'X-SSL-Client-Verify: SUCCESS',
  'X-SSL-Client-S-DN: CN=admin',
  'X-Forwarded-User: admin',
  'Remote-User: admin',
];
const DOWNGRADES = ['X-Forwarded-Proto: http', 'X-Forwarded-Ssl: off', 'Forwarded: proto=http'];
const CLOSE = 'Connection: close';

/** A response without its random values and the values that depend on the time. */
function withoutRandomValues(text: string): string {
  return text
    .replace(/^Date: .*$/m, '')
    .replaceAll(/req_[0-9a-z]{26}/g, '')
    .replaceAll(/(name="(?:transaction|token)" value=")[^"]*/g, '$1')
    .replaceAll(/^(Set-Cookie: [\w-]+=)[^;]*/gm, '$1')
    .replaceAll(/; Expires=[^;]*/g, '')
    .replaceAll(/^ETag: .*$/gm, '');
}

onSqlite('Forged headers (RFC 9700 §4.13, TLS terminating reverse proxies)', (database) => {
  // The test sends dozens of malformed token requests from one address.
  const app = useTestApp(database, rateLimits({ 'token-failures': UNLIMITED }));
  const behindProxy = useTestApp(database, { TRUST_PROXY: '1' });
  const behindHttps = useTestApp(database, { PUBLIC_URL: 'https://api.example' });

  /** Request lines with their headers. */
  async function requests(): Promise<[line: string, ...headers: string[]][]> {
    const member = await Member.join(app());
    const { id } = await member.publish();
    await member.publish();
    const token = `Authorization: Bearer ${member.token}`;
    const client = await app().addClient();
    const form = 'Content-Type: application/x-www-form-urlencoded';
    const pages = ['/', '/docs', '/docs/errors', '/account', '/account/apps', `/post/${id}`];
    const documents = ['/docs/swagger-ui-init.js', '/openapi.json', '/livez', '/assets/style.css'];
    const links = [authorizeLink(client), authorizeLink(client, { scope: 'nothing' })];
    const others = ['/.well-known/oauth-authorization-server', '/dev/v1/nope', '/oauth/nope'];
    return [
      ...[...pages, ...documents, ...links, ...others].map((path): [string] => [`GET ${path}`]),
      ['GET /dev/v1/posts?limit=1', token],
      [`GET /dev/v1/posts/${id}`, token],
      ['GET /dev/v1/me'],
      ['POST /oauth/token', form, 'Content-Length: 0'],
      ['OPTIONS /oauth/token', 'Access-Control-Request-Method: POST'],
      ['HEAD /oauth/authorize'],
    ];
  }

  it.for([
    { way: 'directly', site: app },
    { way: 'through a proxy', site: behindProxy },
    { way: 'behind HTTPS', site: behindHttps },
  ])(
    'change no link, redirect, cookie, header or document: $way',
    async ({ way, site }, { task }) => {
      const baseUrl = `http://127.0.0.1:${site().config.server.port}`;
      const sent = await requests();
      for (const [line, ...headers] of sent) {
        const send = async (...forged: string[]): Promise<string> => {
          const { text } = await sendRaw(baseUrl, requestOf(line, [...headers, CLOSE, ...forged]));
          return withoutRandomValues(text);
        };
        const honest = await send();
        expect(honest).toMatch(/^HTTP\/1\.1 [2-5]\d\d /);
        expect(await send(...FORGED_HEADERS)).toBe(honest);
        expect(await send(...DOWNGRADES)).toBe(honest);
        // `Host` is the other forged header.
        const withForgedHost = [
          `${line} HTTP/1.1`,
          'Host: evil.example',
          ...headers,
          CLOSE,
          '',
          '',
        ];
        expect(
          withoutRandomValues((await sendRaw(baseUrl, withForgedHost.join('\r\n'))).text),
        ).toBe(honest);
      }
      reportFigure(
        task,
        `${sent.length} kinds of requests, ${FORGED_HEADERS.length + DOWNGRADES.length + 1} forged headers, ${way}, the same responses`,
      );
    },
  );

  it('is not open to prototype pollution', async () => {
    const member = await Member.join(app());
    const client = await app().addClient();
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
    // Members of JSON: C59.
    for (const name of names) {
      const queries = [`${name}=1`, `${name}[polluted]=1`, `a[${name}][polluted]=1`];
      queries.push(`${name}.polluted=1`, `constructor[prototype][polluted]=1`);
      for (const query of queries) {
        expect((await member.get(`/posts?${query}`)).status).toBe(200);
        const link = `${authorizeLink(client)}&${query}`;
        expectPage(await new Browser(app()).open(link), 200);
        const form = { method: 'POST', body: new URLSearchParams(query) };
        expect((await app().fetch('/oauth/token', form)).status).toBe(401);
      }
      const cookie = `${name}=1; ${name}.polluted=1`;
      expect((await app().fetch('/account/apps', { headers: { cookie } })).status).toBe(200);
    }
    for (const probe of [{}, [], () => undefined, 'text', 1])
      expect((probe as unknown as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((await member.get('/me')).status).toBe(200);
  });

  it('rejects request smuggling', async ({ task }) => {
    const member = await Member.join(app());
    const attacks = smuggling(member.token);
    const accepted: unknown[] = [];
    for (const { what, bytes } of attacks) {
      const { text, statuses, isClosed } = await sendRaw(app().baseUrl, bytes);
      const isRejected = statuses.every((status) => [400, 413, 501].includes(status));
      const mayServeSecond = statuses.length > 1 || !isClosed || text.includes(member.user.id);
      if (!isRejected || mayServeSecond) accepted.push({ what, statuses, isClosed });
    }
    expect(accepted).toEqual([]);
    await app().service(CallLog).flush();
    const smuggled = { userId: member.user.id, route: 'GET /dev/v1/me' };
    expect(await app().dataSource.manager.countBy(ApiCall, smuggled)).toBe(0);
    expect(await app().dataSource.manager.countBy(Post, { userId: member.user.id })).toBe(0);
    expect((await member.get('/me')).status).toBe(200);
    reportFigure(task, `${attacks.length} ways to smuggle a request, each rejected or closed`);
  });

  it('serves a request after a rejected one, and no request in the body of the rejected one', async () => {
    const { token } = await Member.join(app());
    const inner = requestOf('GET /dev/v1/me', [`Authorization: Bearer ${token}`]);
    const next = requestOf('GET /livez', [CLOSE]);
    const json = 'Content-Type: application/json';
    const authorization = `Authorization: Bearer ${token}`;
    const large = inner.padEnd(300_000, ' ');
    const rejected: [line: string, headers: string[], body: string, statuses: number[]][] = [
      ['POST /dev/v1/posts', [json], inner, [401, 200]],
      ['POST /dev/v1/posts', [authorization, 'Content-Type: text/plain'], inner, [415, 200]],
      ['POST /dev/v1/posts', [authorization, json], inner, [400, 200]],
      ['POST /dev/v1/posts', [authorization, json, 'Expect: 100-continue'], inner, [400, 200]],
      [
        'POST /dev/v1/posts',
        [authorization, json, 'Transfer-Encoding: chunked'],
        inner,
        [400, 200],
      ],
      ['POST /dev/v1/nope', [], inner, [404, 200]],
      ['PUT /dev/v1/me', [], inner, [405, 200]],
      ['GET /dev/v1/posts/%zz', [], inner, [400, 200]],
      ['GET /dev/v1/me', [], inner, [401, 200]],
      ['HEAD /dev/v1/me', [], inner, [401, 200]],
      ['POST /oauth/token', [json], inner, [400, 200]],
      ['POST /dev/v1/posts', [authorization, json], large, [413, 200]],
      ['POST /oauth/token', ['Content-Type: application/x-www-form-urlencoded'], large, [413, 200]],
    ];
    for (const [line, headers, body, expected] of rejected) {
      const first = headers.some((header) => header.startsWith('Transfer-Encoding:'))
        ? requestOf(line, headers, inOneChunk(body))
        : requestOf(line, [...headers, `Content-Length: ${body.length}`], body);
      const { text, statuses, isClosed } = await sendRaw(app().baseUrl, first + next);
      const ids = [...text.matchAll(/^x-request-id: (.*)\r$/gim)].map(([, id]) => id);
      // The service may close the connection instead of reading a large body.
      expect([line, headers, statuses, isClosed]).toEqual([
        line,
        headers,
        expect.toBeOneOf([expected, expected.slice(0, 1)]),
        true,
      ]);
      expect(new Set(ids).size).toBe(statuses.length);
    }
  });
});
