import { Browser, type Page } from '../support/browser.js';
import { authorizeLink, exchange, redirectParameters } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { DECISION } from '../support/sign-in.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

onOneEngine('Authorization endpoint: redirect_uri', (database) => {
  const app = useTestApp(database);
  let confidential: TestClient;
  let publicClient: TestClient;

  beforeAll(async () => {
    confidential = await app().addClient();
    publicClient = await app().addClient({
      kind: 'public',
      redirectUris: [
        'http://127.0.0.1/cb',
        'http://[::1]/cb',
        'http://localhost:4000/cb',
        'https://app.example/cb',
        'com.example.app:/cb',
      ],
    });
  });

  function open(client: TestClient, redirect_uri: string): Promise<Page> {
    return new Browser(app()).open(authorizeLink(client, { redirect_uri }));
  }

  it.each([
    'https://garden.example/callback/',
    'https://garden.example/callback\0',
    'https://garden.example@evil.example/callback',
    'https://evil.example\\@garden.example/callback',
    'javascript:alert(1)',
  ])(
    'O4 shows an error page for %j, which is not registered, and does not contain that URI',
    async (uri) => {
      const page = await open(confidential, uri);
      expectPage(page, 400);
      expect(page.html).not.toContain('evil');
      expect(page.html).not.toContain('alert');
      expect(page.html).not.toContain('<form');
    },
  );

  it.each([
    ['https', 'https://app.example/cb'],
    ['IPv4 loopback with another port', 'http://127.0.0.1:51004/cb'],
    ['IPv6 loopback with another port', 'http://[::1]:51004/cb'],
    ['localhost with the registered port', 'http://localhost:4000/cb'],
    ['a private scheme', 'com.example.app:/cb'],
  ])('O5 O147 completes the flow of a public app with %s', async (_, redirect_uri) => {
    const visitor = new Browser(app());
    const link = authorizeLink(publicClient, { redirect_uri });
    const consent = await visitor.signIn(link, await app().addUser());
    expect(consent.headers.get('content-security-policy')).not.toContain('form-action');
    const fields = { scope: [...publicClient.scopes], decision: 'approve' };
    const done = await visitor.submit(consent, DECISION, fields);
    expect(done.location?.split('?')[0]).toBe(redirect_uri);
    const code = redirectParameters(done).get('code') ?? '';
    expect((await exchange(app(), publicClient, code, { redirect_uri })).status).toBe(200);
  });

  it('O5 shows an error page for localhost with another port, and for another host after a loopback address and @', async () => {
    for (const uri of ['http://localhost:4001/cb', 'http://127.0.0.1:80@evil.example/cb'])
      expectPage(await open(publicClient, uri), 400);
  });

  it('O6 shows an error page when a confidential app varies the port of a loopback address, or a public app that of an https address', async () => {
    const serverApp = await app().addClient({ redirectUris: ['http://127.0.0.1:8080/cb'] });
    expectPage(await open(serverApp, 'http://127.0.0.1:8080/cb'), 200);
    for (const uri of ['http://127.0.0.1:8081/cb', 'http://127.0.0.1/cb'])
      expectPage(await open(serverApp, uri), 400);
    expectPage(await open(publicClient, 'https://app.example:8443/cb'), 400);
  });
});
