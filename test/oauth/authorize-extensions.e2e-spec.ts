import { Browser } from '../support/browser.js';
import { authorizeLink, CHALLENGE } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import {
  countGrantsAndCodes,
  expectErrorRedirect,
  expectReturnPage,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

onOneEngine('Authorization endpoint: prompt', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeEach(async () => {
    client = await app().addClient();
  });

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
});

onOneEngine('Authorization endpoint: errors before sign-in', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let publicClient: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
    publicClient = await app().addClient({ kind: 'public' });
  });

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
      const page = await new Browser(app()).open(link);
      expectReturnPage(page, client, error, { state: 'a b&c' });
      expect(page.html).toContain('>Return to Garden Share</a>');
      expect(page.html).not.toContain('<script');
    },
  );

  it('O20 lets a visitor decide whether to return when a public app sends no code_challenge', async () => {
    const link = authorizeLink(publicClient, { code_challenge: undefined });
    expectReturnPage(await new Browser(app()).open(link), publicClient, 'invalid_request');
  });

  it('O20 leaves a missing or repeated state out of the return link', async () => {
    const missing = authorizeLink(client, { state: undefined });
    for (const link of [missing, `${authorizeLink(client)}&state=other`])
      expectReturnPage(await new Browser(app()).open(link), client, 'invalid_request', {
        state: null,
      });
  });

  it('O20 redirects a signed-in user to the app at once', async () => {
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    const page = await visitor.open(authorizeLink(client, { scope: 'nothing' }));
    expectErrorRedirect(page, client, 'invalid_scope');
  });
});
