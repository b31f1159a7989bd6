import { HOUR } from '../../src/platform/clock.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { OtpCount } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { WebhookEndpoints } from '../../src/modules/webhooks/webhook-endpoints.service.js';
import { Browser } from '../support/browser.js';
import { authorizeLink, requestToken, obtainTokens, sendRefresh } from '../support/oauth-flow.js';
import { useListeningMember } from '../support/events.js';
import { useMetricsApp } from '../support/metrics-app.js';
import { onOneEngine } from '../support/database.js';
import { beginPublish, Member } from '../support/member.js';
import { requestHead, sendBytes } from '../support/raw-request.js';
import { submitPhone, VERIFY, DECISION } from '../support/sign-in.js';
import { rateLimits, statementsWithoutBackground, useTestApp } from '../support/test-app.js';

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

  it('of test apps have the label mode="test"', async () => {
    const user = await app().addUser({ testCode: '424242' });
    const client = await app().addClient({ test: true });
    const member = await Member.join(app(), { user, client });
    await app().fetch('/dev/v1/quota', {
      headers: { authorization: `Bearer ${member.token}`, 'test-fault': 'service_unavailable' },
    });
    await app().fetch('/dev/v1/quota', {
      headers: { authorization: `Bearer ${member.token}`, 'test-fault': 'invalid_token' },
    });
    const failed = { method: 'GET', route: '/dev/v1/quota', status: '503' };
    await expect.poll(() => read(COUNT, { ...failed, mode: 'test' })).toBe(1);
    expect(await read(COUNT, { ...failed, mode: 'live' })).toBeUndefined();
    const { clientId } = client;
    expect(await read('api_calls_total', { client_id: clientId, mode: 'test' })).toBe(2);
    const reason = 'invalid_token';
    expect(await read('access_denied_total', { reason, mode: 'test' })).toBe(1);
    const { refreshToken } = await app().issueTokens(user, client);
    await sendRefresh(app(), client, refreshToken);
    const grant_type = 'refresh_token';
    expect(await read('oauth_tokens_issued_total', { grant_type, mode: 'test' })).toBe(1);
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

onOneEngine('OAuth metrics', (database) => {
  const { app, read, readAll } = useMetricsApp(database, rateLimits({ 'phone-failures': 2 }));

  /** The values of a counter for real apps, by the value of its other label. */
  async function counts(name: string): Promise<Record<string, number>> {
    const lines = [
      ...(await readAll()).matchAll(
        new RegExp(`^${name}\\{\\w+="([^"]*)"(?:,mode="live")?\\} (\\d+)$`, 'gm'),
      ),
    ];
    return Object.fromEntries(lines.map(([, label, value]) => [label, Number(value)]));
  }

  /** Runs `work`. Returns the increase of each series that the counter had before. */
  async function increases(
    name: string,
    work: () => Promise<unknown>,
  ): Promise<Record<string, number>> {
    const before = await counts(name);
    await work();
    const after = await counts(name);
    return Object.fromEntries(
      Object.entries(before).map(([label, value]) => [label, (after[label] ?? 0) - value]),
    );
  }

  it('count submitted one-time passwords by outcome', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const link = authorizeLink(await app().addClient());
    const codePage = await submitPhone(visitor, link, user.phone);
    const wrong = (await app().sms.password(user.phone)) === '000000' ? '000001' : '000000';
    const codes = [wrong, 'not a code', wrong, wrong];
    const rejected = await increases('sign_ins_total', async () => {
      for (const code of codes) await visitor.submit(codePage, VERIFY, { code });
    });
    const none = {
      verified: 0,
      wrong: 0,
      no_valid_password: 0,
      other_mode: 0,
      locked: 0,
      throttled: 0,
    };
    expect(rejected).toEqual({ ...none, wrong: 2, throttled: 1 });
    app().clock.advance(HOUR);
    expect(await increases('sign_ins_total', () => new Browser(app()).signIn(link, user))).toEqual({
      ...none,
      verified: 1,
    });
  });

  it('O172 count sign-ins of test members apart, so that a public code hides no failures and no unused messages', async () => {
    const user = { ...(await app().addUser({ testCode: '424242' })), code: '424242' };
    const client = await app().addClient({ test: true });
    const { manager } = app().dataSource;
    const stored = await manager.sum(OtpCount, 'total');
    const counted = await increases('sign_ins_total', async () => {
      await new Browser(app()).signIn(authorizeLink(client), user);
      const account = new Browser(app());
      const page = await account.open('/account/apps');
      const codePage = await account.submit(page, '/account/sign-in', { phone: user.phone });
      await account.submit(codePage, '/account/verify', { code: user.code });
    });
    expect(Object.values(counted).every((count) => count === 0)).toBe(true);
    expect(await read('sign_ins_total', { outcome: 'verified', mode: 'test' })).toBe(2);
    expect(await manager.sum(OtpCount, 'total')).toBe(stored);
  });

  it('count the messages that the gateway accepted, but none to unknown numbers', async () => {
    const countSent = async () => (await read('otp_messages_sent_total')) ?? NaN;
    const before = await countSent();
    const link = authorizeLink(await app().addClient());
    const stranger = new Browser(app());
    await submitPhone(stranger, link, '+14155559999');
    await new Browser(app()).signIn(link, await app().addUser());
    await app().service(SmsQueue).idle();
    expect((await countSent()) - before).toBe(1);
  });

  it('count the decisions of users on the consent page', async () => {
    const link = authorizeLink(await app().addClient());
    // Approving without a scope denies access.
    const decisions = [
      { scope: 'profile.read', decision: 'approve' },
      { scope: 'profile.read', decision: 'deny' },
      { scope: [], decision: 'approve' },
    ];
    const decide = async (fields: Record<string, string | string[]>): Promise<void> => {
      const visitor = new Browser(app());
      const consent = await visitor.signIn(link, await app().addUser());
      const send = () => visitor.submit(consent, DECISION, fields, { follow: false });
      await send();
      // A second decision on the same request does not count.
      await send();
    };
    const counted = await increases('oauth_consents_total', async () => {
      for (const fields of decisions) await decide(fields);
    });
    expect(counted).toEqual({ approved: 1, denied: 2 });
  });

  it('count issued tokens by grant type, without repeated responses', async () => {
    const client = await app().addClient();
    const counted = await increases('oauth_tokens_issued_total', async () => {
      const { refresh_token } = await obtainTokens(app(), client);
      for (const token of [refresh_token, refresh_token, 'svcrt_none'])
        await sendRefresh(app(), client, token);
    });
    expect(counted).toEqual({ authorization_code: 1, refresh_token: 1 });
  });

  it('count API calls with a valid access token by app', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    await member.get('/posts');
    // The token lacks the scope.
    await member.get('/me');
    await app().call('tok_none', 'GET', '/me');
    await expect.poll(() => counts('api_calls_total')).toEqual({ [member.client.clientId]: 2 });
  });
});

onOneEngine('Quota metrics', (database) => {
  const firstApp = useTestApp(database);
  const secondApp = useTestApp(database);
  const scrape = (app = firstApp()) => app.service(Metrics).registry.metrics();
  const line = (name: string, { client }: Member, value: number) =>
    `${name}{client_id="${client.clientId}",mode="live"} ${value}\n`;

  it('export the used posts and the limit of each app, with equal values in every process', async () => {
    const [one, other] = [await Member.join(firstApp()), await Member.join(firstApp())];
    await one.publish();
    await one.publish();
    await other.publish();
    await firstApp()
      .service(QuotaService)
      .set(other.client.clientId, { limit: null }, { actor: 'test' });
    for (const app of [firstApp(), secondApp()]) {
      const metrics = await scrape(app);
      expect(metrics).toContain(line('quota_used_posts', one, 2));
      expect(metrics).toContain(line('quota_limit_posts', one, 100));
      expect(metrics).toContain(line('quota_used_posts', other, 1));
      expect(metrics).not.toContain(`quota_limit_posts{client_id="${other.client.clientId}"`);
    }
  });

  it('restart each month', async () => {
    const member = await Member.join(firstApp());
    await member.publish();
    firstApp().clock.set('2026-12-01T00:00:00.000Z');
    expect(await scrape()).not.toContain(`quota_used_posts{client_id="${member.client.clientId}"`);
    firstApp().clock.set('2026-11-21T09:30:00.000Z');
    expect(await scrape()).toContain(line('quota_used_posts', member, 1));
  });

  it('execute as many statements for many apps as for few', async () => {
    const few = await statementsWithoutBackground(firstApp(), () => scrape());
    for (let count = 1; count <= 10; count += 1) await (await Member.join(firstApp())).publish();
    const many = await statementsWithoutBackground(firstApp(), () => scrape());
    expect(many.length).toBe(few.length);
    // On a server, its clock is read, too.
    expect(many.length).toBeLessThanOrEqual(database.engine.kind === 'sqlite' ? 11 : 12);
  });

  it('are omitted while their query fails', async () => {
    const member = await Member.join(firstApp());
    await member.publish();
    const { dataSource } = firstApp();
    await dataSource.query('ALTER TABLE quota_usage RENAME TO quota_usage_away');
    const metrics = await scrape().finally(() =>
      dataSource.query('ALTER TABLE quota_usage_away RENAME TO quota_usage'),
    );
    expect(metrics).not.toContain(`quota_used_posts{client_id="${member.client.clientId}"`);
    expect(await scrape()).toContain(line('quota_used_posts', member, 1));
  });
});

onOneEngine('Event metrics', (database) => {
  const { app, read, readAll } = useMetricsApp(database);
  const { member, receiver, delivered } = useListeningMember(app);
  const labels = () => ({ client_id: member().client.clientId, mode: 'live' });
  const endpoints = (): WebhookEndpoints => app().service(WebhookEndpoints);
  const test = (): Promise<string> => endpoints().test(member().client.clientId);

  it('have the age of the oldest due event, and of the failures, of each enabled endpoint', async () => {
    expect(await read('webhook_oldest_due_seconds', labels())).toBe(0);
    await test();
    app().clock.advance(HOUR);
    expect(await read('webhook_oldest_due_seconds', labels())).toBe(3600);
    expect(await read('webhook_failing_seconds', labels())).toBe(0);
    receiver().answer = { status: 500 };
    await delivered();
    expect(await read('webhook_oldest_due_seconds', labels())).toBe(0);
    app().clock.advance(HOUR);
    expect(await read('webhook_failing_seconds', labels())).toBe(3600);
    receiver().clear();
    await delivered();
    expect(await read('webhook_failing_seconds', labels())).toBe(0);
  });

  it('leave out disabled apps, whose events are kept back', async () => {
    const { clientId } = member().client;
    await test();
    await app().service(AppsService).changeStatus(clientId, 'disabled', { actor: 'test' });
    app().clock.advance(HOUR);
    expect(await readAll()).not.toContain(`client_id="${clientId}"`);
  });

  it('count deliveries, and endpoints that the service has disabled', async () => {
    const count = async (name: string, given: object): Promise<number> =>
      (await read(name, { ...given, mode: 'live' })) ?? NaN;
    const before = [
      await count('webhook_deliveries_total', { result: 'failed' }),
      await count('webhook_endpoints_disabled_total', { reason: 'status_410' }),
    ];
    receiver().answer = { status: 410 };
    await test();
    await delivered();
    expect([
      await count('webhook_deliveries_total', { result: 'failed' }),
      await count('webhook_endpoints_disabled_total', { reason: 'status_410' }),
    ]).toEqual(before.map((value) => value + 1));
    expect(await read('webhook_failing_seconds', labels())).toBeUndefined();
  });
});
