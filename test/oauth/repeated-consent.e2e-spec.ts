import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, linkOf, type Page } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink, exchange, redirectParameters, sendForm } from '../support/oauth-flow.js';
import { expectPage, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, SIGN_OUT, DECISION } from '../support/sign-in.js';

const CHECKBOX = 'type="checkbox" name="scope"';

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

  /** Allows these scopes, or those of the hidden fields. */
  async function allow(page: Page, scope?: string[]): Promise<TokenBody> {
    const fields = { decision: 'approve', ...(scope && { scope }) };
    const done = await visitor.submit(page, DECISION, fields);
    const code = redirectParameters(done).get('code') ?? '';
    return json<TokenBody>(await exchange(app(), client, code));
  }

  const allowAll = async (): Promise<TokenBody> =>
    allow(await visitor.signIn(authorizeLink(client), user), [...client.scopes]);

  const asksForScopes = async (parameters?: Record<string, string>): Promise<boolean> =>
    (await visitor.open(authorizeLink(client, parameters))).html.includes(CHECKBOX);

  it('O40 lists the requested scopes, and issues a code for them after one click', async () => {
    await allowAll();
    const scope = 'profile.read posts.read';
    const page = await visitor.open(authorizeLink(client, { scope }));
    expectPage(page, 200);
    expect(page.title).toMatch(/^Continue\?/);
    expect(page.html).not.toContain(CHECKBOX);
    expect(page.html).toContain('Continue as <bdi>Ana Lee</bdi>');
    expect(page.html).toContain('Read your own posts and the comments on them');
    expect(page.html).not.toContain('Publish and delete');
    // The hidden fields of the form have the scopes.
    expect((await allow(page)).scope).toBe(scope);
  });

  it('O40 denies with Cancel, and keeps the earlier grant', async () => {
    const { access_token: earlier } = await allowAll();
    const page = await visitor.open(authorizeLink(client));
    const done = await visitor.submit(page, DECISION, { decision: 'deny' });
    expect(redirectParameters(done).get('error')).toBe('access_denied');
    expect((await app().call(earlier, 'GET', '/me')).status).toBe(200);
  });

  it('O40 links to the consent page, in the same language', async () => {
    await allowAll();
    const page = await visitor.open(authorizeLink(client, { ui_locales: 'es' }));
    const consent = await visitor.open(
      linkOf(page, 'Cambiar lo que puede hacer').replaceAll('&amp;', '&'),
    );
    expect(consent.html).toContain(CHECKBOX);
    expect(consent.headers.get('content-language')).toBe('es');
    const { scope } = await allow(consent, ['profile.read']);
    expect(scope).toBe('profile.read');
    expect(await asksForScopes()).toBe(true);
  });

  it('O40 shows the consent page if a scope is missing, was withdrawn or has ended', async () => {
    const [first = '', ...others] = client.scopes;
    await allow(await visitor.signIn(authorizeLink(client), user), others);
    expect(await asksForScopes()).toBe(true);
    const scope = others.join(' ');
    expect(await asksForScopes({ scope })).toBe(false);
    const consent = await visitor.open(authorizeLink(client));
    const { refresh_token: token } = await allow(consent, [first]);
    expect(await asksForScopes({ scope })).toBe(true);
    expect(await asksForScopes({ scope: first })).toBe(false);
    await sendForm(app(), '/oauth/revoke', client, { token });
    expect(await asksForScopes({ scope: first })).toBe(true);
  });

  it('O40 shows the consent page to another user of the browser', async () => {
    await allowAll();
    const page = await visitor.open(authorizeLink(client));
    const phonePage = await visitor.submit(page, SIGN_OUT);
    const other = await app().addUser();
    const codePage = await visitor.submit(phonePage, SIGN_IN, {
      phone: other.phone,
    });
    const code = await app().sms.password(other.phone);
    const consent = await visitor.submit(codePage, VERIFY, { code });
    expect(consent.html).toContain(CHECKBOX);
  });
});
