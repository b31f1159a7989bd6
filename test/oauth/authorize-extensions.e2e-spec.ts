import { randomBytes } from 'node:crypto';
import { type Page, Browser } from '../support/browser.js';
import { approve, authorizeLink, CHALLENGE } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage, expectErrorRedirect, countGrantsAndCodes } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

function challenge(): Record<string, string> {
  return {
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
  };
}

onOneEngine('The prompt of an authorization request', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  it('O41 prompt=none is an interaction_required, signed in or not', async () => {
    const link = authorizeLink(client, { prompt: 'none' });
    const visitor = new Browser(app());
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    await visitor.signIn(authorizeLink(client), await app().addUser());
    expectErrorRedirect(await visitor.open(link), client, 'interaction_required');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  });

  it('O41 prompt=consent shows the consent page to whoever allowed it before', async () => {
    const user = await app().addUser();
    await approve(app(), user, client);
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), user);
    const page = await visitor.open(authorizeLink(client, { prompt: 'consent' }));
    expect(page.html).toContain('/oauth/authorize/decision');
  });

  it.each(['login', 'select_account', 'login consent'])(
    'O41 prompt=%s asks somebody who is signed in to sign in, and counts only after that',
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

onOneEngine('Errors shown before anybody signed in', (database) => {
  const app = useTestApp(database, { OAUTH_ERRORS_BEFORE_SIGN_IN: 'page' });
  let client: TestClient;
  let native: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
    native = await app().addClient({ kind: 'public' });
  });

  /** Expects a page with 400 that offers the error, and `state`, to the app. */
  function expectOffer(page: Page, error: string, state: string | null): void {
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
  ])('O20 With %j a visitor decides whether to return to the app', async (parameters, error) => {
    const link = authorizeLink(client, { state: 'a b&c', ...parameters });
    expectOffer(await new Browser(app()).open(link), error, 'a b&c');
  });

  it('O20 A public app without a code_challenge is such an error, too', async () => {
    const link = authorizeLink(native, { code_challenge: undefined });
    expectOffer(await new Browser(app()).open(link), 'invalid_request', 'af0ifjsldkj');
  });

  it('O20 A missing or repeated state is not in the address of the app', async () => {
    const missing = authorizeLink(client, { state: undefined });
    for (const link of [missing, `${authorizeLink(client)}&state=other`])
      expectOffer(await new Browser(app()).open(link), 'invalid_request', null);
  });

  it('O20 Somebody who is signed in is sent to the app at once', async () => {
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), await app().addUser());
    const page = await visitor.open(authorizeLink(client, { scope: 'nothing' }));
    expectErrorRedirect(page, client, 'invalid_scope');
  });
});

onOneEngine('A code_challenge that comes again', (database) => {
  const app = useTestApp(database);

  async function entries(client: TestClient): Promise<unknown[]> {
    const trail = await auditTrail(app().dataSource, client.clientId);
    return trail.filter(({ action }) => action === 'authorization.challenge_reused');
  }

  it('O24 After a code was issued for it, it is written to the audit log', async () => {
    const client = await app().addClient();
    const same = challenge();
    await new Browser(app()).open(authorizeLink(client, same));
    await approve(app(), await app().addUser(), client, same);
    expect(await entries(client)).toEqual([]);
    const page = await new Browser(app()).open(authorizeLink(client, same));
    expect(page.status).toBe(200);
    expect(await entries(client)).toMatchObject([
      { actor: 'service', details: { refused: false } },
    ]);
  });

  it('O24 Another app may have the same', async () => {
    const [one, other] = [await app().addClient(), await app().addClient()];
    const same = challenge();
    await approve(app(), await app().addUser(), one, same);
    await new Browser(app()).open(authorizeLink(other, same));
    expect(await entries(other)).toEqual([]);
  });
});

onOneEngine('A code_challenge that may come once', (database) => {
  const app = useTestApp(database, { OAUTH_REFUSE_REUSED_CHALLENGE: '1' });

  it('O24 Where the operator wants so, it is an invalid_request the second time', async () => {
    const client = await app().addClient();
    const same = challenge();
    await new Browser(app()).open(authorizeLink(client, same));
    await approve(app(), await app().addUser(), client, same);
    const page = await new Browser(app()).open(authorizeLink(client, same));
    expectErrorRedirect(page, client, 'invalid_request');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
    const fresh = await new Browser(app()).open(authorizeLink(client, challenge()));
    expect(fresh.status).toBe(200);
  });
});
