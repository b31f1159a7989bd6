import { Shutdown } from '../../../src/operations/shutdown/shutdown.js';
import { expectApiError } from '../../support/api.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { expectPage, expectTokenError, json } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';

const SECONDS = /^[1-9]\d*$/;

onSqlite('A service that ends, while its port is still open,', (database) => {
  const app = useTestApp(database);
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
    await app().service(Shutdown).leave();
  });

  function expectLastAnswer({ headers }: { headers: Headers }): void {
    expect([headers.get('connection'), headers.get('retry-after')]).toEqual([
      'close',
      expect.stringMatching(SECONDS),
    ]);
  }

  const publish = (): Promise<Response> =>
    app().call(member.token, 'POST', '/posts', { content: 'Hi' });

  it('C28 refuses API calls in the body of the API, which scripts of other origins may read', async () => {
    for (const answer of [await member.get('/me'), await publish()]) {
      expectLastAnswer(answer);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toMatch(/\bRetry-After\b/);
      await expectApiError(answer, 503, 'service_unavailable');
    }
  });

  it('C28 grants preflights, so that their scripts can read that, and ends their connection', async () => {
    const answer = await app().fetch('/dev/v1/posts', {
      method: 'OPTIONS',
      headers: { origin: 'https://garden.example', 'access-control-request-method': 'POST' },
    });
    expect([answer.status, answer.headers.get('connection')]).toEqual([204, 'close']);
  });

  it.each(['token', 'revoke', 'introspect'])(
    'C28 refuses calls of /oauth/%s in the body of RFC 6749, as no fault of the app',
    async (endpoint) => {
      const body = new URLSearchParams({ token: 'svcat_x', grant_type: 'refresh_token' });
      const answer = await app().fetch(`/oauth/${endpoint}`, { method: 'POST', body });
      expectLastAnswer(answer);
      await expectTokenError(answer, 'temporarily_unavailable', 503);
    },
  );

  it('C28 tells a person on a page', async () => {
    const visitor = new Browser(app());
    for (const path of [authorizeLink(member.client), '/account/apps']) {
      const page = await visitor.open(path);
      expectLastAnswer(page);
      expectPage(page, 503);
    }
    const post = await visitor.open('/post/post_01h455vb4pex5vsknk084sn02q');
    expectLastAnswer(post);
    expect([post.status, post.headers.get('content-type')]).toEqual([
      503,
      'text/html; charset=utf-8',
    ]);
  });

  it('C28 C145 lives and is not ready to the end', async () => {
    const alive = await app().fetch('/livez');
    expect([alive.status, await json(alive)]).toEqual([200, { status: 'ok' }]);
    expect(alive.headers.get('connection')).toBe('close');
    const ready = await app().fetch('/readyz');
    expectLastAnswer(ready);
    expect([ready.status, await json(ready)]).toEqual([
      503,
      { status: 'not ready', reason: 'the service is shutting down' },
    ]);
  });
});
