import { onEachEngine } from '../../support/engines.js';
import { expectPage, expectRefusal, stored } from '../../support/oauth-answers.js';
import { useTestApp, type TestClient } from '../../support/test-app.js';
import { approve, authorizeLink, Visitor, type Page } from '../../support/visitor.js';
import { AppsService } from '../../../src/modules/oauth/apps/apps.service.js';

onEachEngine('The authorization request', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  function open(link: string): Promise<Page> {
    return new Visitor(app()).open(link);
  }

  it('O1 A valid request without a session shows the sign-in page and issues nothing', async () => {
    const page = await open(authorizeLink(client));
    expectPage(page, 200);
    expect(page.html).toContain('name="phone"');
    expect(await stored(app(), client)).toEqual({ grants: 0, codes: 0 });
  });

  it.each([
    ['missing', () => undefined],
    ['empty', () => ''],
    ['unknown', () => 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp'],
    ['malformed', () => "svc_app_' OR 1=1 -- "],
    ['in upper case', () => client.clientId.toUpperCase()],
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
    expectPage(await open(authorizeLink(disabled)), 400);
  });

  it('O3 A request without redirect_uri gets a page', async () => {
    expectPage(await open(authorizeLink(client, { redirect_uri: undefined })), 400);
  });

  it('O7 A missing response_type is an invalid_request for the app', async () => {
    const page = await open(authorizeLink(client, { response_type: undefined }));
    expectRefusal(page, client, 'invalid_request');
  });

  it.each(['token', 'code token', 'foo', 'CODE'])(
    'O7 The response_type "%s" is an unsupported_response_type for the app',
    async (responseType) => {
      const page = await open(authorizeLink(client, { response_type: responseType }));
      expectRefusal(page, client, 'unsupported_response_type');
    },
  );

  it.each(['scope', 'response_type', 'code_challenge', 'code_challenge_method'])(
    'O8 Sending %s twice is an invalid_request for the app',
    async (name) => {
      const page = await open(`${authorizeLink(client)}&${name}=a&${name}=b`);
      expectRefusal(page, client, 'invalid_request');
    },
  );

  it('O8 Sending state twice is an invalid_request without a state', async () => {
    const page = await open(`${authorizeLink(client)}&state=other`);
    expectRefusal(page, client, 'invalid_request', { state: null });
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
    const page = await open(`${withoutState}&state[]=x&scope[a]=b`);
    expectRefusal(page, client, 'invalid_request', { state: null });
    const withoutScope = authorizeLink(client, { scope: undefined });
    expectRefusal(await open(`${withoutScope}&scope[a]=posts.read`), client, 'invalid_scope');
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
    const page = await open(authorizeLink(client, { [name]: '' }));
    expectRefusal(page, client, error, name === 'state' ? { state: null } : {});
  });

  it('O10 An empty code_challenge of a confidential app counts as omitted', async () => {
    expectPage(await open(authorizeLink(client, { code_challenge: '' })), 200);
  });

  it('O11 Unknown parameters are ignored, even twice', async () => {
    const link = authorizeLink(client, { nonce: 'n', audience: 'a', resource: 'r' });
    expectPage(await open(`${link}&access_type=offline&nonce=again`), 200);
  });

  it.each(['posts.delete', 'profile.read posts.delete', 'Profile.read', 'profile.read,posts.read'])(
    'O12 The unknown scope "%s" is an invalid_scope for the app',
    async (scope) => {
      expectRefusal(await open(authorizeLink(client, { scope })), client, 'invalid_scope');
    },
  );

  it('O12 A scope that the app is not registered for is an invalid_scope', async () => {
    const reader = await app().addClient({ scope: 'profile.read' });
    const page = await open(authorizeLink(reader, { scope: 'profile.read posts.write' }));
    expectRefusal(page, reader, 'invalid_scope');
  });

  it.each([undefined, ' ', '   '])('O13 The scope %j is an invalid_scope', async (scope) => {
    expectRefusal(await open(authorizeLink(client, { scope })), client, 'invalid_scope');
  });

  it('O14 Repeated scopes show one box each, in the order of the source document', async () => {
    const user = await app().addUser();
    const link = authorizeLink(client, { scope: 'posts.read posts.read profile.read' });
    const page = await new Visitor(app()).signIn(link, user);
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
    const user = await app().addUser();
    expect((await approve(app(), user, client, { state })).get('state')).toBe(state);
    const refused = await open(authorizeLink(client, { state, response_type: 'token' }));
    expectRefusal(refused, client, 'unsupported_response_type', { state });
  });

  it('O15 A state of 4,097 bytes gets a page', async () => {
    expectPage(await open(authorizeLink(client, { state: 'é'.repeat(2048) + 'x' })), 400);
  });

  it('O15 A missing state is an invalid_request without a state', async () => {
    const page = await open(authorizeLink(client, { state: undefined }));
    expectRefusal(page, client, 'invalid_request', { state: null });
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
    const fresh = await app().addClient();
    const page = await open(authorizeLink(fresh, { response_type: 'token' }));
    expectRefusal(page, fresh, 'unsupported_response_type');
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(await stored(app(), fresh)).toEqual({ grants: 0, codes: 0 });
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
});
