import { gzipSync } from 'node:zlib';
import { newCode, exchange, requestToken } from '../support/oauth-flow.js';
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

  /** The parameters of a valid exchange of a new code. */
  async function validForm(): Promise<Record<string, string>> {
    return {
      grant_type: 'authorization_code',
      code: await newCode(app(), client),
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

  it('O59 O60 returns all five members of a token response, with the scopes in canonical order, and forbids caches', async () => {
    const scope = 'analytics.read posts.read profile.read';
    const code = await newCode(app(), client, undefined, { scope });
    const response = await exchange(app(), client, code);
    expect(response.status).toBe(200);
    expectTokenHeaders(response);
    expect(await json(response)).toEqual({
      access_token: expect.stringMatching(/^svcat_[A-Za-z0-9_-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^svcrt_[A-Za-z0-9_-]{43}$/),
      scope: 'profile.read posts.read analytics.read',
    });
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

  it.each<[grant_type: string | undefined, error: string]>([
    [undefined, 'invalid_request'],
    ['', 'invalid_request'],
    ['password', 'unsupported_grant_type'],
    ['client_credentials', 'unsupported_grant_type'],
    ['implicit', 'unsupported_grant_type'],
    ['AUTHORIZATION_CODE', 'unsupported_grant_type'],
    ['__proto__', 'unsupported_grant_type'],
    ['urn:ietf:params:oauth:grant-type:device_code', 'unsupported_grant_type'],
    ['urn:ietf:params:oauth:grant-type:jwt-bearer', 'unsupported_grant_type'],
    ['urn:ietf:params:oauth:grant-type:token-exchange', 'unsupported_grant_type'],
  ])('O64 O121 rejects the grant_type %j as %s', async (grant_type, error) => {
    await expectTokenError(await requestToken(app(), client, { grant_type }), error);
  });

  it.each([
    ['a repeated parameter', 'grant_type=password&grant_type=password'],
    ['a repeated optional parameter', 'grant_type=refresh_token&refresh_token=x&scope=a&scope=a'],
    ['array syntax', 'grant_type[]=password'],
    ['object syntax', 'grant_type[a]=password'],
    ['array syntax of an optional parameter', 'grant_type=foo&scope[]=posts.read'],
    ['object syntax of an optional parameter', 'grant_type=foo&scope[a][b]=posts.read'],
    ['client_id[] next to client_id', 'grant_type=foo&client_id[]=x'],
    ['prototype names', '__proto__[grant_type]=password&constructor=x'],
    ['malformed encoding', 'refresh_token=%ff'],
  ])('O65 rejects %s as invalid_request', async (_, body) => {
    const response = await send(body + credentials(), { 'content-type': FORM });
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

  it('O66 treats an empty client_secret of a public app as omitted', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    const code = await newCode(app(), publicClient);
    const response = await exchange(app(), publicClient, code, { client_secret: '' });
    expect(response.status).toBe(200);
    const { refresh_token } = await json<TokenBody>(response);
    const form = { grant_type: 'refresh_token', refresh_token, scope: '', client_secret: '' };
    expect((await requestToken(app(), publicClient, form)).status).toBe(200);
  });

  it('O67 ignores unknown parameters, even if they are repeated', async () => {
    const extra = { audience: 'a', 'resource[]': 'b', client_assertion: 'c', hasOwnProperty: 'd' };
    const body = new URLSearchParams({ ...(await validForm()), ...extra });
    for (const resource of ['https://a.example', 'https://b.example'])
      body.append('resource', resource);
    expect((await send(body)).status).toBe(200);
  });
});
