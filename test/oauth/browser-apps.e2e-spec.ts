import { App } from '../../src/modules/oauth/clients/client.entities.js';
import { VERIFIER, exchange, obtainTokens, sendForm, newCode } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody, corsHeaders } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const ORIGIN = 'https://spa.example';
const OTHER = 'https://evil.example';
const ENDPOINTS = ['/oauth/token', '/oauth/revoke'];

onOneEngine('OAuth endpoints: browser apps on other origins', (database) => {
  const app = useTestApp(database);
  let spa: TestClient;
  let confidential: TestClient;

  beforeAll(async () => {
    spa = await app().addClient({
      kind: 'public',
      redirectUris: [`${ORIGIN}/callback`, 'http://127.0.0.1/callback'],
    });
    confidential = await app().addClient({ redirectUris: ['https://server.example/callback'] });
  });

  const preflight = (path: string, origin: string): Promise<Response> =>
    app().fetch(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });

  it.each(ENDPOINTS)(
    'O123 allows the preflight of %s from the origin of a browser app',
    async (path) => {
      const { status, headers } = await preflight(path, ORIGIN);
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(headers.get('access-control-allow-methods')).toBe('POST');
      expect(headers.get('access-control-allow-headers')).toBe(
        'authorization, content-type, test-fault, x-requested-with',
      );
      expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0);
      expect(headers.get('vary')).toMatch(/\bOrigin\b/);
      expect(headers.has('access-control-allow-credentials')).toBe(false);
    },
  );

  it('O123 allows each port of a registered loopback address, and no other loopback host', async () => {
    for (const origin of ['http://127.0.0.1', 'http://127.0.0.1:5173'])
      expect(
        (await preflight('/oauth/token', origin)).headers.get('access-control-allow-origin'),
      ).toBe(origin);
    expect(corsHeaders(await preflight('/oauth/token', 'http://localhost:5173'))).toEqual([]);
  });

  it.each([
    OTHER,
    'null',
    'https://server.example',
    'http://spa.example',
    `${ORIGIN}:8443`,
    'https://spa.example.evil.example',
    'nonsense',
  ])('O125 sends no CORS headers to the origin %s', async (origin) => {
    for (const path of ENDPOINTS) {
      const response = await preflight(path, origin);
      expect(response.status).toBe(204);
      expect(corsHeaders(response)).toEqual([]);
      expect(response.headers.get('vary')).toMatch(/\bOrigin\b/);
    }
    const call = await sendForm(app(), '/oauth/token', spa, { grant_type: 'x' }, { origin });
    expect(corsHeaders(call)).toEqual([]);
  });

  it('O123 allows no origin at introspection and the authorization endpoint', async () => {
    for (const path of ['/oauth/introspect', '/oauth/authorize'])
      expect(corsHeaders(await preflight(path, ORIGIN))).toEqual([]);
    const headers = { origin: ORIGIN };
    const form = { token: 'x' };
    const response = await sendForm(app(), '/oauth/introspect', spa, form, headers);
    expect(corsHeaders(response)).toEqual([]);
  });

  it('O124 allows the origin of the app to read errors, without cookies', async () => {
    const headers = { origin: ORIGIN, 'sec-fetch-site': 'cross-site' };
    const code = await newCode(app(), spa);
    const wrong = await sendForm(app(), '/oauth/token', spa, { grant_type: 'foo' }, headers);
    expect(wrong.status).toBe(400);
    const wrongSecret = { ...spa, secret: 'x' };
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    const rejected = await sendForm(app(), '/oauth/token', wrongSecret, form, headers);
    expect(rejected.status).toBe(401);
    const anonymous = await sendForm(app(), '/oauth/token', undefined, {}, headers);
    expect(anonymous.status).toBe(401);
    const tooLarge = await sendForm(app(), '/oauth/token', spa, { x: 'x'.repeat(17_000) }, headers);
    expect(tooLarge.status).toBe(413);
    for (const response of [wrong, rejected, anonymous, tooLarge]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(response.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
      expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    }
    expect((await exchange(app(), spa, code)).status).toBe(200);
  });

  it('O124 allows the origin of the app to read the responses of an exchange and a revocation', async () => {
    const headers = { origin: ORIGIN };
    const code = await newCode(app(), spa);
    const [redirect_uri = ''] = spa.redirectUris;
    const grant_type = 'authorization_code';
    const form = { grant_type, code, redirect_uri, code_verifier: VERIFIER };
    const exchanged = await sendForm(app(), '/oauth/token', spa, form, headers);
    const { refresh_token: token } = await json<TokenBody>(exchanged);
    const revoked = await sendForm(app(), '/oauth/revoke', spa, { token }, headers);
    for (const response of [exchanged, revoked]) {
      expect(response.status).toBe(200);
      expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  it('O125 sends no CORS headers to the origin of a confidential app', async () => {
    const headers = { origin: 'https://server.example' };
    const { refresh_token } = await obtainTokens(app(), confidential);
    const form = { grant_type: 'refresh_token', refresh_token };
    const renewed = await sendForm(app(), '/oauth/token', confidential, form, headers);
    expect(renewed.status).toBe(200);
    const { access_token: token } = await json<TokenBody>(renewed);
    const revoked = await sendForm(app(), '/oauth/revoke', confidential, { token }, headers);
    expect(revoked.status).toBe(200);
    for (const response of [renewed, revoked]) expect(corsHeaders(response)).toEqual([]);
  });

  it('O124 sends no CORS headers when the request names an app with another origin or a confidential app', async () => {
    const otherApp = await app().addClient({
      kind: 'public',
      redirectUris: ['https://other.example/cb'],
    });
    for (const named of [otherApp, confidential]) {
      const form = { grant_type: 'refresh_token', refresh_token: 'x' };
      const response = await sendForm(app(), '/oauth/token', named, form, { origin: ORIGIN });
      expect(corsHeaders(response)).toEqual([]);
    }
  });

  it('O125 sends no CORS headers when a request names a confidential app and another app', async () => {
    const basic = (id: string, password = ''): string =>
      `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`;
    const { clientId, secret = '' } = confidential;
    const conflictingForms = [
      [basic(clientId, secret), { client_id: spa.clientId }],
      [basic(spa.clientId), { client_id: clientId }],
      [basic(clientId, secret), { client_secret: secret }],
      [basic(clientId, secret), { client_id: clientId, client_secret: secret }],
    ] as const;
    for (const [authorization, form] of conflictingForms)
      for (const path of ENDPOINTS) {
        const headers = { origin: ORIGIN, authorization };
        const response = await sendForm(app(), path, undefined, form, headers);
        expect(response.status).toBe(400);
        expect(corsHeaders(response)).toEqual([]);
      }
    const twoClientIds = `client_id=${spa.clientId}&client_id=${clientId}`;
    const headers = { origin: ORIGIN, 'content-type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', headers, body: twoClientIds };
    const response = await app().fetch('/oauth/token', init);
    expect(response.status).toBe(400);
    expect(corsHeaders(response)).toEqual([]);
  });

  it('O124 sends no CORS headers to the origin of a disabled app', async () => {
    const disabledApp = await app().addClient({
      kind: 'public',
      redirectUris: ['https://gone.example/cb'],
    });
    const origin = 'https://gone.example';
    expect(corsHeaders(await preflight('/oauth/token', origin))).not.toEqual([]);
    const { clientId } = disabledApp;
    await app().dataSource.manager.update(App, { clientId }, { status: 'disabled' });
    expect(corsHeaders(await preflight('/oauth/token', origin))).toEqual([]);
  });

  it('O151 accepts calls that browsers mark as cross-site', async () => {
    const headers = { origin: ORIGIN, 'sec-fetch-site': 'cross-site' };
    const { refresh_token, access_token } = await obtainTokens(app(), spa);
    const form = { grant_type: 'refresh_token', refresh_token };
    const renewed = await sendForm(app(), '/oauth/token', spa, form, headers);
    expect(renewed.status).toBe(200);
    const authorization = `Bearer ${access_token}`;
    const me = await app().fetch('/dev/v1/me', { headers: { ...headers, authorization } });
    expect(me.status).toBe(200);
    const post = await app().fetch('/dev/v1/posts', {
      method: 'POST',
      headers: { ...headers, authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello from the browser' }),
    });
    expect(post.status).toBe(201);
    const { refresh_token: token } = await json<TokenBody>(renewed);
    expect((await sendForm(app(), '/oauth/revoke', spa, { token }, headers)).status).toBe(200);
  });
});
