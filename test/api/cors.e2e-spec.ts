import { corsHeaders } from '../support/responses.js';
import { ENDPOINTS, pathWithUnknownIds } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const ORIGIN = 'https://spa.example';
const EXPOSED =
  'Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id';

/** Includes headers of tracing libraries, which the API ignores. */
const REQUESTED_HEADERS =
  'authorization,content-type,idempotency-key,traceparent,tracestate,baggage,sentry-trace,x-requested-with';

function expectReadable({ headers }: Response): void {
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-expose-headers')).toBe(EXPOSED);
  expect(headers.has('access-control-allow-credentials')).toBe(false);
}

onOneEngine('CORS', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '2' });
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
  });

  function preflight(path: string, method: string, origin = ORIGIN): Promise<Response> {
    return app().fetch(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': REQUESTED_HEADERS,
      },
    });
  }

  it.each([ORIGIN, 'http://127.0.0.1:5173', 'null'])(
    'C8 allows the preflight of every endpoint from %s, without a database statement',
    async (origin) => {
      for (const endpoint of ENDPOINTS) {
        const path = `/dev/v1${pathWithUnknownIds(endpoint)}`;
        let response: Response | undefined;
        const statements = await app().statementsOf(async () => {
          response = await preflight(path, endpoint.method, origin);
        });
        if (!response) throw new Error('There is no response.');
        const { status, headers } = response;
        expect(status).toBe(204);
        expect(await response.text()).toBe('');
        expect(headers.get('access-control-allow-origin')).toBe('*');
        const methods = headers.get('access-control-allow-methods')?.split(', ');
        expect(methods).toContain(endpoint.method);
        expect(headers.get('access-control-allow-headers')).toBe(REQUESTED_HEADERS);
        expect(Number(headers.get('access-control-max-age'))).toBeGreaterThanOrEqual(600);
        expect(headers.get('vary')).toBe(
          'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
        );
        expect(headers.has('access-control-allow-credentials')).toBe(false);
        expect(statements).toEqual([]);
      }
    },
  );

  it.each([
    '/openapi.json',
    '/docs/postman.json',
    '/docs/postman-environment.json',
    '/.well-known/oauth-authorization-server',
    '/.well-known/nothing',
  ])('lets any origin read %s', async (path) => {
    const { headers } = await app().fetch(path, { headers: { origin: ORIGIN } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it('C8 allows the preflight of an unknown path, so that scripts can read its 404', async () => {
    expect((await preflight('/dev/v1/pots', 'GET')).status).toBe(204);
    const response = await app().fetch('/dev/v1/pots', { headers: { origin: ORIGIN } });
    expect(response.status).toBe(404);
    expectReadable(response);
  });

  it('C9 lets scripts of another origin read successful responses', async () => {
    const headers = {
      authorization: `Bearer ${member.token}`,
      origin: ORIGIN,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'cors',
    };
    const me = await app().fetch('/dev/v1/me', { headers });
    expect(me.status).toBe(200);
    expectReadable(me);
    const post = await app().fetch('/dev/v1/posts', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"content":"Hello from the browser"}',
    });
    expect(post.status).toBe(201);
    expectReadable(post);
  });

  it('C9 lets scripts of another origin read error responses', async () => {
    const jsonType = { 'content-type': 'application/json' };
    const unscoped = await Member.join(app(), { scopes: [] });
    const errors: [number, Promise<Response>][] = [
      [400, member.postRaw('/posts', '{', jsonType)],
      [400, member.get('/posts/%zz')],
      [401, app().fetch('/dev/v1/me')],
      [401, app().call('svcat_x', 'GET', '/me')],
      [403, unscoped.get('/me')],
      [404, member.get('/posts/x')],
      [404, member.get('/nope')],
      [405, app().call(member.token, 'PUT', '/me')],
      [413, member.postRaw('/posts', ' '.repeat(262_145), jsonType)],
      [415, member.postRaw('/posts', 'Hi', { 'content-type': 'text/plain' })],
    ];
    for (const [status, sent] of errors) {
      const response = await sent;
      expect(response.status).toBe(status);
      expectReadable(response);
    }
    const spender = await Member.join(app());
    for (const status of [201, 201, 429]) {
      const response = await spender.post('/posts', { content: 'Hi' });
      expect(response.status).toBe(status);
      expectReadable(response);
    }
  });

  it.each([
    '/oauth/authorize',
    '/oauth/introspect',
    '/account/apps',
    '/',
    '/docs',
    '/docs/errors',
    '/livez',
    '/nope',
    '/dev',
    '/dev/v2/me',
    '/dev/v1x',
  ])('C10 sends no CORS headers for %s', async (path) => {
    for (const method of ['GET', 'POST'])
      expect(corsHeaders(await preflight(path, method))).toEqual([]);
    const headers = { origin: ORIGIN };
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'])
      expect(corsHeaders(await app().fetch(path, { method, headers }))).toEqual([]);
  });
});
