import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, linkOf, type Page } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink, exchange, redirectParameters, sendForm } from '../support/oauth-flow.js';
import { expectPage, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const CHECKBOX = 'type="checkbox" name="scope"';
const DECISION = '/oauth/authorize/decision';

onOneEngine('Consent to an app that already has every requested scope', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser({ name: 'Ana Lee' });
    visitor = new Browser(app());
  });

  async function allow(page: Page, scope: string[]): Promise<TokenBody> {
    const done = await visitor.submit(page, DECISION, { scope, decision: 'approve' });
    const code = redirectParameters(done).get('code') ?? '';
    return json<TokenBody>(await exchange(app(), client, code));
  }

  it('O40 lists the requested scopes, and issues a code for them after one click', async () => {
    await allow(await visitor.signIn(authorizeLink(client), user), [...client.scopes]);
    const scope = 'profile.read posts.read';
    const page = await visitor.open(authorizeLink(client, { scope }));
    expectPage(page, 200);
    expect(page.title).toMatch(/^Continue\?/);
    expect(page.html).not.toContain(CHECKBOX);
    expect(page.html).toContain('Continue as <bdi>Ana Lee</bdi>');
    expect(page.html).toContain('Read your own posts and the comments on them');
    expect(page.html).not.toContain('Publish and delete');
    // The hidden fields of the form have the scopes.
    const done = await visitor.submit(page, DECISION, { decision: 'approve' });
    const code = redirectParameters(done).get('code') ?? '';
    const tokens = await json<TokenBody>(await exchange(app(), client, code));
    expect(tokens.scope).toBe(scope);
  });

  it('O40 denies with Cancel, and keeps the earlier grant', async () => {
    const { access_token: earlier } = await allow(
      await visitor.signIn(authorizeLink(client), user),
      [...client.scopes],
    );
    const page = await visitor.open(authorizeLink(client));
    const done = await visitor.submit(page, DECISION, { decision: 'deny' });
    expect(redirectParameters(done).get('error')).toBe('access_denied');
    expect((await app().call(earlier, 'GET', '/me')).status).toBe(200);
  });

  it('O40 links to the consent page, in the same language', async () => {
    await allow(await visitor.signIn(authorizeLink(client), user), [...client.scopes]);
    const page = await visitor.open(authorizeLink(client, { ui_locales: 'es' }));
    const consent = await visitor.open(
      linkOf(page, 'Cambiar lo que puede hacer').replaceAll('&amp;', '&'),
    );
    expect(consent.html).toContain(CHECKBOX);
    expect(consent.headers.get('content-language')).toBe('es');
    const { scope } = await allow(consent, ['profile.read']);
    expect(scope).toBe('profile.read');
    expect((await visitor.open(authorizeLink(client))).html).toContain(CHECKBOX);
  });

  it('O40 shows the consent page if a scope is missing, was withdrawn or has ended', async () => {
    const [first = '', ...others] = client.scopes;
    await allow(await visitor.signIn(authorizeLink(client), user), others);
    expect((await visitor.open(authorizeLink(client))).html).toContain(CHECKBOX);
    const scope = others.join(' ');
    expect((await visitor.open(authorizeLink(client, { scope }))).html).not.toContain(CHECKBOX);
    const { refresh_token: token } = await allow(await visitor.open(authorizeLink(client)), [
      first,
    ]);
    expect((await visitor.open(authorizeLink(client, { scope }))).html).toContain(CHECKBOX);
    expect((await visitor.open(authorizeLink(client, { scope: first }))).html).not.toContain(
      CHECKBOX,
    );
    await sendForm(app(), '/oauth/revoke', client, { token });
    expect((await visitor.open(authorizeLink(client, { scope: first }))).html).toContain(CHECKBOX);
  });

  it('O40 shows the consent page to another user of the browser', async () => {
    await allow(await visitor.signIn(authorizeLink(client), user), [...client.scopes]);
    const page = await visitor.open(authorizeLink(client));
    const phonePage = await visitor.submit(page, '/oauth/authorize/sign-out');
    const other = await app().addUser();
    const codePage = await visitor.submit(phonePage, '/oauth/authorize/sign-in', {
      phone: other.phone,
    });
    const code = await app().sms.password(other.phone);
    const consent = await visitor.submit(codePage, '/oauth/authorize/verify', { code });
    expect(consent.html).toContain(CHECKBOX);
  });
});
