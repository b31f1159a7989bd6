import { SCOPES } from '../../src/platform/access/scopes.js';
import { Browser } from '../support/browser.js';
import { authorizeLink, exchange, redirectParameters } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage, expectTokenError, countGrantsAndCodes } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const DECISION = '/oauth/authorize/decision';
const ALLOW_ALL = { scope: [...SCOPES], decision: 'approve' };

onOneEngine('Redirect after consent', (database) => {
  const app = useTestApp(database);

  it.each([
    ['confidential', 'https://garden.example/callback'],
    ['public', 'http://127.0.0.1:49152/callback'],
    ['public', 'com.example.app:/cb'],
  ] as const)('O147 sends the code of a %s app to %s', async (kind, redirectUri) => {
    const client = await app().addClient({ kind, redirectUris: [redirectUri] });
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    expect(consent.headers.get('content-security-policy')).not.toContain('form-action');
    const done = await visitor.submit(consent, DECISION, ALLOW_ALL);
    expect(done.location?.split('?')[0]).toBe(redirectUri);
    const code = redirectParameters(done).get('code') ?? '';
    expect((await exchange(app(), client, code)).status).toBe(200);
  });

  it('O148 issues no second authorization code when the user goes back and allows again', async () => {
    const client = await app().addClient();
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    const code = redirectParameters(await visitor.submit(consent, DECISION, ALLOW_ALL)).get('code');
    expectPage(await visitor.submit(consent, DECISION, ALLOW_ALL), 409);
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
    expect((await exchange(app(), client, code ?? '')).status).toBe(200);
  });

  it('O148 keeps the codes of two apps in two tabs apart', async () => {
    const [first, second] = [await app().addClient(), await app().addClient()];
    const visitor = new Browser(app());
    const firstPage = await visitor.signIn(authorizeLink(first), await app().addUser());
    const secondPage = await visitor.open(authorizeLink(second));
    const secondRedirect = redirectParameters(
      await visitor.submit(secondPage, DECISION, ALLOW_ALL),
    );
    const firstRedirect = redirectParameters(await visitor.submit(firstPage, DECISION, ALLOW_ALL));
    const codeOfFirst = firstRedirect.get('code') ?? '';
    const codeOfSecond = secondRedirect.get('code') ?? '';
    await expectTokenError(await exchange(app(), first, codeOfSecond), 'invalid_grant');
    await expectTokenError(await exchange(app(), second, codeOfFirst), 'invalid_grant');
    expect((await exchange(app(), first, codeOfFirst)).status).toBe(200);
    expect((await exchange(app(), second, codeOfSecond)).status).toBe(200);
  });
});
