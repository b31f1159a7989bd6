import { SECOND } from '../../src/platform/clock.js';
import { Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { countGrantsAndCodes, expectErrorRedirect } from '../support/responses.js';
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

  it.each(['consent', 'login', 'select_account', 'login consent'])(
    'O41 shows the consent page for prompt=%s to a user who approved the app before',
    async (prompt) => {
      const visitor = new Browser(app());
      const user = await app().addUser();
      const consent = await visitor.signIn(authorizeLink(client), user);
      const fields = { scope: [...client.scopes], decision: 'approve' };
      const { location } = await visitor.submit(consent, '/oauth/authorize/decision', fields);
      expect(location).toContain('code=svcac_');
      const link = authorizeLink(client, { prompt });
      app().clock.advance(61 * SECOND);
      const isSignedIn = prompt === 'consent';
      const page = isSignedIn ? await visitor.open(link) : await visitor.signIn(link, user);
      expect(page.html).toContain('type="checkbox" name="scope"');
    },
  );

  it.each(['login', 'select_account', 'login consent'])(
    'O41 asks a signed-in user to sign in again for prompt=%s, and then shows the consent page',
    async (prompt) => {
      const [user, otherUser] = [await app().addUser(), await app().addUser()];
      const visitor = new Browser(app());
      await visitor.signIn(authorizeLink(client), user);
      const link = authorizeLink(client, { prompt });
      expect((await visitor.open(link)).html).toContain('name="phone"');
      const consent = await visitor.signIn(link, otherUser);
      expect(consent.html).toContain(otherUser.name);
    },
  );
});
