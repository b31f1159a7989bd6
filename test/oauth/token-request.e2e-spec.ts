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

onOneEngine('Token endpoint: requests', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  // An app of its own for each test: requests that are rejected before the authentication count as failures of the app.
  beforeEach(async () => {
    client = await app().addClient();
  });

  async function newCode(): Promise<string> {
    return (await approve(app(), await app().addUser(), client)).get('code') ?? '';
  }

  /** The parameters of a valid exchange of a new code. */
  async function validForm(): Promise<Record<string, string>> {
    return {
      grant_type: 'authorization_code',
      code: await newCode(),
      redirect_uri: client.redirectUris[0] ?? '',
      client_id: client.clientId,
      client_secret: client.secret ?? '',
    };
  }

  /** The credentials of the client, as the end of a form. */
  function credentials(): string {
    return `&client_id=${client.clientId}&client_secret=${client.secret}`;
  }

  function send(
    body: RequestInit['body'],
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return app().fetch('/oauth/token', { method: 'POST', headers, body });
  }

  it('O59 returns all five members of a token response, with the scopes in canonical order', async () => {
    const user = await app().addUser();
    const scope = 'analytics.read posts.read profile.read';
    const code = (await approve(app(), user, client, { scope })).get('code') ?? '';
    const response = await exchange(app(), client, code);
    expect(response.status).toBe(200);
    expect(await json(response)).toEqual({
      access_token: expect.stringMatching(/^svcat_[A-Za-z0-9_-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^svcrt_[A-Za-z0-9_-]{43}$/),
      scope: 'profile.read posts.read analytics.read',
    });
  });

  it('O60 returns JSON that no cache may store, for a success and for an error', async () => {
    const good = await exchange(app(), client, await newCode());
    expect(good.status).toBe(200);
    expectTokenHeaders(good);
    expectTokenHeaders(await exchange(app(), client, 'nothing'));
  });

  it('O62 rejects a body that is not a form as invalid_request, and consumes nothing', async () => {
    const form = await validForm();
    const encoded = new URLSearchParams(form).toString();
    const multipart = new FormData();
    for (const [name, value] of Object.entries(form)) multipart.set(name, value);
    const asJson = { 'content-type': 'application/json' };
    await expectTokenError(await send(JSON.stringify(form), asJson), 'invalid_request');
    for (const body of [multipart, Buffer.from(encoded)])
      await expectTokenError(await send(body), 'invalid_request');
    const response = await send(encoded, { 'content-type': `${FORM}; charset=UTF-8` });
    expect(response.status).toBe(200);
  });

  it('O62 names the charset of a form that is not UTF-8, and consumes nothing', async () => {
    const encoded = new URLSearchParams(await validForm()).toString();
    const latin = { 'content-type': `${FORM}; charset=ISO-8859-1` };
    for (const path of ['token', 'revoke', 'introspect']) {
      const init = { method: 'POST', body: encoded, headers: latin };
      const response = await app().fetch(`/oauth/${path}`, init);
      expect(response.status).toBe(400);
      expect(await json(response)).toMatchObject({
        error: 'invalid_request',
        error_description: expect.stringMatching(/^The body must be UTF-8/),
      });
    }
    const response = await send(encoded, { 'content-type': `${FORM}; charset=utf8; version=1` });
    expect(response.status).toBe(200);
  });

  it('O62 rejects a request without a body and Content-Type as invalid_request, and an empty form as invalid_client', async () => {
    await expectTokenError(await send(null), 'invalid_request');
    await expectTokenError(await send(null, { 'content-type': FORM }), 'invalid_client');
    await expectTokenError(await send('', { 'content-type': FORM }), 'invalid_client');
  });

  it('O62 reads a request with neither Content-Length nor Transfer-Encoding as an empty form', async () => {
    const socket = connect(app().config.server.port, '127.0.0.1');
    await once(socket, 'connect');
    const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nConnection: close`;
    socket.write(`${head}\r\n\r\n`);
    const response = await text(socket);
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(response).toContain('"error":"invalid_client"');
  });

  it('O63 ignores parameters in the URL', async () => {
    const { client_id = '', client_secret = '', ...grant } = await validForm();
    const response = await app().fetch(`/oauth/token?${new URLSearchParams(grant)}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id, client_secret }),
    });
    await expectTokenError(response, 'invalid_request');
    const form = { ...grant, client_id, client_secret };
    expect((await send(new URLSearchParams(form))).status).toBe(200);
  });

  it('O63 rejects a client_secret in the URL as invalid_request, and consumes nothing', async () => {
    const form = await validForm();
    const body = new URLSearchParams(form);
    const exposed = await app().fetch(`/oauth/token?client_secret=${client.secret}`, {
      method: 'POST',
      body,
    });
    await expectTokenError(exposed, 'invalid_request');
    expect((await send(new URLSearchParams(form))).status).toBe(200);
  });

  it.each([undefined, ''])(
    'O64 rejects the grant_type %j as invalid_request',
    async (grantType) => {
      const response = await requestToken(app(), client, { grant_type: grantType });
      await expectTokenError(response, 'invalid_request');
    },
  );

  it.each(['password', 'client_credentials', 'implicit', 'foo', 'AUTHORIZATION_CODE', '__proto__'])(
    'O64 rejects the grant_type "%s" as unsupported_grant_type',
    async (grantType) => {
      const response = await requestToken(app(), client, { grant_type: grantType });
      await expectTokenError(response, 'unsupported_grant_type');
    },
  );

  it.each([
    ['a repeated parameter', 'grant_type=password&grant_type=password'],
    ['a repeated optional parameter', 'grant_type=refresh_token&refresh_token=x&scope=a&scope=a'],
    ['array syntax', 'grant_type[]=password'],
    ['object syntax', 'grant_type[a]=password'],
    ['array syntax of an optional parameter', 'grant_type=foo&scope[]=posts.read'],
    ['object syntax of an optional parameter', 'grant_type=foo&scope[a][b]=posts.read'],
    ['client_id[] next to client_id', 'grant_type=foo&client_id[]=x'],
    ['prototype names', '__proto__[grant_type]=password&constructor=x'],
  ])('O65 rejects %s as invalid_request', async (_, body) => {
    const response = await send(body + credentials(), { 'content-type': FORM });
    await expectTokenError(response, 'invalid_request');
  });

  it('O65 rejects a malformed form as invalid_request', async () => {
    const response = await send(`refresh_token=%ff${credentials()}`, { 'content-type': FORM });
    await expectTokenError(response, 'invalid_request');
  });

  it('O65 rejects a form of more than 16,384 bytes, before or after decompression, with 413 and invalid_request', async () => {
    const longest = `grant_type=password${credentials()}&p=`.padEnd(16_384, 'x');
    const headers = { 'content-type': FORM };
    await expectTokenError(await send(longest, headers), 'unsupported_grant_type');
    await expectTokenError(await send(`${longest}x`, headers), 'invalid_request', 413);
    const zipped = { ...headers, 'content-encoding': 'gzip' };
    await expectTokenError(await send(gzipSync(longest), zipped), 'unsupported_grant_type');
    await expectTokenError(await send(gzipSync(`${longest}x`), zipped), 'invalid_request', 413);
  });

  it('O65 rejects a body that does not match its Content-Encoding as invalid_request, and consumes nothing', async () => {
    const body = new URLSearchParams(await validForm()).toString();
    for (const coding of ['gzip', 'br', 'deflate', 'snappy']) {
      const headers = { 'content-type': FORM, 'content-encoding': coding };
      await expectTokenError(await send(body, headers), 'invalid_request');
    }
    expect((await send(body, { 'content-type': FORM })).status).toBe(200);
  });

  it('O66 treats an empty client_secret of a public app as omitted', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    const code = (await approve(app(), await app().addUser(), publicClient)).get('code') ?? '';
    const response = await exchange(app(), publicClient, code, { client_secret: '' });
    expect(response.status).toBe(200);
    const { refresh_token } = await json<TokenBody>(response);
    const form = { grant_type: 'refresh_token', refresh_token, scope: '', client_secret: '' };
    expect((await requestToken(app(), publicClient, form)).status).toBe(200);
  });

  it('O67 ignores unknown parameters', async () => {
    const extra = { audience: 'a', 'resource[]': 'b', client_assertion: 'c', hasOwnProperty: 'd' };
    expect((await exchange(app(), client, await newCode(), extra)).status).toBe(200);
  });

  it('O67 ignores repeated unknown parameters', async () => {
    const body = new URLSearchParams(await validForm());
    for (const resource of ['https://a.example', 'https://b.example'])
      body.append('resource', resource);
    const response = await app().fetch('/oauth/token', { method: 'POST', body });
    expect(response.status).toBe(200);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('rejects the method %s', async (method) => {
    const response = await app().fetch('/oauth/token', { method });
    expect([404, 405]).toContain(response.status);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.text()).not.toMatch(/Cannot|statusCode/);
  });

  it.each(['/oauth/nope', '/oauth/token/', '/oauth/authorize/nope/deeper'])(
    'returns 404 with the error body of RFC 6749 for %s',
    async (path) => {
      const response = await app().fetch(path, { method: 'POST' });
      expect(response.status).toBe(404);
      expect(await json(response)).toEqual({
        error: 'invalid_request',
        error_description: 'There is no such endpoint. The documentation lists them all.',
      });
    },
  );

  it('returns an error page when a browser opens the URL to which a form posts', async () => {
    const response = await app().fetch('/oauth/authorize/decision');
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('text/html');
  });
});
