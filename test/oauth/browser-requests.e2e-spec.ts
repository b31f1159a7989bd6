import { type Page, Browser, linkOf } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { expectPage } from '../support/responses.js';
import { SIGN_IN } from '../support/sign-in.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

/** What browsers send besides the request of a user in a usual window. */
onOneEngine('Unusual requests of browsers', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let visitor: Browser;

  beforeEach(async () => {
    client = await app().addClient();
    visitor = new Browser(app());
  });

  const countRequests = async (): Promise<number> => {
    const [{ count }] = await app().dataSource.query(
      'SELECT COUNT(*) AS count FROM authorizations',
    );
    return Number(count);
  };

  describe('before the user has clicked', () => {
    it.each([
      ['Sec-Purpose', 'prefetch'],
      ['Sec-Purpose', 'prefetch;prerender'],
      ['Sec-Purpose', 'prefetch;anonymous-client-ip'],
      ['Purpose', 'prefetch'],
      ['X-Purpose', 'preview'],
      ['X-Purpose', 'prefetch'],
      ['X-Moz', 'prefetch'],
    ])('O131 store nothing, for %s: %s', async (name, value) => {
      const before = await countRequests();
      const headers = { [name]: value, 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' };
      for (const path of [
        authorizeLink(client),
        '/account/apps',
        `/account/apps/${client.clientId}`,
      ]) {
        const response = await app().fetch(path, { headers });
        expect([path, response.status]).toEqual([path, 400]);
        expect(response.headers.getSetCookie()).toEqual([]);
        expect(response.headers.get('cache-control')).toBe('no-store');
      }
      expect(await countRequests()).toBe(before);
      expectPage(await visitor.open(authorizeLink(client)), 200);
      expect(await countRequests()).toBe(before + 1);
    });
  });

  describe('from a sandbox', () => {
    const send = async (headers: Record<string, string>, token?: string): Promise<Page> => {
      const { phone } = await app().addUser();
      const page = await visitor.open(authorizeLink(client));
      const fields = new URLSearchParams({ phone });
      for (const [, name = '', value = ''] of page.html.matchAll(
        /type="hidden" name="(\w+)" value="([^"]*)"/g,
      ))
        fields.set(name, value);
      if (token !== undefined) fields.set('token', token);
      return visitor.postOnly(SIGN_IN, fields, headers);
    };

    it('O30 accept a form with Origin: null of the same origin, with its token only', async () => {
      const headers = { origin: 'null', 'sec-fetch-site': 'same-origin' };
      expect((await send(headers)).location).toMatch(/\/code$/);
      expectPage(await send(headers, 'x'), 403);
    });

    it.each<Record<string, string>>([
      { origin: 'null' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: 'null', 'sec-fetch-site': 'same-site' },
      { origin: 'null', 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site' },
    ])('O30 reject a form of an unknown origin, or from another site: %s', async (headers) => {
      const page = await send(headers);
      expectPage(page, 403);
      expect(page.html).toContain('<code>foreign_form</code>');
    });
  });

  describe('by another name of the host', () => {
    it.each(['en', 'es'])(
      'O30 name the address at which the page works, in "%s"',
      async (language) => {
        const { baseUrl } = app();
        const other = baseUrl.replace('127.0.0.1', 'localhost');
        const link = authorizeLink(client);
        const path = { [SIGN_IN]: link, '/account/sign-in': '/account/apps' };
        for (const [action, page] of Object.entries(path)) {
          const answer = await visitor.postOnly(action, new URLSearchParams({ phone: '1' }), {
            origin: other,
            'sec-fetch-site': 'same-origin',
            referer: `${other}${page}`,
            'accept-language': language,
          });
          expectPage(answer, 403);
          expect(answer.html).toContain('<code>other_address</code>');
          expect(linkOf(answer, baseUrl).replaceAll('&amp;', '&')).toBe(`${baseUrl}${page}`);
        }
      },
    );

    it('O30 name it to browsers that send no Sec-Fetch-Site, too, but not to forms of other sites', async () => {
      const { port } = new URL(app().baseUrl);
      const post = (origin: string): Promise<Response> =>
        sendBytes(app().baseUrl, [
          ...requestHead(`http://localhost:${port}`, 'POST', SIGN_IN),
          `Origin: ${origin}`,
          'Content-Length: 0',
        ]);
      expect(await (await post(`http://localhost:${port}`)).text()).toContain('other_address');
      expect(await (await post('https://evil.example')).text()).toContain('foreign_form');
      expect(await (await post('not a URL')).text()).toContain('foreign_form');
    });
  });
});
