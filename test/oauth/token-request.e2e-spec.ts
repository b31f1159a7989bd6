import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { approve, exchange, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const FORM = 'application/x-www-form-urlencoded';

/** A form of so many parameters, the two credentials that follow it included. */
function withParameters(count: number): string {
  const others = Array.from({ length: count - 3 }, (_, number) => `p${number}=1`);
  return ['grant_type=password', ...others].join('&');
}

onOneEngine('A request of the token endpoint', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  async function newCode(): Promise<string> {
    return (await approve(app(), await app().addUser(), client)).get('code') ?? '';
  }

  /** A good exchange of a fresh code, as parameters. */
  async function goodForm(): Promise<Record<string, string>> {
    return {
      grant_type: 'authorization_code',
      code: await newCode(),
      redirect_uri: client.redirectUris[0] ?? '',
      client_id: client.clientId,
      client_secret: client.secret ?? '',
    };
  }

  /** The client's credentials, as the end of a form. */
  function credentials(): string {
    return `&client_id=${client.clientId}&client_secret=${client.secret}`;
  }

  function send(
    body: RequestInit['body'],
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return app().fetch('/oauth/token', { method: 'POST', headers, body });
  }

  it('O59 A valid exchange answers with all five members, the scopes in canonical order', async () => {
    const user = await app().addUser();
    const scope = 'analytics.read posts.read profile.read';
    const code = (await approve(app(), user, client, { scope })).get('code') ?? '';
    const answer = await exchange(app(), client, code);
    expect(answer.status).toBe(200);
    expect(await json(answer)).toEqual({
      access_token: expect.stringMatching(/^svcat_[A-Za-z0-9_-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^svcrt_[A-Za-z0-9_-]{43}$/),
      scope: 'profile.read posts.read analytics.read',
    });
  });

  it('O60 Good and bad answers are JSON that nobody may store', async () => {
    const good = await exchange(app(), client, await newCode());
    expect(good.status).toBe(200);
    expectTokenHeaders(good);
    expectTokenHeaders(await exchange(app(), client, 'nothing'));
  });

  it('O62 A good exchange as anything but a form is an invalid_request, and spends nothing', async () => {
    const form = await goodForm();
    const encoded = new URLSearchParams(form).toString();
    const multipart = new FormData();
    for (const [name, value] of Object.entries(form)) multipart.set(name, value);
    const typed = [
      ['application/json', JSON.stringify(form)],
      ['application/json', encoded],
      ['text/plain', encoded],
      [`${FORM}; charset=utf-16`, encoded],
      [`${FORM}; charset=iso-8859-1`, encoded],
    ] as const;
    for (const [type, body] of typed)
      await expectTokenError(await send(body, { 'content-type': type }), 'invalid_request');
    for (const body of [multipart, Buffer.from(encoded)])
      await expectTokenError(await send(body), 'invalid_request');
    const good = await send(encoded, { 'content-type': `${FORM}; charset=UTF-8` });
    expect(good.status).toBe(200);
  });

  it('O62 No body is an invalid_request, and an empty form names no client', async () => {
    await expectTokenError(await send(null), 'invalid_request');
    await expectTokenError(await send(null, { 'content-type': FORM }), 'invalid_client');
    await expectTokenError(await send('', { 'content-type': FORM }), 'invalid_client');
  });

  it('O62 A request without any length is an empty form', async () => {
    const socket = connect(app().config.server.port, '127.0.0.1');
    await once(socket, 'connect');
    const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nConnection: close`;
    socket.end(`${head}\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toContain('"error":"invalid_client"');
  });

  it.each([`${FORM};charset=UTF-8`, `${FORM}; charset="utf-8"`, FORM.toUpperCase(), `${FORM};`])(
    'O62 The content type %s is a form',
    async (type) => {
      const body = `grant_type=password${credentials()}`;
      const answer = await send(body, { 'content-type': type });
      await expectTokenError(answer, 'unsupported_grant_type');
    },
  );

  it('O63 Parameters in the address are not read', async () => {
    const { client_id = '', client_secret = '', ...grant } = await goodForm();
    const answer = await app().fetch(`/oauth/token?${new URLSearchParams(grant)}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id, client_secret }),
    });
    await expectTokenError(answer, 'invalid_request');
    const form = { ...grant, client_id, client_secret };
    expect((await send(new URLSearchParams(form))).status).toBe(200);
  });

  it('O63 A client_secret in the address is an invalid_request, and spends nothing', async () => {
    const form = await goodForm();
    const body = new URLSearchParams(form);
    const exposed = await app().fetch(`/oauth/token?client_secret=${client.secret}`, {
      method: 'POST',
      body,
    });
    await expectTokenError(exposed, 'invalid_request');
    expect((await send(new URLSearchParams(form))).status).toBe(200);
  });

  it.each([undefined, ''])('O64 The grant_type %j is an invalid_request', async (grantType) => {
    const answer = await requestToken(app(), client, { grant_type: grantType });
    await expectTokenError(answer, 'invalid_request');
  });

  it.each(['password', 'client_credentials', 'implicit', 'foo', 'AUTHORIZATION_CODE', '__proto__'])(
    'O64 The grant_type "%s" is an unsupported_grant_type',
    async (grantType) => {
      const answer = await requestToken(app(), client, { grant_type: grantType });
      await expectTokenError(answer, 'unsupported_grant_type');
    },
  );

  it.each([
    ['a parameter twice', 'grant_type=password&grant_type=password'],
    ['an optional parameter twice', 'grant_type=refresh_token&refresh_token=x&scope=a&scope=a'],
    ['array syntax', 'grant_type[]=password'],
    ['object syntax', 'grant_type[a]=password'],
    ['array syntax of an optional parameter', 'grant_type=foo&scope[]=posts.read'],
    ['object syntax of an optional parameter', 'grant_type=foo&scope[a][b]=posts.read'],
    ['array syntax beside the parameter', 'grant_type=foo&client_id[]=x'],
    ['a broken encoding', 'grant_type=refresh_token&refresh_token=%zz'],
    ['bytes that are no UTF-8', 'grant_type=refresh_token&refresh_token=%ff'],
    ['a form of 101 parameters', withParameters(101)],
    ['prototype names', '__proto__[grant_type]=password&constructor=x'],
  ])('O65 %s is an invalid_request', async (_, body) => {
    const answer = await send(body + credentials(), { 'content-type': FORM });
    await expectTokenError(answer, 'invalid_request');
  });

  it('O65 A hundred parameters are read', async () => {
    const answer = await send(withParameters(100) + credentials(), { 'content-type': FORM });
    await expectTokenError(answer, 'unsupported_grant_type');
  });

  it('O65 Raw bytes that are no UTF-8 are an invalid_request', async () => {
    const start = `grant_type=refresh_token${credentials()}&refresh_token=`;
    const body = Buffer.concat([Buffer.from(start), Buffer.of(0xff)]);
    await expectTokenError(await send(body, { 'content-type': FORM }), 'invalid_request');
  });

  it('O65 More than 16,384 bytes are 413 in the same shape', async () => {
    const most = `grant_type=password${credentials()}&p=`.padEnd(16_384, 'x');
    const headers = { 'content-type': FORM };
    await expectTokenError(await send(most, headers), 'unsupported_grant_type');
    await expectTokenError(await send(`${most}x`, headers), 'invalid_request', 413);
    const zipped = { ...headers, 'content-encoding': 'gzip' };
    await expectTokenError(await send(gzipSync(most), zipped), 'unsupported_grant_type');
    await expectTokenError(await send(gzipSync(`${most}x`), zipped), 'invalid_request', 413);
  });

  it.each(['gzip', 'br', 'deflate', 'snappy'])(
    'O65 A good exchange that is not %s is an invalid_request, and spends nothing',
    async (coding) => {
      const body = new URLSearchParams(await goodForm()).toString();
      const headers = { 'content-type': FORM, 'content-encoding': coding };
      await expectTokenError(await send(body, headers), 'invalid_request');
      expect((await send(body, { 'content-type': FORM })).status).toBe(200);
    },
  );

  it('O66 An empty client_secret of a public app counts as omitted', async () => {
    const native = await app().addClient({ kind: 'public' });
    const code = (await approve(app(), await app().addUser(), native)).get('code') ?? '';
    const answer = await exchange(app(), native, code, { client_secret: '' });
    expect(answer.status).toBe(200);
    const { refresh_token } = await json<TokenBody>(answer);
    const form = { grant_type: 'refresh_token', refresh_token, scope: '', client_secret: '' };
    expect((await requestToken(app(), native, form)).status).toBe(200);
  });

  it('O67 Unknown parameters are ignored', async () => {
    const extra = { audience: 'a', 'resource[]': 'b', client_assertion: 'c', hasOwnProperty: 'd' };
    expect((await exchange(app(), client, await newCode(), extra)).status).toBe(200);
  });

  it('O67 So are unknown parameters that come twice', async () => {
    const body = new URLSearchParams(await goodForm());
    for (const resource of ['https://a.example', 'https://b.example'])
      body.append('resource', resource);
    const answer = await app().fetch('/oauth/token', { method: 'POST', body });
    expect(answer.status).toBe(200);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s never gives a token', async (method) => {
    const answer = await app().fetch('/oauth/token', { method });
    expect([404, 405]).toContain(answer.status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await answer.text()).not.toMatch(/Cannot|statusCode/);
  });
});

onOneEngine('A path under /oauth that leads nowhere', (database) => {
  const app = useTestApp(database);

  it.each(['/oauth/nope', '/oauth/token/', '/oauth/authorize/nope/deeper'])(
    'answers %s with the error body of RFC 6749',
    async (path) => {
      const answer = await app().fetch(path, { method: 'POST' });
      expect(answer.status).toBe(404);
      expect(await json(answer)).toEqual({
        error: 'invalid_request',
        error_description: 'There is no such endpoint. The documentation lists them all.',
      });
    },
  );

  it('answers the address of a form, opened in a browser, with a page', async () => {
    const answer = await app().fetch('/oauth/authorize/decision');
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('text/html');
  });
});
