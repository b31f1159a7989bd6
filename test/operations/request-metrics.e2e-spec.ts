import { Browser } from '../support/browser.js';
import { authorizeLink, requestToken } from '../support/oauth-flow.js';
import { useMetricsApp } from '../support/metrics-app.js';
import { onOneEngine } from '../support/database.js';
import { beginPublish, Member } from '../support/member.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { submitPhone } from '../support/sign-in.js';

const COUNT = 'http_request_duration_seconds_count';

onOneEngine('Request metrics', (database) => {
  const { app, read, readAll } = useMetricsApp(database);

  it('count and time requests by method, route pattern, and status', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    for (const path of [`/posts/${post.id}`, `/posts/${post.id}`, '/posts/post_none'])
      await member.get(path);
    const route = '/dev/v1/posts/:id';
    await expect.poll(() => read(COUNT, { method: 'GET', route, status: '404' })).toBe(1);
    const found = { method: 'GET', route, status: '200' };
    expect(await read(COUNT, found)).toBe(2);
    const seconds = (await read('http_request_duration_seconds_sum', found)) ?? 0;
    expect(seconds).toBeGreaterThan(0.0001);
    expect(seconds).toBeLessThan(10);
    const within = (le: string) => read('http_request_duration_seconds_bucket', { ...found, le });
    expect(await within('10')).toBe(2);
    expect(await within('0.001')).toBeLessThanOrEqual(2);
  });

  it('have one series for unknown paths and one for unknown methods', async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `/nothing/${index}?q=${index}`);
    for (const path of paths) await app().fetch(path);
    const unknown = { method: 'GET', route: 'unrouted', status: '404' };
    await expect.poll(() => read(COUNT, unknown)).toBe(20);
    for (const method of ['PROPFIND', 'MKCOL'])
      await sendBytes(app().baseUrl, requestHead(app().baseUrl, method, '/dev/v1/me'));
    await expect
      .poll(() => read(COUNT, { method: 'other', route: 'unrouted', status: '405' }))
      .toBe(2);
    expect(await readAll()).not.toMatch(/nothing|PROPFIND|MKCOL/);
  });

  it('export the number of requests in flight', async () => {
    await expect.poll(() => read('http_requests_in_flight')).toBe(0);
    const { clientRequest } = await beginPublish(await Member.join(app()), '{"content":"Hello"}');
    await expect.poll(() => read('http_requests_in_flight')).toBe(1);
    clientRequest.destroy();
    await expect.poll(() => read('http_requests_in_flight')).toBe(0);
    const aborted = { method: 'POST', route: '/dev/v1/posts', status: '499' };
    expect(await read(COUNT, aborted)).toBe(1);
  });

  it('count rejected requests of the API and the token endpoint by error code', async () => {
    await app().fetch('/dev/v1/me');
    await app().call('tok_none', 'GET', '/me');
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    await member.get('/me');
    const client = await app().addClient();
    await requestToken(app(), client, { client_secret: 'wrong' });
    const reasons = ['unauthorized', 'invalid_token', 'insufficient_scope'];
    for (const reason of reasons)
      await expect.poll(() => read('access_denied_total', { reason })).toBe(1);
    await expect
      .poll(() => read('access_denied_total', { reason: 'invalid_client' }))
      .toBeGreaterThanOrEqual(1);
  });

  it('count requests over the limits of apps and of messages', async () => {
    const client = await app().addClient();
    const fail = (): Promise<Response> => requestToken(app(), client, { client_secret: 'wrong' });
    const limit = 'token-failures-by-app-and-address';
    for (let failures = 1; failures <= 20; failures += 1) expect((await fail()).status).toBe(401);
    expect(await read('oauth_throttled_total', { limit })).toBeUndefined();
    expect([(await fail()).status, (await fail()).status]).toEqual([429, 429]);
    expect(await read('oauth_throttled_total', { limit })).toBe(2);

    const { phone } = await app().addUser();
    for (const status of [200, 429]) {
      const visitor = new Browser(app());
      const sent = await submitPhone(visitor, authorizeLink(client), phone);
      expect(sent.status).toBe(status);
    }
    expect(await read('oauth_throttled_total', { limit: 'otp-pause' })).toBe(1);
  });
});
