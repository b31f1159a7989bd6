import { Browser } from '../support/browser.js';
import { approve, authorizeLink, exchange, obtainTokens, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { getRaw } from '../support/raw-request.js';
import { expectErrorRedirect, expectTokenError, json } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const PATH = '/.well-known/oauth-authorization-server';

onOneEngine('Metadata of the authorization server (RFC 8414)', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  it('O120 It tells the issuer, the endpoints and everything that is supported', async () => {
    const issuer = app().config.publicUrl;
    const answer = await app().fetch(PATH);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(await json(answer)).toEqual({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'none',
      ],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['profile.read', 'posts.read', 'posts.write', 'analytics.read'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      ui_locales_supported: ['en', 'es'],
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
    });
  });

  it.each(['X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded'])(
    'O120 The header %s does not move the issuer',
    async (name) => {
      const answer = await app().fetch(PATH, { headers: { [name]: 'evil.example' } });
      expect(await json(answer)).toMatchObject({ issuer: app().config.publicUrl });
    },
  );

  it('O120 The header Host does not move anything', async () => {
    const told = await json(await app().fetch(PATH));
    const elsewhere = await getRaw(`${app().baseUrl}${PATH}`, ['Host', 'evil.example']);
    expect(elsewhere.status).toBe(200);
    expect(await json(elsewhere)).toEqual(told);
  });

  it('O122 Every origin may read it, and everybody may keep it for an hour', async () => {
    const { headers } = await app().fetch(PATH, { headers: { origin: 'https://any.example' } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cache-control')).toBe('public, max-age=3600');
  });

  it('O121 Every endpoint that is told is there', async () => {
    const told = await json(await app().fetch(PATH));
    for (const [name, url] of Object.entries(told)) {
      if (!name.endsWith('_endpoint') && name !== 'service_documentation') continue;
      const { status } = await app().fetch(String(url), { method: 'GET' });
      expect({ name, there: status !== 404 }).toEqual({ name, there: true });
    }
  });

  it('O121 Each way to authenticate works at each endpoint that tells it', async () => {
    const told = await json<Record<string, string[]>>(await app().fetch(PATH));
    const native = await app().addClient({ kind: 'public' });
    const basic = {
      authorization: `Basic ${Buffer.from(`${client.clientId}:${client.secret}`).toString('base64')}`,
    };
    for (const endpoint of ['token', 'revocation', 'introspection']) {
      const methods = told[`${endpoint}_endpoint_auth_methods_supported`];
      const url = String(told[`${endpoint}_endpoint`]);
      const form = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x' };
      const statuses = {
        client_secret_basic: (await sendForm(app(), url, undefined, form, basic)).status,
        client_secret_post: (await sendForm(app(), url, client, form)).status,
        none: (await sendForm(app(), url, native, form)).status,
      };
      const working = Object.entries(statuses).flatMap(([name, status]) =>
        status === 401 ? [] : [name],
      );
      expect({ endpoint, working }).toEqual({ endpoint, working: methods });
    }
  });

  it('O121 Each scope and each prompt that is told can be asked for', async () => {
    const told = await json<Record<string, string[]>>(await app().fetch(PATH));
    for (const scope of told['scopes_supported'] ?? []) {
      const code = (await approve(app(), await app().addUser(), client, { scope })).get('code');
      const answer = await exchange(app(), client, code ?? '');
      expect(await json(answer)).toMatchObject({ scope });
    }
    const visitor = new Browser(app());
    for (const prompt of told['prompt_values_supported'] ?? []) {
      const page = await visitor.open(authorizeLink(client, { prompt }));
      if (prompt === 'none') expectErrorRedirect(page, client, 'interaction_required');
      else expect(page.status).toBe(200);
    }
  });

  it.each([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ scope: 'openid' }, 'invalid_scope'],
    [{ scope: 'offline_access' }, 'invalid_scope'],
    [{ code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
    [{ prompt: 'create' }, 'invalid_request'],
    [{ prompt: 'none consent' }, 'invalid_request'],
    [{ request: 'e30.e30.' }, 'request_not_supported'],
    [{ request_uri: 'urn:example:1' }, 'request_uri_not_supported'],
  ])('O121 What is not told is refused: %j', async (parameters, error) => {
    const page = await new Browser(app()).open(authorizeLink(client, parameters));
    expectErrorRedirect(page, client, error);
  });

  it('O121 The response mode that is told can be asked for', async () => {
    const user = await app().addUser();
    const redirect = await approve(app(), user, client, { response_mode: 'query' });
    expect((await exchange(app(), client, redirect.get('code') ?? '')).status).toBe(200);
  });

  it.each([
    '/oauth/register',
    '/oauth/device_authorization',
    '/oauth/par',
    '/oauth/userinfo',
    '/.well-known/jwks.json',
    '/.well-known/openid-configuration',
  ])('O121 The endpoint %s, which is not told, is not there', async (path) => {
    for (const method of ['GET', 'POST'])
      expect((await app().fetch(path, { method })).status).toBe(404);
  });

  it.each([
    'password',
    'client_credentials',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'urn:ietf:params:oauth:grant-type:token-exchange',
  ])('O121 The grant type %s is refused', async (grant_type) => {
    const { access_token } = await obtainTokens(app(), client);
    const form = { grant_type, username: 'a', password: 'b', assertion: access_token };
    await expectTokenError(
      await sendForm(app(), '/oauth/token', client, form),
      'unsupported_grant_type',
    );
  });

  it.each(['client_assertion', 'client_assertion_type'])('O121 %s proves nothing', async (name) => {
    const form = { grant_type: 'refresh_token', refresh_token: 'x', [name]: 'x' };
    const unproven = { clientId: client.clientId };
    await expectTokenError(await sendForm(app(), '/oauth/token', unproven, form), 'invalid_client');
  });
});

onOneEngine('Metadata behind a proxy', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '1' });

  it('O120 What the proxy tells of the host does not move anything', async () => {
    const told = await json(await app().fetch(PATH));
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    expect(await json(await app().fetch(PATH, { headers }))).toEqual(told);
    expect(told).toMatchObject({ issuer: app().config.publicUrl });
  });
});
