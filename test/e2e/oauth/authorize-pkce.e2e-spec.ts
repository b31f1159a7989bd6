import { onEachEngine } from '../../support/engines.js';
import { expectPage, expectRefusal } from '../../support/oauth-answers.js';
import { useTestApp, type TestClient } from '../../support/test-app.js';
import { authorizeLink, CHALLENGE, Visitor, type Page } from '../../support/visitor.js';

onEachEngine('PKCE in the authorization request', (database) => {
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
    return new Visitor(app()).open(authorizeLink(client, parameters));
  }

  it.each([undefined, ''])(
    'O21 A public app with the challenge %j is refused',
    async (challenge) => {
      expectRefusal(await ask(native, challenge, undefined), native, 'invalid_request');
      expectRefusal(await ask(native, challenge, 'S256'), native, 'invalid_request');
    },
  );

  it('O21 A confidential app may do without, and may use it', async () => {
    expectPage(await ask(confidential, undefined, undefined), 200);
    expectPage(await ask(confidential, CHALLENGE, 'S256'), 200);
  });

  it.each(['plain', undefined, '', 's256', 'S512', 'S256 '])(
    'O22 The code_challenge_method %j is refused',
    async (method) => {
      expectRefusal(await ask(native, CHALLENGE, method), native, 'invalid_request');
      expectRefusal(await ask(confidential, CHALLENGE, method), confidential, 'invalid_request');
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
    expectRefusal(await ask(native, challenge, 'S256'), native, 'invalid_request');
  });
});
