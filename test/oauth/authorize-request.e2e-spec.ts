import { AppsService } from '../../src/modules/oauth/apps/apps.service.js';
import { type Page, Browser } from '../support/browser.js';
import { approve, authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import {
  dumpDatabase,
  expectPage,
  expectErrorRedirect,
  countGrantsAndCodes,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

onOneEngine('The authorization request', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeEach(async () => {
    client = await app().addClient();
  });

  function open(link: string): Promise<Page> {
    return new Browser(app()).open(link);
  }

  /** Expects the error at the app's redirect, and no grant or code for it. */
  async function expectRefused(
    link: string,
    error: string,
    { of = client, ...expected }: { of?: TestClient; state?: string | null } = {},
  ): Promise<void> {
    expectErrorRedirect(await open(link), of, error, expected);
    expect(await countGrantsAndCodes(app(), of)).toEqual({ grants: 0, codes: 0 });
  }

  it('O1 A valid request without a session shows the sign-in page and issues nothing', async () => {
    const page = await open(authorizeLink(client));
    expectPage(page, 200);
    expect(page.html).toContain('name="phone"');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  });

  it.each([
    ['missing', () => undefined],
    ['empty', () => ''],
    ['unknown', () => 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp'],
    ['malformed', () => "svc_app_' OR 1=1 -- "],
    ['in upper case', () => client.clientId.toUpperCase()],
    ['in upper case after its prefix', () => `svc_app_${client.clientId.slice(8).toUpperCase()}`],
    ['followed by a space', () => `${client.clientId} `],
    ['10,000 characters long', () => 'x'.repeat(10_000)],
  ])('O2 A client_id that is %s gets a page, never a redirect', async (_, clientId) => {
    const page = await open(authorizeLink(client, { client_id: clientId() }));
    expectPage(page, 400);
    expect(page.html).not.toContain('<form');
  });

  it('O2 A disabled app gets a page, never a redirect', async () => {
    const disabled = await app().addClient();
    const apps = app().service(AppsService);
    await apps.changeStatus(disabled.clientId, 'disabled', { actor: 'test' });
    const page = await open(authorizeLink(disabled));
    expectPage(page, 400);
    expect(page.html).not.toContain('<form');
  });

  it('O3 A request without redirect_uri gets a page', async () => {
    expectPage(await open(authorizeLink(client, { redirect_uri: undefined })), 400);
  });

  it('O10 So does one whose redirect_uri is empty', async () => {
    expectPage(await open(authorizeLink(client, { redirect_uri: '' })), 400);
  });

  it('O7 A missing response_type is an invalid_request for the app', async () => {
    await expectRefused(authorizeLink(client, { response_type: undefined }), 'invalid_request');
  });

  it.each(['token', 'code token', 'foo', 'CODE'])(
    'O7 The response_type "%s" is an unsupported_response_type for the app',
    async (responseType) => {
      const link = authorizeLink(client, { response_type: responseType });
      await expectRefused(link, 'unsupported_response_type');
    },
  );

  it.each(['scope', 'response_type', 'code_challenge', 'code_challenge_method'])(
    'O8 Sending %s twice is an invalid_request for the app',
    async (name) => {
      await expectRefused(`${authorizeLink(client)}&${name}=a&${name}=b`, 'invalid_request');
    },
  );

  it('O8 Sending state twice is an invalid_request without a state', async () => {
    const link = `${authorizeLink(client)}&state=other`;
    await expectRefused(link, 'invalid_request', { state: null });
  });

  it.each(['client_id', 'redirect_uri'] as const)(
    'O8 Sending %s twice gets a page',
    async (name) => {
      const value = name === 'client_id' ? client.clientId : (client.redirectUris[0] ?? '');
      const link = `${authorizeLink(client)}&${name}=${encodeURIComponent(value)}`;
      expectPage(await open(link), 400);
    },
  );

  it('O9 Array and object syntax names unknown parameters', async () => {
    const withoutState = authorizeLink(client, { state: undefined });
    const brackets = `${withoutState}&state[]=x&scope[a]=b`;
    await expectRefused(brackets, 'invalid_request', { state: null });
    const withoutScope = authorizeLink(client, { scope: undefined });
    await expectRefused(`${withoutScope}&scope[a]=posts.read`, 'invalid_scope');
    expectPage(await open(`${authorizeLink(client)}&scope[a]=b&state[]=x`), 200);
  });

  it.each(['%zz', '%', '%ff', '%c3%28', '%ed%a0%80'])(
    'O9 A query with the broken encoding %s gets a page with 400',
    async (broken) => {
      const link = authorizeLink(client, { state: undefined });
      expectPage(await open(`${link}&state=${broken}`), 400);
      expectPage(await open(`/oauth/authorize?client_id=${broken}`), 400);
    },
  );

  it('O9 An address of 100 kB is refused with 431', async () => {
    const answer = await app().fetch(`/oauth/authorize?state=${'x'.repeat(100_000)}`);
    expect(answer.status).toBe(431);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])(
    'O11 A parameter named %s is as unknown as any other',
    async (name) => {
      expectPage(await open(`${authorizeLink(client)}&${name}=1&${name}=2`), 200);
    },
  );

  it.each([
    ['state', 'invalid_request'],
    ['scope', 'invalid_scope'],
    ['response_type', 'invalid_request'],
  ])('O10 An empty %s counts as omitted', async (name, error) => {
    const link = authorizeLink(client, { [name]: '' });
    await expectRefused(link, error, name === 'state' ? { state: null } : {});
  });

  it.each(['code_challenge', 'code_challenge_method', 'prompt'])(
    'O10 An empty %s of a confidential app counts as omitted',
    async (name) => {
      expectPage(await open(authorizeLink(client, { [name]: '' })), 200);
    },
  );

  it('O11 Unknown parameters are ignored, even twice', async () => {
    const link = authorizeLink(client, { nonce: 'n', audience: 'a', resource: 'r' });
    expectPage(await open(`${link}&access_type=offline&nonce=again`), 200);
  });

  it.each(['posts.delete', 'profile.read posts.delete', 'Profile.read', 'profile.read,posts.read'])(
    'O12 The unknown scope "%s" is an invalid_scope for the app',
    async (scope) => {
      await expectRefused(authorizeLink(client, { scope }), 'invalid_scope');
    },
  );

  it('O12 A scope that the app is not registered for is an invalid_scope', async () => {
    const reader = await app().addClient({ scope: 'profile.read' });
    const link = authorizeLink(reader, { scope: 'profile.read posts.write' });
    await expectRefused(link, 'invalid_scope', { of: reader });
  });

  it.each([undefined, ' ', '   '])('O13 The scope %j is an invalid_scope', async (scope) => {
    await expectRefused(authorizeLink(client, { scope }), 'invalid_scope');
  });

  it('O14 Repeated scopes show one box each, in the order of the source document', async () => {
    const user = await app().addUser();
    const link = authorizeLink(client, { scope: 'posts.read posts.read profile.read' });
    const page = await new Browser(app()).signIn(link, user);
    const boxes = [...page.html.matchAll(/type="checkbox" name="scope" value="([^"]*)"/g)];
    expect(boxes.map(([, name]) => name)).toEqual(['profile.read', 'posts.read']);
  });

  it.each([
    ['a space', 'a b'],
    ['a plus', 'a+b'],
    ['a percent sign', '100%25'],
    ['an ampersand and an equals sign', 'a&b=c'],
    ['quotes and angle brackets', `"'<script>`],
    ['line breaks', 'a\r\nSet-Cookie: x=1'],
    ['a NUL', 'a\0b'],
    ['other scripts and emoji', 'état 状態 🏡'],
    ['4,096 bytes', 's'.repeat(4096)],
  ])('O15 A state with %s comes back as it was', async (_, state) => {
    const wrong = authorizeLink(client, { state, response_type: 'token' });
    await expectRefused(wrong, 'unsupported_response_type', { state });
    const user = await app().addUser();
    expect((await approve(app(), user, client, { state })).get('state')).toBe(state);
  });

  it.each([
    ['nothing', {}],
    ['the response_type', { response_type: 'token' }],
    ['the scope', { scope: undefined }],
    ['the code_challenge', { code_challenge: 'short', code_challenge_method: 'S256' }],
    ['the prompt', { prompt: 'none' }],
  ])('O15 A state of 4,097 bytes gets a page when %s is wrong besides', async (_, wrong) => {
    const state = 'é'.repeat(2048) + 'x';
    expectPage(await open(authorizeLink(client, { ...wrong, state })), 400);
    expectPage(await open(`${authorizeLink(client, { ...wrong, state })}&scope=again`), 400);
  });

  it('O15 A missing state is an invalid_request without a state', async () => {
    const link = authorizeLink(client, { state: undefined });
    await expectRefused(link, 'invalid_request', { state: null });
  });

  it('O16 Every redirect names the issuer', async () => {
    const refused = await open(authorizeLink(client, { scope: undefined }));
    const { searchParams } = new URL(refused.location ?? '');
    expect(searchParams.get('iss')).toBe(app().baseUrl);
    const redirect = await approve(app(), await app().addUser(), client);
    expect(redirect.get('iss')).toBe(app().baseUrl);
  });

  it('O17 A query of the registered redirect is kept, and spaces are %20', async () => {
    const withQuery = await app().addClient({ redirectUris: ['https://garden.example/cb?a=1'] });
    const page = await open(authorizeLink(withQuery, { state: 'a b', scope: undefined }));
    expect(page.location).toMatch(/^https:\/\/garden\.example\/cb\?a=1&error=invalid_scope&/);
    expect(page.location).toContain('state=a%20b');
    expect(page.location).not.toContain('+');
  });

  it.each([
    ['approve', 'code=svcac_'],
    ['deny', 'error=access_denied&'],
  ])('O17 So it is after the decision to %s', async (decision, first) => {
    const withQuery = await app().addClient({ redirectUris: ['https://garden.example/cb?a=1'] });
    const visitor = new Browser(app());
    const link = authorizeLink(withQuery, { state: 'a b' });
    const consent = await visitor.signIn(link, await app().addUser());
    const fields = { scope: [...withQuery.scopes], decision };
    const { location } = await visitor.submit(consent, '/oauth/authorize/decision', fields);
    const start = `https://garden.example/cb?a=1&${first}`;
    expect(location?.slice(0, start.length)).toBe(start);
    expect(location).toContain('&state=a%20b&');
    expect(location).not.toContain('+');
  });

  it.each(['X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded'])(
    'O16 The header %s does not change the issuer',
    async (name) => {
      const link = authorizeLink(client, { scope: undefined });
      const answer = await app().fetch(link, { headers: { [name]: 'evil.example' } });
      const { searchParams } = new URL(answer.headers.get('location') ?? '');
      expect(searchParams.get('iss')).toBe(app().baseUrl);
    },
  );

  it('O20 A protocol error is redirected at once, and nothing is stored for it', async () => {
    const page = await open(authorizeLink(client, { response_type: 'token' }));
    expectErrorRedirect(page, client, 'unsupported_response_type');
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  });

  it.each(['%zz', 'browser=%zz; session=%zz', 'browser=; session=', '=;;=', 'x'.repeat(8000)])(
    'The malformed cookie "%.30s" is as good as none',
    async (cookie) => {
      const answer = await app().fetch(authorizeLink(client), { headers: { cookie } });
      expect(answer.status).toBe(200);
    },
  );

  it('HEAD answers like GET, without a body', async () => {
    const answer = await app().fetch(authorizeLink(client), { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toBe('');
  });

  it('HEAD has the status and headers of GET, signed in or not, and writes nothing', async () => {
    const visitor = new Browser(app());
    const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbGJSstw_cMs';
    const link = authorizeLink(client, { code_challenge, code_challenge_method: 'S256' });
    const head = async (path: string): Promise<Response> => {
      const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      return app().fetch(path, { method: 'HEAD', headers: { cookie } });
    };
    const compare = async (path: string): Promise<void> => {
      const before = await dumpDatabase(app());
      const asked = await head(path);
      expect(await dumpDatabase(app())).toBe(before);
      const got = await visitor.open(path);
      expect(asked.status).toBe(got.status);
      for (const name of ['content-type', 'cache-control', 'content-security-policy', 'location'])
        expect([name, asked.headers.get(name)]).toEqual([name, got.headers.get(name)]);
    };
    await compare(link);
    await compare(authorizeLink(client, { scope: 'nothing' }));
    const consent = await visitor.signIn(link, await app().addUser());
    const fields = { scope: ['profile.read'], decision: 'approve' };
    await visitor.submit(consent, '/oauth/authorize/decision', fields);
    app().clock.advance(5 * 60_000);
    await compare(link);
    app().clock.advance(5 * 60_000);
    await compare('/account/apps');
  });

  it.each(['/oauth/authorize/', '/oauth/authorize/sign-in', '/oauth/authorize/a/b'])(
    'The address %s, which a browser may land on, answers with a page',
    async (path) => expectPage(await open(path), 400),
  );
});
