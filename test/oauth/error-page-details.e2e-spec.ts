import { SECOND } from '../../src/platform/clock.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { Browser, linkOf, type Page, hiddenField } from '../support/browser.js';
import { onSqlite } from '../support/database.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, DECISION } from '../support/sign-in.js';

const CHANGE = { actor: 'test' };
const APP_NAME = 'Corner Store';
const SITE = 'corner.example';

onSqlite('Error pages', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeEach(async () => {
    client = await app().addClient({
      name: APP_NAME,
      redirectUris: ['https://corner.example/oauth/callback?from=app'],
    });
  });

  function expectApp(page: Page, status: number, code: string, href?: string, label = SITE): void {
    expectPage(page, status);
    expect(page.html).toContain(`<p class="kicker"><bdi>${APP_NAME}</bdi></p>`);
    expect(page.html).toContain(`<code>${code}</code>`);
    expect(page.html).toContain(`href="/docs/errors#page-${code}"`);
    if (href === undefined) expect(page.html).not.toContain('Return to');
    else expect(linkOf(page, `Return to ${label}`)).toBe(href);
  }

  /** Opens a sign-in that then expires. */
  async function expire(visitor: Browser): Promise<{ page: Page; path: string }> {
    const page = await visitor.open(authorizeLink(client));
    app().clock.advance(1200 * SECOND);
    return { page, path: `/oauth/authorize/${hiddenField(page, 'transaction')}/phone` };
  }

  it('O169 link to the site of the redirect URI from an expired page, by GET and after a form', async () => {
    const visitor = new Browser(app());
    const { page, path } = await expire(visitor);
    expectApp(await visitor.open(path), 400, 'expired', 'https://corner.example/');
    const sent = await visitor.submit(page, SIGN_IN, { phone: '+14155550101' }, { follow: false });
    expect(sent.status).toBe(303);
    expectApp(await visitor.follow(sent), 400, 'expired', 'https://corner.example/');
  });

  it('O169 do not name the app of an authorization request of another browser', async () => {
    const { path } = await expire(new Browser(app()));
    const other = new Browser(app());
    await other.open(authorizeLink(client));
    const page = await other.open(path);
    expectPage(page, 400);
    expect(page.html).not.toContain(APP_NAME);
  });

  it('O169 link to the website of the app after the decision, if it has one', async () => {
    const homepageUrl = 'https://www.corner.example/welcome';
    await app().service(AppsService).update(client.clientId, { homepageUrl }, CHANGE);
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    const decided = { scope: [...client.scopes], decision: 'approve' };
    await visitor.submit(consent, DECISION, decided);
    const page = await visitor.submit(consent, DECISION, decided);
    expectApp(page, 409, 'already_answered', homepageUrl, APP_NAME);
  });

  it('O169 have no link to an app with a private-use scheme and without a website', async () => {
    client = await app().addClient({
      name: APP_NAME,
      kind: 'public',
      redirectUris: ['com.example.corner:/callback'],
    });
    const visitor = new Browser(app());
    const { path } = await expire(visitor);
    expectApp(await visitor.open(path), 400, 'expired');
  });

  it('O169 never link to a redirect URI that is not registered', async () => {
    const link = authorizeLink(client, { redirect_uri: 'https://evil.example/callback' });
    const page = await new Browser(app()).open(link);
    expectApp(page, 400, 'wrong_redirect_uri');
    expect(page.html).not.toContain('evil.example');
  });

  it('O169 show the id of the request that failed, also after a redirect', async () => {
    const visitor = new Browser(app());
    const { page } = await expire(visitor);
    const sent = await visitor.submit(page, SIGN_IN, { phone: '+14155550101' }, { follow: false });
    const failed = sent.headers.get('x-request-id') ?? 'none';
    const shown = await visitor.follow(sent);
    expect(shown.html).toContain(shown.headers.get('x-request-id'));
    const tampered = page.html.replaceAll(/name="token" value="[^"]*"/g, 'name="token" value="x"');
    const refused = await visitor.submit({ ...page, html: tampered }, SIGN_IN, { phone: '1' });
    expectPage(refused, 403);
    expect(refused.html).toContain(refused.headers.get('x-request-id'));
    expect(refused.html).not.toContain(failed);
  });
});
