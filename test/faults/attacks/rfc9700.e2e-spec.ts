import { SCOPES } from '../../../src/platform/access/scopes.js';
import { type Page, Browser } from '../../support/browser.js';
import { approve, authorizeLink, exchange, redirectParameters } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import {
  expectPage,
  expectErrorPageWithReturnLink,
  returnUrl,
  expectTokenError,
  json,
  countGrantsAndCodes,
  type TokenBody,
} from '../../support/responses.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { sendRaw, requestOf } from './send-raw.js';

const DECISION = '/oauth/authorize/decision';
const ALLOW = { scope: [...SCOPES], decision: 'approve' };
const EVIL = 'https://evil.example';
/** Redirect URIs that look like the registered one. */
const WRONG_REDIRECTS = [
  `${EVIL}/callback`,
  'https://garden.example/evil.example/callback',
  'https://garden.example.evil.example/callback',
  'https://garden.example@evil.example/callback',
  'https://evil.example\\@garden.example/callback',
  'https://garden.example/callback/../../evil',
  'https://garden.example/callback%2f..%2fevil',
  'https://garden.example/callback?next=https://evil.example',
  'https://garden.example/callback#@evil.example',
  'https://garden.example/callback/',
  'https://GARDEN.example/callback',
  'https://garden.example:443/callback',
  'http://garden.example/callback',
  '//garden.example/callback',
  'javascript:alert(1)//https://garden.example/callback',
  'data:text/html,https://garden.example/callback',
  'https://garden.example/callback\r\nLocation: https://evil.example',
  ' https://garden.example/callback',
];

// Sections that the rules of docs/reliability.md already state, with their tests: 4.5 authorization code injection: O69 to O72, O75, O79
// and O85. 4.8 PKCE downgrade: O21, O22, O74 and O76. 4.9 and 4.10 leaked access tokens: O106, O109, O112 and the API2 tests in
// owasp.e2e-spec.ts. 4.12 307 redirect: O148. 4.14 refresh token theft: O93, O95 and O97. 4.15 client impersonating a resource owner:
// O111 and O121. 4.13 TLS terminating reverse proxies: forged-headers.e2e-spec.ts.
onSqlite('RFC 9700, section 4: attacks and mitigations', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let publicApp: TestClient;
  beforeAll(async () => {
    client = await app().addClient();
    publicApp = await app().addClient({ kind: 'public' });
  });

  /** Signs in and allows the app. Returns the pages with the account page and an error page, and the redirect to the app. */
  async function journey(): Promise<{ pages: Page[]; redirect: Page }> {
    const visitor = new Browser(app());
    const user = await app().addUser();
    const phone = await visitor.open(authorizeLink(client));
    const code = await visitor.submit(phone, '/oauth/authorize/sign-in', { phone: user.phone });
    const password = await app().sms.password(user.phone);
    const consent = await visitor.submit(code, '/oauth/authorize/verify', { code: password });
    const redirect = await visitor.submit(consent, DECISION, ALLOW);
    const account = await visitor.open('/account/apps');
    const failed = await visitor.open(authorizeLink(client, { redirect_uri: EVIL }));
    return { pages: [phone, code, consent, account, failed], redirect };
  }

  it('4.1 Insufficient redirection URI validation: rejects similar URIs, and ignores URIs in the form', async ({
    task,
  }) => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), user);
    for (const wrong of WRONG_REDIRECTS) {
      const page = await visitor.open(authorizeLink(client, { redirect_uri: wrong }));
      expectPage(page, 400);
      expect(page.html).not.toContain('evil');
    }
    const twice = `${authorizeLink(client)}&redirect_uri=${encodeURIComponent(EVIL)}`;
    expectPage(await visitor.open(twice), 400);
    const form = { ...ALLOW, redirect_uri: EVIL, redirectUri: EVIL, client_id: publicApp.clientId };
    const { location } = await visitor.submit(consent, DECISION, form);
    expect(location).toMatch(/^https:\/\/garden\.example\/callback\?code=svcac_/);
    reportFigure(task, `${WRONG_REDIRECTS.length + 1} wrong redirect URIs, all rejected`);
  });

  it('4.2 and 4.3 Credential leakage by Referer and history: links to no other site and disables caching', async () => {
    const { pages, redirect } = await journey();
    for (const { headers, html } of pages) {
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      const targets = [
        ...html.matchAll(/\b(?:href|src|action|content)="((?:https?:)?\/\/[^"]*)"/g),
      ];
      expect(targets).toEqual([]);
      expect(html).not.toMatch(/svc(ac|at|rt)_/);
    }
    expect([redirect.status, redirect.html, redirect.headers.get('cache-control')]).toEqual([
      303,
      '',
      'no-store',
    ]);
    const code = redirectParameters(redirect).get('code') ?? '';
    const tokens = await json<TokenBody>(await exchange(app(), client, code));
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    const inQuery = `/dev/v1/me?access_token=${tokens.access_token}`;
    expect((await app().fetch(inQuery)).status).toBe(401);
  });

  it('4.4 Mix-up: sends the issuer of the metadata with every authorization response', async () => {
    const metadata = await app().fetch('/.well-known/oauth-authorization-server');
    const { issuer } = await json<{ issuer: string }>(metadata);
    for (const scopes of [[...SCOPES], []]) {
      const redirected = await approve(app(), await app().addUser(), client, { scopes });
      expect(redirected.get('iss')).toBe(issuer);
    }
    const rejected = await new Browser(app()).open(authorizeLink(client, { scope: 'everything' }));
    expect(expectErrorPageWithReturnLink(rejected, client, 'invalid_scope').get('iss')).toBe(
      issuer,
    );
  });

  it('4.6 and 4.17 Access token injection and in-browser flows: sends no token through the browser', async () => {
    const visitor = new Browser(app());
    for (const response_type of ['token', 'code token', 'id_token', 'none']) {
      const page = await visitor.open(authorizeLink(client, { response_type }));
      expectErrorPageWithReturnLink(page, client, 'unsupported_response_type');
    }
    for (const response_mode of ['fragment', 'form_post', 'web_message']) {
      const page = await visitor.open(authorizeLink(client, { response_mode }));
      expectErrorPageWithReturnLink(page, client, 'invalid_request');
      expect(returnUrl(page.html).hash).toBe('');
    }
    const { pages } = await journey();
    const own = /<script type="module" src="\/assets\/(code|consent|submit-once)\.js">/;
    for (const { html } of pages)
      expect(html.replace(own, '')).not.toMatch(/<script|postMessage|\son\w+=/i);
  });

  it('4.7 Cross-site request forgery: rejects decisions from other sites and other browsers', async () => {
    const stateless = await new Browser(app()).open(authorizeLink(client, { state: undefined }));
    expectErrorPageWithReturnLink(stateless, client, 'invalid_request', { state: null });
    const own = await app().addClient();
    const victim = new Browser(app());
    const consent = await victim.signIn(authorizeLink(own), await app().addUser());
    const thief = new Browser(app());
    const thiefsConsent = await thief.signIn(authorizeLink(own), await app().addUser());
    // The victim's browser posts the thief's request.
    expectPage(await victim.submit(thiefsConsent, DECISION, ALLOW), 403);
    expectPage(await thief.submit(consent, DECISION, ALLOW), 403);
    const form = new URLSearchParams({ ...ALLOW, scope: 'profile.read' });
    for (const name of ['transaction', 'token', 'user'])
      form.set(name, new RegExp(`name="${name}" value="([^"]*)"`).exec(consent.html)?.[1] ?? '');
    const sites: Record<string, string>[] = [
      { origin: EVIL },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of sites) expectPage(await victim.post(DECISION, form, headers), 403);
    expectPage(await victim.open(`${DECISION}?${form}`), 400);
    expect(await countGrantsAndCodes(app(), own)).toEqual({ grants: 0, codes: 0 });
    expect((await victim.post(DECISION, form)).status).toBe(303);
    const account = new URLSearchParams({ all: '1', token: form.get('token') ?? '' });
    expectPage(await victim.post('/account/apps/revoke', account), 403);
    expect(await countGrantsAndCodes(app(), own)).toEqual({ grants: 1, codes: 1 });
  });

  it('4.11 Open redirection: redirects to registered URIs only', async () => {
    const visitor = new Browser(app());
    const unknown = 'svc_app_01h455vb4pex5vsknk084sn02q';
    const links = [
      authorizeLink(client, { client_id: unknown, redirect_uri: EVIL }),
      authorizeLink(client, { redirect_uri: EVIL, scope: 'nothing' }),
      authorizeLink(client, { redirect_uri: EVIL, prompt: 'none' }),
      authorizeLink(client, { redirect_uri: EVIL, response_type: 'token' }),
      '/oauth/authorize?redirect_uri=https://evil.example',
    ];
    for (const link of links) expectPage(await visitor.open(link), 400);
    const publicPaths = [
      '//evil.example',
      '/\\evil.example',
      '/docs//evil.example',
      '/.//evil.example',
    ];
    const accountPaths = [
      '/account//evil.example',
      '/account/..//evil.example',
      '/account?next=//evil.example',
    ];
    for (const path of [...publicPaths, ...accountPaths]) {
      const { text } = await sendRaw(
        app().baseUrl,
        requestOf(`GET ${path}`, ['Connection: close']),
      );
      expect(text).not.toMatch(/^location: (?!\/account\/apps\r$)/im);
    }
    const page = await visitor.signInToAccount(await app().addUser());
    for (const next of [EVIL, '//evil.example', `${client.clientId}@evil.example`]) {
      const out = await visitor.submit(page, '/account/sign-out', { next }, { follow: false });
      expect(out.location ?? '').toMatch(/^(\/account\/apps)?$/);
    }
  });

  it('4.16 Clickjacking: forbids framing of all pages', async () => {
    const { pages } = await journey();
    for (const path of ['/', '/docs', '/docs/errors', '/post/x', '/account/apps', '/dev/v1/me'])
      pages.push(await new Browser(app()).open(path));
    for (const { headers } of pages) {
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
  });
});
