import { type Page, Browser } from '../support/browser.js';
import { authorizeLink, CHALLENGE } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage, expectErrorRedirect, countGrantsAndCodes } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

onOneEngine('PKCE in the authorization request', (database) => {
  const app = useTestApp(database);
  let native: TestClient;
  let confidential: TestClient;

  beforeAll(async () => {
    native = await app().addClient({ kind: 'public' });
    confidential = await app().addClient();
  });

  function ask(
    client: TestClient,
    challenge: string | undefined,
    method: string | undefined,
  ): Promise<Page> {
    const parameters = { code_challenge: challenge, code_challenge_method: method };
    return new Browser(app()).open(authorizeLink(client, parameters));
  }

  /** Expects the error at the app's redirect, and no grant or code for it. */
  async function expectRefused(
    client: TestClient,
    challenge: string | undefined,
    method: string | undefined,
  ): Promise<void> {
    expectErrorRedirect(await ask(client, challenge, method), client, 'invalid_request');
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
  }

  it.each([undefined, ''])(
    'O21 A public app with the challenge %j is refused',
    async (challenge) => {
      await expectRefused(native, challenge, undefined);
      await expectRefused(native, challenge, 'S256');
    },
  );

  it('O21 A confidential app may do without, and may use it', async () => {
    expectPage(await ask(confidential, undefined, undefined), 200);
    expectPage(await ask(confidential, CHALLENGE, 'S256'), 200);
  });

  it.each(['plain', undefined, '', 's256', 'S512', 'S256 '])(
    'O22 The code_challenge_method %j is refused',
    async (method) => {
      await expectRefused(native, CHALLENGE, method);
      await expectRefused(confidential, CHALLENGE, method);
    },
  );

  it.each([
    ['42 characters', CHALLENGE.slice(1)],
    ['44 characters', `${CHALLENGE}A`],
    ['padding', `${CHALLENGE}=`],
    ['the other base64 alphabet', `${CHALLENGE.slice(2)}+/`],
    ['a line break at its end', `${CHALLENGE}\n`],
    ['a tilde', `${CHALLENGE.slice(1)}~`],
  ])('O23 A challenge with %s is refused here, not later', async (_, challenge) => {
    await expectRefused(native, challenge, 'S256');
  });
});
