import { onOneEngine } from '../support/database.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { expectPage } from '../support/responses.js';
import { Browser } from '../support/browser.js';
import { useTestApp } from '../support/test-app.js';

/** As Chromium sends it when a user opens an address. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';

onOneEngine('Unknown addresses', (database) => {
  const app = useTestApp(database);

  const open = (path: string, language = 'en'): ReturnType<Browser['open']> =>
    new Browser(app(), { accept: ACCEPT, 'accept-language': language }).open(path);

  it.each(['/nope', '/docs/nope', '/docs/', '/assets/nope.css', '/oauth/nope', '/post/a/b'])(
    'show a page to a browser: %s',
    async (path) => {
      const page = await open(`${path}x`);
      expectPage(page, 404);
      expect(page.title).toMatch(/^Error: Page not found – /);
      expect(page.html).toContain('<a class="button quiet" href="/">Home page</a>');
      expect(page.html).toContain('<a class="button quiet" href="/account/apps">');
      const requestId = page.headers.get('x-request-id');
      expect(page.html).toContain(
        `<code>not_found</code>, request <code>${requestId}</code>. <a href="/docs/errors#not_found"`,
      );
      expect(page.headers.get('vary')).toContain('Accept-Language');
      expect((await open(`${path}x`, 'es')).title).toMatch(/^Error: Página no encontrada – /);
    },
  );

  it.each([
    '/docs/guide/../index.html',
    '/docs/guide/%2e%2e/index.html',
    '/docs/guide/..%2findex.html',
    '/docs/guide/../swagger-ui.css.map',
    '/docs/guide/x/../../index.css',
  ])('include all other files of Swagger UI: %s', async (path) => {
    const response = await sendBytes(app().baseUrl, requestHead(app().baseUrl, 'GET', path));
    expect(response.status).toBe(404);
  });

  it.each(['/dev/v1/nope', '/.well-known/nope', '/.well-known/openid-configuration'])(
    'return JSON for programs even to a browser: %s',
    async (path) => {
      const response = await app().fetch(path, { headers: { accept: ACCEPT } });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    },
  );

  it.each(['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0.5, */*'])(
    'return JSON to a client that accepts %s',
    async (accept) => {
      const response = await app().fetch('/nope', { headers: { accept } });
      expect(await response.json()).toMatchObject({ error: 'not_found' });
      expect(response.headers.get('vary')).toContain('Accept');
    },
  );

  it('do not include the icon, the old address of Swagger UI and the guide with a slash', async () => {
    const icon = await open('/favicon.ico');
    expect([icon.status, icon.location]).toEqual([302, '/assets/icon.svg']);
    const docs = await open('/docs/index.html');
    expect([docs.status, docs.location]).toEqual([301, '/docs']);
    expect((await open('/docs')).status).toBe(200);
    const guide = await open('/docs/guide/');
    expect([guide.status, guide.location]).toEqual([301, '/docs/guide']);
  });

  it('do not include robots.txt, which keeps search engines away from forms and the API', async () => {
    const robots = await (await app().fetch('/robots.txt')).text();
    expect(robots).toBe('User-agent: *\nDisallow: /account\nDisallow: /dev/\nDisallow: /oauth/\n');
  });
});
