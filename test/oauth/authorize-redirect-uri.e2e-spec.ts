import { Browser } from '../support/browser.js';
import { approve, authorizeLink, exchange } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

/** Near misses of `https://garden.example/callback`. */
const OTHERS = {
  'a trailing slash': 'https://garden.example/callback/',
  'another case of the path': 'https://garden.example/Callback',
  'another case of the host': 'https://GARDEN.example/callback',
  'another case of the scheme': 'HTTPS://garden.example/callback',
  'an added query': 'https://garden.example/callback?a=1',
  'an empty query': 'https://garden.example/callback?',
  'plain http': 'http://garden.example/callback',
  'the default port': 'https://garden.example:443/callback',
  'another port': 'https://garden.example:8443/callback',
  'a user name': 'https://a@garden.example/callback',
  'the host as user name': 'https://garden.example@evil.example/callback',
  'the host as user name with password': 'https://garden.example:x@evil.example/callback',
  'a sub-domain': 'https://www.garden.example/callback',
  'the host as sub-domain': 'https://garden.example.evil.example/callback',
  'a longer host': 'https://evilgarden.example/callback',
  'a trailing dot of the host': 'https://garden.example./callback',
  'a dot segment': 'https://garden.example/x/../callback',
  'a single dot segment': 'https://garden.example/./callback',
  'a longer path': 'https://garden.example/callback/evil',
  'a shorter path': 'https://garden.example/',
  'a backslash': 'https://evil.example\\@garden.example/callback',
  'percent-encoding': 'https://garden.example/%63allback',
  'an encoded slash': 'https://garden.example%2fcallback',
  'a fragment': 'https://garden.example/callback#',
  'a leading space': ' https://garden.example/callback',
  'a trailing space': 'https://garden.example/callback ',
  'a tab': 'https://garden.example/call\tback',
  'a line break': 'https://garden.example/callback\r\nX: y',
  'a NUL': 'https://garden.example/callback\0',
  'a look-alike letter': 'https://gаrden.example/callback',
  'a missing scheme': '//garden.example/callback',
  'a path alone': '/callback',
  'a script': 'javascript:alert(1)',
  'a data URL': 'data:text/html,x',
} as const;

onOneEngine('The redirect_uri of an authorization request', (database) => {
  const app = useTestApp(database);
  let confidential: TestClient;
  let native: TestClient;

  beforeAll(async () => {
    confidential = await app().addClient();
    native = await app().addClient({
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

  async function statusOf(client: TestClient, redirectUri: string): Promise<number> {
    const page = await new Browser(app()).open(
      authorizeLink(client, { redirect_uri: redirectUri }),
    );
    expectPage(page, page.status);
    return page.status;
  }

  it.each(Object.entries(OTHERS))('O4 With %s it is not the registered one', async (_, other) => {
    const page = await new Browser(app()).open(
      authorizeLink(confidential, { redirect_uri: other }),
    );
    expectPage(page, 400);
    expect(page.html).not.toContain('evil');
    expect(page.html).not.toContain('<form');
  });

  it.each([
    'http://127.0.0.1/cb',
    'http://127.0.0.1:1/cb',
    'http://127.0.0.1:51004/cb',
    'http://127.0.0.1:65535/cb',
    'http://[::1]:51004/cb',
    'http://localhost:4000/cb',
    'com.example.app:/cb',
  ])('O5 A public app is sent back to %s', async (redirectUri) => {
    const user = await app().addUser();
    const redirect = await approve(app(), user, native, { redirect_uri: redirectUri });
    const answer = await exchange(app(), native, redirect.get('code') ?? '', {
      redirect_uri: redirectUri,
    });
    expect(answer.status).toBe(200);
  });

  it.each([
    'http://localhost/cb',
    'http://localhost:4001/cb',
    'http://127.0.0.1:4000/other',
    'http://127.0.0.1:80@evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1:4000.evil.example/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:123456/cb',
    'http://127.0.0.2/cb',
    'http://127.1/cb',
    'http://[::2]/cb',
    'https://127.0.0.1/cb',
    'https://app.example:8443/cb',
    'com.example.app://cb',
    'com.example.other:/cb',
  ])('O5 A public app is not sent to %s', async (redirectUri) => {
    expect(await statusOf(native, redirectUri)).toBe(400);
  });

  it.each([
    ['http://127.0.0.1/cb', ['http://localhost/cb', 'http://localhost:5104/cb', 'http://[::1]/cb']],
    ['http://[::1]/cb', ['http://localhost/cb', 'http://localhost:5104/cb', 'http://127.0.0.1/cb']],
    ['http://localhost:4000/cb', ['http://127.0.0.1:4000/cb', 'http://[::1]:4000/cb']],
  ])('O5 A public app that registered %s is sent to no other name of it', async (own, others) => {
    const client = await app().addClient({ kind: 'public', redirectUris: [own] });
    for (const other of others) expect(await statusOf(client, other)).toBe(400);
    expect(await statusOf(client, own)).toBe(200);
  });

  it('O6 A confidential app may not choose the port of its loopback address', async () => {
    const server = await app().addClient({ redirectUris: ['http://127.0.0.1:8080/cb'] });
    expect(await statusOf(server, 'http://127.0.0.1:8080/cb')).toBe(200);
    expect(await statusOf(server, 'http://127.0.0.1:8081/cb')).toBe(400);
    expect(await statusOf(server, 'http://127.0.0.1/cb')).toBe(400);
  });
});
