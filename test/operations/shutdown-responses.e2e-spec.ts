import { Shutdown } from '../../src/platform/lifecycle/shutdown.js';
import { expectApiError } from '../support/api.js';
import { Browser } from '../support/browser.js';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { expectPage, expectTokenError, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const SECONDS = /^[1-9]\d*$/;

onSqlite('Shutdown: requests before the port closes', (database) => {
  const app = useTestApp(database);
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
    await app().service(Shutdown).drain();
  });

  function expectShutdownHeaders({ headers }: { headers: Headers }): void {
    expect([headers.get('connection'), headers.get('retry-after')]).toEqual([
      'close',
      expect.stringMatching(SECONDS),
    ]);
  }

  const publish = (): Promise<Response> =>
    app().call(member.token, 'POST', '/posts', { content: 'Hi' });

  it('C28 rejects API calls with an API error that other origins can read', async () => {
    for (const response of [await member.get('/me'), await publish()]) {
      expectShutdownHeaders(response);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toMatch(/\bRetry-After\b/);
      await expectApiError(response, 503, 'service_unavailable');
    }
  });

  it('C28 returns 204 for preflights and closes the connection', async () => {
    const response = await app().fetch('/dev/v1/posts', {
      method: 'OPTIONS',
      headers: { origin: 'https://garden.example', 'access-control-request-method': 'POST' },
    });
    expect([response.status, response.headers.get('connection')]).toEqual([204, 'close']);
  });

  it.each(['token', 'revoke', 'introspect'])(
    'C28 rejects calls of /oauth/%s with temporarily_unavailable (RFC 6749 §5.2)',
    async (endpoint) => {
      const body = new URLSearchParams({ token: 'svcat_x', grant_type: 'refresh_token' });
      const response = await app().fetch(`/oauth/${endpoint}`, { method: 'POST', body });
      expectShutdownHeaders(response);
      await expectTokenError(response, 'temporarily_unavailable', 503);
    },
  );

  it('C28 shows an error page to a user', async () => {
    const visitor = new Browser(app());
    for (const path of [authorizeLink(member.client), '/account/apps']) {
      const page = await visitor.open(path);
      expectShutdownHeaders(page);
      expectPage(page, 503);
    }
    const post = await visitor.open('/post/post_01h455vb4pex5vsknk084sn02q');
    expectShutdownHeaders(post);
    expect([post.status, post.headers.get('content-type')]).toEqual([
      503,
      'text/html; charset=utf-8',
    ]);
  });

  it('C28 C145 reports a live process that is not ready', async () => {
    const alive = await app().fetch('/livez');
    expect([alive.status, await json(alive)]).toEqual([200, { status: 'ok' }]);
    expect(alive.headers.get('connection')).toBe('close');
    const ready = await app().fetch('/readyz');
    expectShutdownHeaders(ready);
    expect([ready.status, await json(ready)]).toEqual([
      503,
      { status: 'not ready', reason: 'the service is shutting down' },
    ]);
  });
});
