import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Cache-Control of responses outside of the API', (database) => {
  const app = useTestApp(database);

  const cacheControl = async (path: string, init?: RequestInit): Promise<string | null> =>
    (await app().fetch(path, init)).headers.get('cache-control');

  it.each([
    '/docs',
    '/docs/index.html',
    '/docs/swagger-ui-init.js',
    '/docs/swagger-ui.css',
    '/docs/swagger-ui-bundle.js',
    '/docs/oauth2-redirect.html',
    '/openapi.json',
  ])(
    'makes caches revalidate %s, so that they have it no longer than a new version',
    async (path) => {
      for (const encoding of ['identity', 'gzip', 'br'])
        expect(await cacheControl(path, { headers: { 'accept-encoding': encoding } })).toBe(
          'no-cache',
        );
    },
  );

  it('still answers 304 for the document', async () => {
    const etag = (await app().fetch('/openapi.json')).headers.get('etag') ?? '';
    const response = await app().fetch('/openapi.json', { headers: { 'if-none-match': etag } });
    expect(response.status).toBe(304);
    expect(response.headers.get('cache-control')).toBe('no-cache');
  });

  it.each([
    '/nope',
    '/docs/nope',
    '/docs/guide/nope',
    '/docs/guide/nope.md',
    '/assets/nope.js',
    '/assets/logo',
    '/.well-known/nope',
    '/oauth/nope',
    '/post/nope',
    '/dev',
    '/%zz',
  ])('forbids caches to store the error of %s, which has the id of one request', async (path) => {
    for (const accept of ['*/*', 'text/html'])
      for (const method of ['GET', 'HEAD', 'POST']) {
        const response = await app().fetch(path, { method, headers: { accept } });
        expect(response.status).toBeGreaterThanOrEqual(400);
        expect([method, accept, response.headers.get('cache-control')]).toEqual([
          method,
          accept,
          'no-store',
        ]);
      }
  });

  it('does not change the headers of the API, of the metadata and of health checks', async () => {
    expect(await cacheControl('/dev/v1/nope')).toBe('private, no-cache');
    expect(await cacheControl('/.well-known/oauth-authorization-server')).toBe(
      'public, max-age=3600',
    );
    expect(await cacheControl('/livez')).toBe('no-store');
    expect(await cacheControl('/', { method: 'OPTIONS' })).toBe('no-cache');
  });
});
