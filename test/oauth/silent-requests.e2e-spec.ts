import { Authorization } from '../../src/modules/oauth/authorize/authorization.entity.js';
import { Browser } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { approve, authorizeLink } from '../support/oauth-flow.js';
import { expectErrorRedirect, expectPage } from '../support/responses.js';
import { rateLimits, type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;

onOneEngine('prompt=none in a frame', (database) => {
  const app = useTestApp(database, rateLimits({ 'authorize-calls': 5 }));
  let client: TestClient;
  let frame: Browser;

  const inFrame = (site = 'cross-site'): Browser =>
    new Browser(app(), { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': site });

  beforeEach(async () => {
    app().clock.advance(DAY);
    client = await app().addClient({ kind: 'public' });
    frame = inFrame();
  });

  it.each(['cross-site', 'same-site', 'same-origin'])(
    'O41 redirects interaction_required from a %s page, without a page',
    async (site) => {
      for (const prompt of ['none', ' none '])
        expectErrorRedirect(
          await inFrame(site).open(authorizeLink(client, { prompt })),
          client,
          'interaction_required',
        );
    },
  );

  it.each([
    ['invalid_scope', { scope: 'openid profile.read' }],
    ['unsupported_response_type', { response_type: 'id_token token' }],
    ['invalid_request', { code_challenge: undefined }],
    ['invalid_request', { prompt: 'none login' }],
  ])('O41 redirects %s for %j, which a top-level window shows', async (error, parameters) => {
    const link = authorizeLink(client, { prompt: 'none', ...parameters });
    expectErrorRedirect(await frame.open(link), client, error);
    expectPage(await new Browser(app()).open(link), 400);
  });

  it('O41 sends the same response with and without a session and a grant of the app', async () => {
    const user = await app().addUser();
    const link = authorizeLink(client, { prompt: 'none' });
    const invalid = authorizeLink(client, { prompt: 'none', scope: 'openid' });
    const before = await Promise.all([frame.open(link), frame.open(invalid)]);
    await approve(app(), user, client);
    const signedIn = inFrame('same-site');
    const visitor = new Browser(app());
    app().clock.advance(DAY);
    await visitor.signIn(authorizeLink(client), user);
    for (const [name, value] of visitor.cookies) signedIn.cookies.set(name, value);
    const after = await Promise.all([signedIn.open(link), signedIn.open(invalid)]);
    expect(after.map(({ location }) => location)).toEqual(before.map(({ location }) => location));
    expect(after.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
  });

  it.each([
    ['an unknown app', { client_id: 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp' }],
    ['another redirect URI', { redirect_uri: 'https://evil.example/' }],
    ['a repeated client_id', { client_id: undefined }],
  ])('O41 never redirects for %s', async (_, parameters) => {
    const page = await frame.open(authorizeLink(client, { prompt: 'none', ...parameters }));
    expectPage(page, 400);
    expect(page.location).toBeNull();
  });

  it('O41 never redirects a malformed URL', async () => {
    expectPage(await frame.open(`${authorizeLink(client, { prompt: 'none' })}&x=%zz`), 400);
  });

  it('O41 still shows the error page for other requests in a frame', async () => {
    for (const prompt of [undefined, 'login', 'consent', 'None', 'nonexistent'])
      expectPage(await frame.open(authorizeLink(client, { prompt })), 400);
  });

  it('O41 rejects other subresources with prompt=none', async () => {
    for (const destination of ['image', 'script', 'empty', 'style', 'object']) {
      const visitor = new Browser(app(), { 'sec-fetch-dest': destination });
      expectPage(await visitor.open(authorizeLink(client, { prompt: 'none' })), 400);
    }
  });

  it('O131 stores nothing and does not count towards the limits of the visitor', async () => {
    const before = await app().dataSource.manager.count(Authorization);
    for (let call = 0; call < 6; call += 1)
      expect((await frame.open(authorizeLink(client, { prompt: 'none' }))).status).toBe(303);
    expect(await app().dataSource.manager.count(Authorization)).toBe(before);
    expectPage(await new Browser(app()).open(authorizeLink(client)), 200);
  });
});
