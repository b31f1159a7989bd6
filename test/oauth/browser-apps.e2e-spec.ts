import { App } from '../../src/modules/oauth/apps/app.entity.js';
import { VERIFIER, approve, exchange, obtainTokens, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const ORIGIN = 'https://spa.example';
const OTHER = 'https://evil.example';
const ENDPOINTS = ['/oauth/token', '/oauth/revoke'];

onOneEngine('Apps that run in browsers, on other origins', (database) => {
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

  const ask = (path: string, origin: string): Promise<Response> =>
    app().fetch(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });

  function corsHeaders({ headers }: Response): string[] {
    return [...headers.keys()].filter((name) => name.startsWith('access-control-'));
  }

  it.each(ENDPOINTS)('O123 A browser asks %s first and may send the form', async (path) => {
    const { status, headers } = await ask(path, ORIGIN);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-allow-methods')).toBe('POST');
    expect(headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, x-requested-with',
    );
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0);
    expect(headers.get('vary')).toMatch(/\bOrigin\b/);
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('O123 A loopback redirect stands for each of its ports', async () => {
    for (const origin of ['http://127.0.0.1', 'http://127.0.0.1:5173'])
      expect((await ask('/oauth/token', origin)).headers.get('access-control-allow-origin')).toBe(
        origin,
      );
    expect(corsHeaders(await ask('/oauth/token', 'http://localhost:5173'))).toEqual([]);
  });

  it.each([
    OTHER,
    'null',
    'https://server.example',
    'http://spa.example',
    `${ORIGIN}:8443`,
    'https://spa.example.evil.example',
    'nonsense',
  ])('O125 From %s the browser gets no permission', async (origin) => {
    for (const path of ENDPOINTS) {
      const answer = await ask(path, origin);
      expect(answer.status).toBe(204);
      expect(corsHeaders(answer)).toEqual([]);
      expect(answer.headers.get('vary')).toMatch(/\bOrigin\b/);
    }
    const call = await sendForm(app(), '/oauth/token', spa, { grant_type: 'x' }, { origin });
    expect(corsHeaders(call)).toEqual([]);
  });

  it('O123 Introspection is not for browsers, and neither is the authorization endpoint', async () => {
    for (const path of ['/oauth/introspect', '/oauth/authorize'])
      expect(corsHeaders(await ask(path, ORIGIN))).toEqual([]);
    const headers = { origin: ORIGIN };
    const form = { token: 'x' };
    const answer = await sendForm(app(), '/oauth/introspect', spa, form, headers);
    expect(corsHeaders(answer)).toEqual([]);
  });

  it('O124 The page may read tokens and errors, but cookies never count', async () => {
    const headers = { origin: ORIGIN, 'sec-fetch-site': 'cross-site' };
    const code = (await approve(app(), await app().addUser(), spa)).get('code') ?? '';
    const wrong = await sendForm(app(), '/oauth/token', spa, { grant_type: 'foo' }, headers);
    expect(wrong.status).toBe(400);
    const unproven = { ...spa, secret: 'x' };
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    const refused = await sendForm(app(), '/oauth/token', unproven, form, headers);
    expect(refused.status).toBe(401);
    const tooLarge = await sendForm(app(), '/oauth/token', spa, { x: 'x'.repeat(17_000) }, headers);
    expect(tooLarge.status).toBe(413);
    for (const answer of [wrong, refused, tooLarge]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(answer.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
      expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    }
    expect((await exchange(app(), spa, code)).status).toBe(200);
  });

  it('O124 The page may read the tokens of an exchange, and that they were revoked', async () => {
    const headers = { origin: ORIGIN };
    const code = (await approve(app(), await app().addUser(), spa)).get('code') ?? '';
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: spa.redirectUris[0] ?? '',
      code_verifier: VERIFIER,
    };
    const exchanged = await sendForm(app(), '/oauth/token', spa, form, headers);
    const { refresh_token: token } = await json<TokenBody>(exchanged);
    const revoked = await sendForm(app(), '/oauth/revoke', spa, { token }, headers);
    for (const answer of [exchanged, revoked]) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  it('O125 A confidential app is not called from browsers, not from its own origin either', async () => {
    const headers = { origin: 'https://server.example' };
    const { refresh_token } = await obtainTokens(app(), confidential);
    const form = { grant_type: 'refresh_token', refresh_token };
    const renewed = await sendForm(app(), '/oauth/token', confidential, form, headers);
    expect(renewed.status).toBe(200);
    const { access_token: token } = await json<TokenBody>(renewed);
    const revoked = await sendForm(app(), '/oauth/revoke', confidential, { token }, headers);
    expect(revoked.status).toBe(200);
    for (const answer of [renewed, revoked]) expect(corsHeaders(answer)).toEqual([]);
  });

  it('O124 A request that names another app, or a confidential one, is not shared', async () => {
    const other = await app().addClient({
      kind: 'public',
      redirectUris: ['https://other.example/cb'],
    });
    for (const named of [other, confidential]) {
      const form = { grant_type: 'refresh_token', refresh_token: 'x' };
      const answer = await sendForm(app(), '/oauth/token', named, form, { origin: ORIGIN });
      expect(corsHeaders(answer)).toEqual([]);
    }
  });

  it('O125 Neither is one that contradicts itself about a confidential app', async () => {
    const basic = (id: string, password = ''): string =>
      `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`;
    const { clientId, secret = '' } = confidential;
    const contradictions = [
      [basic(clientId, secret), { client_id: spa.clientId }],
      [basic(spa.clientId), { client_id: clientId }],
      [basic(clientId, secret), { client_secret: secret }],
      [basic(clientId, secret), { client_id: clientId, client_secret: secret }],
    ] as const;
    for (const [authorization, form] of contradictions)
      for (const path of ENDPOINTS) {
        const headers = { origin: ORIGIN, authorization };
        const answer = await sendForm(app(), path, undefined, form, headers);
        expect(answer.status).toBe(400);
        expect(corsHeaders(answer)).toEqual([]);
      }
    const twice = `client_id=${spa.clientId}&client_id=${clientId}`;
    const headers = { origin: ORIGIN, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await app().fetch('/oauth/token', { method: 'POST', headers, body: twice });
    expect(answer.status).toBe(400);
    expect(corsHeaders(answer)).toEqual([]);
  });

  it('O124 One that names no app is shared with the origin of a browser app', async () => {
    const headers = { origin: ORIGIN };
    const answer = await sendForm(app(), '/oauth/token', undefined, {}, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  });

  it('O124 A disabled app shares nothing any more', async () => {
    const gone = await app().addClient({
      kind: 'public',
      redirectUris: ['https://gone.example/cb'],
    });
    const origin = 'https://gone.example';
    expect(corsHeaders(await ask('/oauth/token', origin))).not.toEqual([]);
    const { clientId } = gone;
    await app().dataSource.manager.update(App, { clientId }, { status: 'disabled' });
    expect(corsHeaders(await ask('/oauth/token', origin))).toEqual([]);
  });

  it('O151 Calls that browsers mark as cross-site are answered like any other', async () => {
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

onOneEngine('A browser app that tried too often', (database) => {
  const app = useTestApp(database, { OAUTH_TOKEN_FAILURES: '1' });

  it('O124 may read that it must wait, and for how long', async () => {
    const spa = await app().addClient({ kind: 'public', redirectUris: [`${ORIGIN}/callback`] });
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    const guess = (): Promise<Response> =>
      sendForm(app(), '/oauth/token', spa, form, { origin: ORIGIN });
    expect((await guess()).status).toBe(400);
    const { status, headers } = await guess();
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
  });
});
