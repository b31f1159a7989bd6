import { SCOPES } from '../../../src/platform/access/scopes.js';
import { sha256 } from '../../../src/platform/secrets.js';
import { type Page, Browser } from '../../support/browser.js';
import {
  CHALLENGE,
  VERIFIER,
  approve,
  authorizeLink,
  exchange,
  isTokenAccepted,
  obtainTokens,
  redirectParameters,
  requestToken,
  sendForm,
} from '../../support/oauth-flow.js';
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
const MINUTE = 60_000;
const CODE_LIFETIME_MS = 5 * MINUTE;
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

// 4.13, TLS terminating reverse proxies: forged-headers.e2e-spec.ts.
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

  it.each(['public', 'confidential'] as const)(
    '4.5 Authorization code injection: with PKCE, rejects a code of a %s app in another session',
    async (kind) => {
      const own = await app().addClient({ kind });
      const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
      const stolen = (await approve(app(), await app().addUser(), own, pkce)).get('code') ?? '';
      const thiefsVerifier = 'thiefs-own-verifier-thiefs-own-verifier-1234';
      const injected = await exchange(app(), own, stolen, { code_verifier: thiefsVerifier });
      await expectTokenError(injected, 'invalid_grant');
      const late = await exchange(app(), own, stolen, { code_verifier: VERIFIER });
      await expectTokenError(late, 'invalid_grant');
      expect(await countGrantsAndCodes(app(), own)).toEqual({ grants: 1, codes: 1 });
    },
  );

  it('4.5 Authorization code injection: without PKCE, binds a code to its app, redirect URI and lifetime, but not to a session', async ({
    task,
  }) => {
    const steal = async (): Promise<string> =>
      (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const code = await steal();
    const otherApp = await app().addClient();
    await expectTokenError(await exchange(app(), otherApp, code), 'invalid_grant');
    const elsewhere = await exchange(app(), client, code, { redirect_uri: `${EVIL}/callback` });
    await expectTokenError(elsewhere, 'invalid_grant');
    for (const secret of [otherApp.secret, undefined])
      await expectTokenError(await exchange(app(), { ...client, secret }, code), 'invalid_client');
    // The app's request is the same in every session. Only the app can detect the injection, by `state`.
    expect((await exchange(app(), client, code)).status).toBe(200);
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    const [young, old] = [await steal(), await steal()];
    app().clock.advance(CODE_LIFETIME_MS - 1);
    expect((await exchange(app(), client, young)).status).toBe(200);
    app().clock.advance(1);
    await expectTokenError(await exchange(app(), client, old), 'invalid_grant');
    reportFigure(
      task,
      'a stolen code: rejected in another session with PKCE; else protected only by client secret, redirect URI, single use and 5 minutes',
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

  it('4.8 PKCE downgrade: rejects requests without a challenge or with a weaker one', async () => {
    const visitor = new Browser(app());
    const weak = [
      { code_challenge: undefined, code_challenge_method: undefined },
      { code_challenge: VERIFIER, code_challenge_method: 'plain' },
      { code_challenge: VERIFIER, code_challenge_method: undefined },
    ];
    for (const challenge of weak)
      expectErrorPageWithReturnLink(
        await visitor.open(authorizeLink(publicApp, challenge)),
        publicApp,
        'invalid_request',
      );
    const stripped = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const honest = await exchange(app(), client, stripped, { code_verifier: VERIFIER });
    await expectTokenError(honest, 'invalid_request');
    const protectedBy = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const bound = await approve(app(), await app().addUser(), client, protectedBy);
    const code = bound.get('code') ?? '';
    const bare = await exchange(app(), client, code, { code_verifier: undefined });
    await expectTokenError(bare, 'invalid_request');
    expect((await exchange(app(), client, code, { code_verifier: VERIFIER })).status).toBe(200);
  });

  it('4.9 and 4.10 Leaked access tokens: rejects stored hashes, and revoked tokens at once', async () => {
    const user = await app().addUser();
    const { access_token } = await obtainTokens(app(), client, user);
    expect(await isTokenAccepted(app(), sha256(access_token))).toBe(false);
    const tokenForm = { token: access_token };
    const otherApp = await app().addClient();
    const introspected = await sendForm(app(), '/oauth/introspect', otherApp, tokenForm);
    expect(await json(introspected)).toEqual({ active: false });
    expect((await sendForm(app(), '/oauth/revoke', otherApp, tokenForm)).status).toBe(400);
    expect(await isTokenAccepted(app(), access_token)).toBe(true);
    // A phone gets one message a minute.
    app().clock.advance(2 * MINUTE);
    const page = await new Browser(app()).signInToAccount(user);
    expect(page.html).toContain(client.clientId);
    expect((await sendForm(app(), '/oauth/revoke', client, tokenForm)).status).toBe(200);
    expect(await isTokenAccepted(app(), access_token)).toBe(false);
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

  it('4.12 307 redirect: redirects forms with 303', async () => {
    const { redirect } = await journey();
    expect(redirect.status).toBe(303);
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    expect((await visitor.submit(consent, DECISION, { decision: 'deny' })).status).toBe(303);
    const otherBrowser = new Browser(app());
    const page = await otherBrowser.signInToAccount(await app().addUser());
    const out = await otherBrowser.submit(page, '/account/sign-out', {}, { follow: false });
    expect(out.status).toBe(303);
  });

  it.each(['the thief', 'the app'])(
    '4.14 Refresh token theft: revokes the grant when a token is used twice, first by %s',
    async (first) => {
      const { refresh_token } = await obtainTokens(app(), publicApp);
      const refresh = (token: string, as = publicApp): Promise<Response> =>
        requestToken(app(), as, { grant_type: 'refresh_token', refresh_token: token });
      await expectTokenError(await refresh(refresh_token, client), 'invalid_grant');
      const wider = { grant_type: 'refresh_token', refresh_token, scope: 'admin' };
      await expectTokenError(await requestToken(app(), publicApp, wider), 'invalid_scope');
      const won = await json<TokenBody>(await refresh(refresh_token));
      if (first === 'the app') {
        const next = await json<TokenBody>(await refresh(won.refresh_token));
        expect(await isTokenAccepted(app(), next.access_token)).toBe(true);
      } else app().clock.advance(MINUTE);
      await expectTokenError(await refresh(refresh_token), 'invalid_grant');
      await expectTokenError(await refresh(won.refresh_token), 'invalid_grant');
      expect(await isTokenAccepted(app(), won.access_token)).toBe(false);
    },
  );

  it('4.15 Client impersonating a resource owner: issues no token to an app alone, and gives ids of apps and users different prefixes', async () => {
    const grants = [
      'client_credentials',
      'password',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ];
    for (const grant_type of grants) {
      const form = { grant_type, username: '+14155550101', password: 'x', assertion: 'e30.e30.' };
      await expectTokenError(await requestToken(app(), client, form), 'unsupported_grant_type');
    }
    const user = await app().addUser();
    const { access_token } = await obtainTokens(app(), client, user);
    const introspected = await sendForm(app(), '/oauth/introspect', client, {
      token: access_token,
    });
    expect(await json(introspected)).toMatchObject({ sub: user.id, client_id: client.clientId });
    expect(user.id).toMatch(/^usr_/);
    expect(client.clientId).toMatch(/^svc_app_/);
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
