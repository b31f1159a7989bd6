import { Browser } from '../support/browser.js';
import { authorizeLink, CHALLENGE } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectErrorPageWithReturnLink, expectErrorRedirect } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

onOneEngine('Authorization endpoint: error page and error redirect', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let publicClient: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
    publicClient = await app().addClient({ kind: 'public' });
  });

  it.each([
    ['response_type=token', { response_type: 'token' }, 'unsupported_response_type'],
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['an unknown scope', { scope: 'nothing' }, 'invalid_scope'],
    ['no scope', { scope: undefined }, 'invalid_scope'],
    [
      'a short code_challenge',
      { code_challenge: 'short', code_challenge_method: 'S256' },
      'invalid_request',
    ],
    [
      'the code_challenge_method plain',
      { code_challenge: CHALLENGE, code_challenge_method: 'plain' },
      'invalid_request',
    ],
  ])(
    'O20 shows a signed-out visitor an error page with a link to the app for %s',
    async (_, parameters, error) => {
      const link = authorizeLink(client, { state: 'a b&c', ...parameters });
      const page = await new Browser(app()).open(link);
      expectErrorPageWithReturnLink(page, client, error, { state: 'a b&c' });
      expect(page.html).toContain('>Return to \u2068Garden Share\u2069</a>');
      expect(page.html).not.toContain('<script');
    },
  );

  it('O20 shows a signed-out visitor an error page with a link to a public app that sends no code_challenge', async () => {
    const link = authorizeLink(publicClient, { code_challenge: undefined });
    expectErrorPageWithReturnLink(
      await new Browser(app()).open(link),
      publicClient,
      'invalid_request',
    );
  });

  it('O20 omits a missing or repeated state from the return link', async () => {
    const missing = authorizeLink(client, { state: undefined });
    for (const link of [missing, `${authorizeLink(client)}&state=other`])
      expectErrorPageWithReturnLink(
        await new Browser(app()).open(link),
        client,
        'invalid_request',
        {
          state: null,
        },
      );
  });

  it('O20 redirects a signed-in user to the app with the error, without an error page', async () => {
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    const page = await visitor.open(authorizeLink(client, { scope: 'nothing' }));
    expectErrorRedirect(page, client, 'invalid_scope');
  });
});
