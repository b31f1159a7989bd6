import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { onOneEngine } from '../support/database.js';
import { obtainTokens, sendForm } from '../support/oauth-flow.js';
import { corsHeaders, expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

/** Of Capacitor and Ionic on iOS, Tauri on macOS and on Windows, extensions of browsers, and a browser app elsewhere. */
const ORIGINS = [
  'capacitor://localhost',
  'ionic://localhost',
  'tauri://localhost',
  'http://tauri.localhost',
  'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  'moz-extension://6f1b5c1e-7b0a-4d7e-9b53-0b8a7a4de5c1',
  'safari-web-extension://6F1B5C1E-7B0A-4D7E-9B53-0B8A7A4DE5C1',
  'https://widget.example:8443',
  'http://127.0.0.1:5173',
];
const ENDPOINTS = ['/oauth/token', '/oauth/revoke'];

onOneEngine('OAuth endpoints: registered origins', (database) => {
  const app = useTestApp(database);
  const change = { actor: 'test' };
  let client: TestClient;
  let other: TestClient;

  beforeAll(async () => {
    const redirectUris = ['com.example.garden:/callback'];
    client = await app().addClient({ kind: 'public', redirectUris, origins: ORIGINS });
    other = await app().addClient({ kind: 'public', redirectUris });
  });

  const preflight = (path: string, origin: string): Promise<Response> =>
    app().fetch(path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
  const crossSite = (origin: string): Record<string, string> => ({
    origin,
    'sec-fetch-site': 'cross-site',
  });

  it.each(ORIGINS)('O123 O124 O151 serves the app at the origin %s', async (origin) => {
    for (const path of ENDPOINTS) {
      const { status, headers } = await preflight(path, origin);
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('vary')).toMatch(/\bOrigin\b/);
    }
    const { refresh_token, access_token } = await obtainTokens(app(), client);
    const headers = crossSite(origin);
    const form = { grant_type: 'refresh_token', refresh_token };
    const renewed = await sendForm(app(), '/oauth/token', client, form, headers);
    expect(renewed.status).toBe(200);
    expect(renewed.headers.get('access-control-allow-origin')).toBe(origin);
    const authorization = `Bearer ${access_token}`;
    const me = await app().fetch('/dev/v1/me', { headers: { ...headers, authorization } });
    expect(me.status).toBe(200);
    expect(me.headers.get('access-control-allow-origin')).toBe('*');
    const { refresh_token: token } = await json<TokenBody>(renewed);
    const revoked = await sendForm(app(), '/oauth/revoke', client, { token }, headers);
    expect(revoked.status).toBe(200);
    expect(revoked.headers.get('access-control-allow-origin')).toBe(origin);
  });

  it('O124 lets the origin read errors', async () => {
    const headers = crossSite('capacitor://localhost');
    const response = await sendForm(app(), '/oauth/token', client, { grant_type: 'x' }, headers);
    expect(response.status).toBe(400);
    expect(response.headers.get('access-control-allow-origin')).toBe('capacitor://localhost');
  });

  it.each([
    'null',
    'file://',
    'capacitor://localhost2',
    'capacitor://localhost:80',
    'capacitor://LOCALHOST',
    'capacitor://localhost/',
    'Capacitor://localhost',
    'http://tauri.localhost:1420',
    'https://tauri.localhost',
    'chrome-extension://bbcdefghijklmnopabcdefghijklmnop',
    'safari-web-extension://6f1b5c1e-7b0a-4d7e-9b53-0b8a7a4de5c1',
    'https://widget.example',
    'http://localhost:5173',
    ORIGINS.slice(0, 2).join(' '),
    '%',
  ])('O125 does not serve the origin %s', async (origin) => {
    for (const path of ENDPOINTS) expect(corsHeaders(await preflight(path, origin))).toEqual([]);
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    const call = await sendForm(app(), '/oauth/token', client, form, crossSite(origin));
    expect(corsHeaders(call)).toEqual([]);
    expect(await call.clone().text()).toContain('origin that the operator registered');
    await expectTokenError(call, 'invalid_request');
  });

  it('O123 allows each port of a registered loopback address', async () => {
    const { headers } = await preflight('/oauth/token', 'http://127.0.0.1:4711');
    expect(headers.get('access-control-allow-origin')).toBe('http://127.0.0.1:4711');
  });

  it('O125 does not serve another app at this origin, nor introspection', async () => {
    const headers = crossSite('capacitor://localhost');
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    const call = await sendForm(app(), '/oauth/token', other, form, headers);
    expect(corsHeaders(call)).toEqual([]);
    await expectTokenError(call, 'invalid_request');
    expect(corsHeaders(await preflight('/oauth/introspect', 'capacitor://localhost'))).toEqual([]);
  });

  it('O125 no longer serves an origin that was removed, or whose app is disabled', async () => {
    const apps = app().service(AppsService);
    const origin = 'app://gone';
    const gone = await app().addClient({
      kind: 'public',
      redirectUris: ['com.example.gone:/cb'],
      origins: [origin],
    });
    const isServed = async (): Promise<boolean> =>
      corsHeaders(await preflight('/oauth/token', origin)).length > 0;
    expect(await isServed()).toBe(true);
    await apps.changeStatus(gone.clientId, 'disabled', change);
    expect(await isServed()).toBe(false);
    await apps.changeStatus(gone.clientId, 'enabled', change);
    expect(await isServed()).toBe(true);
    await apps.update(gone.clientId, { origins: [] }, change);
    expect(await isServed()).toBe(false);
  });
});
