import { randomBytes } from 'node:crypto';
import { type Page, Browser } from '../support/browser.js';
import { approve, authorizeLink, CHALLENGE } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage, expectErrorRedirect, countGrantsAndCodes } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

function newChallenge(): Record<string, string> {
  return {
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
  };
}

onOneEngine('Authorization endpoint: prompt and reused code_challenge', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeEach(async () => {
    client = await app().addClient();
  });

  async function reuseEvents(of: TestClient): Promise<unknown[]> {
    const trail = await auditTrail(app().dataSource, of.clientId);
    return trail.filter(({ action }) => action === 'authorization.challenge_reused');
  }

  it('O41 redirects prompt=none with interaction_required, with and without a session', async () => {
    const link = authorizeLink(client, { prompt: 'none' });
    const visitor = new Browser(app());
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    await visitor.signIn(authorizeLink(client), await app().addUser());
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  });

  it('O41 shows the consent page for prompt=consent to a user who approved the app before', async () => {
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    const fields = { scope: [...client.scopes], decision: 'approve' };
    const { location } = await visitor.submit(consent, '/oauth/authorize/decision', fields);
    expect(location).toContain('code=svcac_');
    const page = await visitor.open(authorizeLink(client, { prompt: 'consent' }));
    expect(page.html).toContain('/oauth/authorize/decision');
  });

  it.each(['login', 'select_account', 'login consent'])(
    'O41 asks a signed-in user to sign in again for prompt=%s, and then shows the consent page',
    async (prompt) => {
      const [user, other] = [await app().addUser(), await app().addUser()];
      const visitor = new Browser(app());
      await visitor.signIn(authorizeLink(client), user);
      const link = authorizeLink(client, { prompt });
      expect((await visitor.open(link)).html).toContain('name="phone"');
      const consent = await visitor.signIn(link, other);
      expect(consent.html).toContain(other.name);
    },
  );

  it('O24 records a code_challenge that is reused after it led to a code', async () => {
    const same = newChallenge();
    await new Browser(app()).open(authorizeLink(client, same));
    await approve(app(), await app().addUser(), client, same);
    expect(await reuseEvents(client)).toEqual([]);
    const page = await new Browser(app()).open(authorizeLink(client, same));
    expect(page.status).toBe(200);
    expect(await reuseEvents(client)).toMatchObject([
      { actor: 'service', details: { refused: false } },
    ]);
  });

  it('O24 allows another app to use the same code_challenge', async () => {
    const other = await app().addClient();
    const same = newChallenge();
    await approve(app(), await app().addUser(), client, same);
    await new Browser(app()).open(authorizeLink(other, same));
    expect(await reuseEvents(other)).toEqual([]);
  });
});

onOneEngine('Authorization endpoint with the stricter settings', (database) => {
  const app = useTestApp(database, {
    OAUTH_ERRORS_BEFORE_SIGN_IN: 'page',
    OAUTH_REFUSE_REUSED_CHALLENGE: '1',
  });
  let client: TestClient;
  let publicClient: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
    publicClient = await app().addClient({ kind: 'public' });
  });

  /** Expects a page with 400 and a link that returns the error and `state` to the app. */
  function expectReturnLink(page: Page, error: string, state: string | null): void {
    expectPage(page, 400);
    expect(page.html).toContain('Return to garden.example');
    expect(page.html).toMatch(/<p>For the people who run the app: [^<]+<\/p>/);
    const [, address = ''] = /href="(https:\/\/garden\.example[^"]*)"/.exec(page.html) ?? [];
    const { searchParams } = new URL(address.replaceAll('&amp;', '&'));
    expect(Object.fromEntries(searchParams)).toEqual({
      error,
      error_description: expect.any(String),
      ...(state !== null && { state }),
      iss: app().baseUrl,
    });
    expect(page.html).not.toContain('<script');
  }

  it.each([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: undefined }, 'invalid_request'],
    [{ scope: 'nothing' }, 'invalid_scope'],
    [{ scope: undefined }, 'invalid_scope'],
    [{ code_challenge: 'short', code_challenge_method: 'S256' }, 'invalid_request'],
    [{ code_challenge: CHALLENGE, code_challenge_method: 'plain' }, 'invalid_request'],
  ])(
    'O20 lets a visitor decide whether to return to the app with %j',
    async (parameters, error) => {
      const link = authorizeLink(client, { state: 'a b&c', ...parameters });
      expectReturnLink(await new Browser(app()).open(link), error, 'a b&c');
    },
  );

  it('O20 lets a visitor decide when a public app sends no code_challenge', async () => {
    const link = authorizeLink(publicClient, { code_challenge: undefined });
    expectReturnLink(await new Browser(app()).open(link), 'invalid_request', 'af0ifjsldkj');
  });

  it('O20 leaves a missing or repeated state out of the return link', async () => {
    const missing = authorizeLink(client, { state: undefined });
    for (const link of [missing, `${authorizeLink(client)}&state=other`])
      expectReturnLink(await new Browser(app()).open(link), 'invalid_request', null);
  });

  it('O20 redirects a signed-in user to the app at once', async () => {
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    const page = await visitor.open(authorizeLink(client, { scope: 'nothing' }));
    expectErrorRedirect(page, client, 'invalid_scope');
  });

  it('O24 rejects a code_challenge that is reused after it led to a code', async () => {
    const own = await app().addClient();
    const same = newChallenge();
    const visitor = new Browser(app());
    await visitor.open(authorizeLink(own, same));
    const consent = await visitor.signIn(authorizeLink(own, same), await app().addUser());
    const fields = { scope: [...own.scopes], decision: 'approve' };
    await visitor.submit(consent, '/oauth/authorize/decision', fields);
    const page = await visitor.open(authorizeLink(own, same));
    expectErrorRedirect(page, own, 'invalid_request');
    expect(await countGrantsAndCodes(app(), own)).toEqual({ grants: 1, codes: 1 });
    const reused = await new Browser(app()).open(authorizeLink(own, same));
    expectReturnLink(reused, 'invalid_request', 'af0ifjsldkj');
    expect((await visitor.open(authorizeLink(own, newChallenge()))).status).toBe(200);
    const anonymous = await new Browser(app()).open(authorizeLink(own, newChallenge()));
    expect(anonymous.status).toBe(200);
  });
});
