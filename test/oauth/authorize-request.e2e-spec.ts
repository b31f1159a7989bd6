import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { type Page, Browser } from '../support/browser.js';
import {
  approve,
  authorizeLink,
  CHALLENGE,
  exchange,
  redirectParameters,
} from '../support/oauth-flow.js';
import { dumpTables, onOneEngine } from '../support/database.js';
import {
  countGrantsAndCodes,
  expectPage,
  expectErrorPageWithReturnLink,
  expectErrorRedirect,
  STATE,
  returnUrl,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, DECISION } from '../support/sign-in.js';

const UNKNOWN_ID = 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp';

onOneEngine('Authorization endpoint: request', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let publicClient: TestClient;

  beforeAll(async () => {
    publicClient = await app().addClient({ kind: 'public' });
  });
  beforeEach(async () => {
    client = await app().addClient();
  });

  function open(link: string): Promise<Page> {
    return new Browser(app()).open(link);
  }

  /** Asserts an error page with 400, without a form. */
  async function expectErrorPage(link: string): Promise<void> {
    const page = await open(link);
    expectPage(page, 400);
    expect(page.html).not.toContain('<form');
  }

  /** Asserts an error page that links to the app with the error and sets no cookie, and that no grant or code is stored. */
  async function expectRejected(
    link: string,
    error: string,
    { app: target = client, ...expected }: { app?: TestClient; state?: string | null } = {},
  ): Promise<void> {
    const page = await open(link);
    expectErrorPageWithReturnLink(page, target, error, expected);
    expect(page.html).toContain('>Return to Garden Share</a>');
    expect(page.html).not.toContain('<script');
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(await countGrantsAndCodes(app(), target)).toEqual({ grants: 0, codes: 0 });
  }

  describe('client and redirect URI', () => {
    it('O1 shows the sign-in page for a valid request without a session, and issues no code', async () => {
      const page = await open(authorizeLink(client));
      expectPage(page, 200);
      expect(page.html).toContain('name="phone"');
      expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
    });

    it.each([
      ['missing', () => undefined],
      ['empty', () => ''],
      ['unknown', () => UNKNOWN_ID],
      ['malformed', () => "svc_app_' OR 1=1 -- "],
      ['in upper case', () => client.clientId.toUpperCase()],
      ['in upper case after its prefix', () => `svc_app_${client.clientId.slice(8).toUpperCase()}`],
      ['followed by a space', () => `${client.clientId} `],
      ['10,000 characters long', () => 'x'.repeat(10_000)],
    ])('O2 shows an error page and never redirects when client_id is %s', async (_, clientId) => {
      await expectErrorPage(authorizeLink(client, { client_id: clientId() }));
    });

    it('O2 shows an error page and never redirects when the app is disabled', async () => {
      const apps = app().service(AppsService);
      await apps.changeStatus(client.clientId, 'disabled', { actor: 'test' });
      await expectErrorPage(authorizeLink(client));
    });

    it.each([undefined, ''])('O3 O10 shows an error page for the redirect_uri %j', (redirect_uri) =>
      expectErrorPage(authorizeLink(client, { redirect_uri })),
    );

    it.each(['client_id', 'redirect_uri'] as const)(
      'O8 shows an error page when %s is sent twice',
      async (name) => {
        const value = name === 'client_id' ? client.clientId : (client.redirectUris[0] ?? '');
        await expectErrorPage(`${authorizeLink(client)}&${name}=${encodeURIComponent(value)}`);
      },
    );
  });

  describe('parameters', () => {
    it.each<[error: string, parameters: Record<string, string | undefined>, state?: null]>([
      ['invalid_request', { response_type: undefined }],
      ['unsupported_response_type', { response_type: 'token', state: 'a b&c' }],
      ['invalid_scope', { scope: undefined }],
      ['invalid_scope', { scope: '' }],
      ['invalid_scope', { scope: undefined, 'scope[a]': 'posts.read' }],
      ['invalid_scope', { scope: 'posts.delete' }],
      ['invalid_request', { state: undefined }, null],
      ['invalid_request', { code_challenge: `${CHALLENGE}=`, code_challenge_method: 'S256' }],
      ['invalid_request', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }],
    ])(
      'O7 O9 O10 O12 O13 O15 O20 O22 O23 shows a visitor without a session an error page with a link to the app: %s for %j',
      async (error, parameters, state) => {
        await expectRejected(authorizeLink(client, parameters), error, {
          state: state === null ? null : (parameters['state'] ?? STATE),
        });
      },
    );

    it('O20 redirects a signed-in user who allowed the app to it with the error, without an error page', async () => {
      const visitor = new Browser(app());
      const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
      await visitor.allow(consent, client.scopes);
      const page = await visitor.open(authorizeLink(client, { scope: 'nothing' }));
      expectErrorRedirect(page, client, 'invalid_scope');
    });

    it('O20 sends the same page with and without a session to an app that the user has not allowed', async () => {
      const visitor = new Browser(app());
      const user = await app().addUser();
      const link = authorizeLink(client, { scope: 'nothing' });
      const withoutIds = ({ status, html }: Page): string =>
        `${status} ${html.replaceAll(/req_\w+/g, '')}`;
      const signedOut = await visitor.open(link);
      expectErrorPageWithReturnLink(signedOut, client, 'invalid_scope');
      const consent = await visitor.signIn(authorizeLink(client), user);
      const signedIn = await visitor.open(link);
      expect(withoutIds(signedIn)).toBe(withoutIds(signedOut));
      const names = ({ headers }: Page): string[] => [...headers.keys()].toSorted();
      expect(names(signedIn)).toEqual(names(signedOut));
      // A denial, and a grant that ended, are no permission.
      await visitor.submit(consent, DECISION, { decision: 'deny' });
      expect(withoutIds(await visitor.open(link))).toBe(withoutIds(signedOut));
      const again = await visitor.open(authorizeLink(client));
      await visitor.allow(again, client.scopes);
      await app().service(GrantsService).revokeForUser(user.id, 'all', { actor: user.id });
      expect(withoutIds(await visitor.open(link))).toBe(withoutIds(signedOut));
    });

    it('O9 shows an error page with 400 for malformed percent-encoding', async () => {
      const link = authorizeLink(client, { state: undefined });
      await expectErrorPage(`${link}&state=%zz`);
      await expectErrorPage('/oauth/authorize?client_id=%c3%28');
    });

    it('O11 ignores unknown parameters, even if they are repeated', async () => {
      const link = authorizeLink(client, { nonce: 'n', audience: 'a', resource: 'r', prompt: '' });
      const appended =
        '&access_type=offline&nonce=again&__proto__=1&__proto__=2&scope[a]=b&state[]=x';
      expectPage(await open(`${link}${appended}`), 200);
    });
  });

  describe('scope', () => {
    it('O14 shows one checkbox for each requested scope, in the order of the product requirements', async () => {
      const user = await app().addUser();
      const link = authorizeLink(client, { scope: 'posts.read posts.read profile.read' });
      const page = await new Browser(app()).signIn(link, user);
      const checkboxes = [...page.html.matchAll(/type="checkbox" name="scope" value="([^"]*)"/g)];
      expect(checkboxes.map(([, name]) => name)).toEqual(['profile.read', 'posts.read']);
    });
  });

  describe('state', () => {
    it('O15 returns unchanged a state of 4,096 bytes with special characters', async () => {
      const specialCharacters = `a b+c%25d&e=f"'<script>\r\nSet-Cookie: x=1\0état 状態 🏡`;
      const state = specialCharacters + 's'.repeat(4096 - Buffer.byteLength(specialCharacters));
      const implicitLink = authorizeLink(client, { state, response_type: 'token' });
      await expectRejected(implicitLink, 'unsupported_response_type', { state });
      const user = await app().addUser();
      expect((await approve(app(), user, client, { state })).get('state')).toBe(state);
    });
  });

  describe('redirect', () => {
    it('O16 sends iss in every authorization response (RFC 9207)', async () => {
      const rejected = await open(authorizeLink(client, { scope: undefined }));
      expect(returnUrl(rejected.html).searchParams.get('iss')).toBe(app().baseUrl);
      const redirect = await approve(app(), await app().addUser(), client);
      expect(redirect.get('iss')).toBe(app().baseUrl);
    });

    it('O17 keeps the query of the registered redirect URI and writes spaces as %20', async () => {
      const withQuery = await app().addClient({ redirectUris: ['https://garden.example/cb?a=1'] });
      const page = await open(authorizeLink(withQuery, { state: 'a b', scope: undefined }));
      const { href } = returnUrl(page.html);
      expect(href).toMatch(/^https:\/\/garden\.example\/cb\?a=1&error=invalid_scope&/);
      expect(href).toContain('state=a%20b');
      expect(href).not.toContain('+');
    });

    it.each([
      ['approve', 'code=svcac_'],
      ['deny', 'error=access_denied&'],
    ])('O17 keeps the query after the decision to %s', async (decision, first) => {
      const withQuery = await app().addClient({ redirectUris: ['https://garden.example/cb?a=1'] });
      const visitor = new Browser(app());
      const link = authorizeLink(withQuery, { state: 'a b' });
      const consent = await visitor.signIn(link, await app().addUser());
      const fields = { scope: [...withQuery.scopes], decision };
      const { location } = await visitor.submit(consent, DECISION, fields);
      const start = `https://garden.example/cb?a=1&${first}`;
      expect(location?.slice(0, start.length)).toBe(start);
      expect(location).toContain('&state=a%20b&');
      expect(location).not.toContain('+');
    });
  });

  describe('PKCE', () => {
    it('O21 requires a code_challenge from public apps only', async () => {
      const withoutChallenge = authorizeLink(publicClient, {
        code_challenge: undefined,
        code_challenge_method: undefined,
      });
      await expectRejected(withoutChallenge, 'invalid_request', { app: publicClient });
      expectPage(await open(authorizeLink(publicClient)), 200);
      expectPage(await open(authorizeLink(client)), 200);
      const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
      expectPage(await open(authorizeLink(client, challenge)), 200);
    });
  });

  describe('HTTP', () => {
    it.each(['%zz', 'browser=%zz; session=%zz', 'browser=; session=', '=;;=', 'x'.repeat(8000)])(
      'ignores the malformed cookie "%.30s"',
      async (cookie) => {
        const response = await app().fetch(authorizeLink(client), { headers: { cookie } });
        expect(response.status).toBe(200);
      },
    );

    it('responds to HEAD with the status and headers of GET, without a body, and stores nothing', async () => {
      const visitor = new Browser(app());
      const link = authorizeLink(client, {
        code_challenge: CHALLENGE.replace(/^./, 'A'),
        code_challenge_method: 'S256',
      });
      const head = (path: string): Promise<Response> =>
        app().fetch(path, { method: 'HEAD', headers: { cookie: visitor.cookie(path) } });
      const expectHeadLikeGet = async (path: string): Promise<void> => {
        const before = await dumpTables(app().dataSource);
        const headResponse = await head(path);
        expect(await dumpTables(app().dataSource)).toEqual(before);
        const page = await visitor.open(path);
        expect(headResponse.status).toBe(page.status);
        expect(await headResponse.text()).toBe('');
        for (const name of ['content-type', 'cache-control', 'content-security-policy', 'location'])
          expect([name, headResponse.headers.get(name)]).toEqual([name, page.headers.get(name)]);
      };
      await expectHeadLikeGet(link);
      await expectHeadLikeGet(authorizeLink(client, { scope: 'nothing' }));
      const consent = await visitor.signIn(link, await app().addUser());
      await visitor.allow(consent, ['profile.read']);
      // After five minutes, a GET extends the session. A HEAD must not.
      app().clock.advance(5 * 60_000);
      await expectHeadLikeGet(link);
      app().clock.advance(5 * 60_000);
      await expectHeadLikeGet('/account/apps');
    });

    it.each(['/oauth/authorize/', SIGN_IN, DECISION, '/oauth/authorize/a/b'])(
      'shows an error page when a browser opens %s directly',
      async (path) => expectPage(await open(path), 400),
    );
  });

  describe('redirect_uri', () => {
    let nativeApp: TestClient;

    beforeAll(async () => {
      nativeApp = await app().addClient({
        kind: 'public',
        redirectUris: [
          'http://127.0.0.1/cb',
          'http://[::1]/cb',
          'http://localhost:4000/cb',
          'https://app.example/cb',
          'com.example.app:/cb',
        ],
      });
    });

    const openWith = (target: TestClient, redirect_uri: string): Promise<Page> =>
      open(authorizeLink(target, { redirect_uri }));

    it.each([
      'https://garden.example/callback/',
      'https://garden.example/callback\0',
      'https://garden.example@evil.example/callback',
      'https://evil.example\\@garden.example/callback',
      'javascript:alert(1)',
    ])(
      'O4 shows an error page for %j, which is not registered, and does not contain that URI',
      async (uri) => {
        const page = await openWith(client, uri);
        expectPage(page, 400);
        expect(page.html).not.toContain('evil');
        expect(page.html).not.toContain('alert');
        expect(page.html).not.toContain('<form');
      },
    );

    it.each([
      ['https', 'https://app.example/cb'],
      ['IPv4 loopback with another port', 'http://127.0.0.1:51004/cb'],
      ['IPv6 loopback with another port', 'http://[::1]:51004/cb'],
      ['localhost with the registered port', 'http://localhost:4000/cb'],
      ['a private scheme', 'com.example.app:/cb'],
    ])('O5 O147 completes the flow of a public app with %s', async (_, redirect_uri) => {
      const visitor = new Browser(app());
      const link = authorizeLink(nativeApp, { redirect_uri });
      const consent = await visitor.signIn(link, await app().addUser());
      expect(consent.headers.get('content-security-policy')).not.toContain('form-action');
      const fields = { scope: [...nativeApp.scopes], decision: 'approve' };
      const done = await visitor.submit(consent, DECISION, fields);
      expect(done.location?.split('?')[0]).toBe(redirect_uri);
      const code = redirectParameters(done).get('code') ?? '';
      expect((await exchange(app(), nativeApp, code, { redirect_uri })).status).toBe(200);
    });

    it('O6 shows an error page when a confidential app varies the port of a loopback address, or a public app that of an https address', async () => {
      const serverApp = await app().addClient({ redirectUris: ['http://127.0.0.1:8080/cb'] });
      expectPage(await openWith(serverApp, 'http://127.0.0.1:8080/cb'), 200);
      for (const uri of ['http://127.0.0.1:8081/cb', 'http://127.0.0.1/cb'])
        expectPage(await openWith(serverApp, uri), 400);
      expectPage(await openWith(nativeApp, 'https://app.example:8443/cb'), 400);
    });
  });
});
