import { addMilliseconds, SECOND, MINUTE, DAY } from '../../src/platform/clock.js';
import { RateLimitHit } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { hashOf } from '../../src/modules/oauth/rate-limit/rate-limiter.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { inTurn, concurrently } from '../support/cluster.js';
import { Browser, type Site } from '../support/browser.js';
import {
  authorizeLink,
  exchange,
  obtainTokens,
  requestToken,
  sendForm,
  VERIFIER,
  newCode,
  sendRefresh,
} from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import {
  expectPage,
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { TestApp, type TestClient, useTestApp, rateLimits } from '../support/test-app.js';
import { SIGN_IN } from '../support/sign-in.js';

/** Failures per app and address within 15 minutes. */
const LIMIT = 20;
/** Failures per address within 15 minutes. */
const ADDRESS_LIMIT = 100;
const UNKNOWN_CODE = `svcac_${'A'.repeat(43)}`;
const TRUST_ONE_PROXY = { TRUST_PROXY: '1' };
/** Calls of an app within 15 minutes. */
const CALLS = 10;

onOneEngine('Token endpoint: limits of failures', (database) => {
  const app = useTestApp(database, TRUST_ONE_PROXY);
  let client: TestClient;

  beforeEach(async () => {
    app().clock.advance(DAY);
    client = await app().addClient();
  });

  function refresh(
    target: TestClient,
    refresh_token: string,
    address = '203.0.113.7',
    site: Site = app(),
  ): Promise<Response> {
    return sendRefresh(site, target, refresh_token, {}, { 'x-forwarded-for': address });
  }

  const sendWrongSecret = (target = client, address?: string, site?: Site): Promise<Response> =>
    refresh({ ...target, secret: 'wrong' }, 'x', address, site);

  const failTimes = (times: number, target = client, address?: string): Promise<number[]> =>
    inTurn(times, async () => (await sendWrongSecret(target, address)).status);

  const failWithInventedIds = (times: number, address?: string): Promise<number[]> =>
    inTurn(times, async (number) => {
      const clientId = `svc_app_${String(number).padStart(26, '0')}`;
      return (await sendWrongSecret({ clientId } as TestClient, address)).status;
    });

  it('O126 returns 429 with the text of the product requirements after 20 failures', async () => {
    expect(await failTimes(LIMIT)).toEqual(Array<number>(LIMIT).fill(401));
    const response = await sendWrongSecret();
    expect(response.status).toBe(429);
    expectTokenHeaders(response);
    const seconds = response.headers.get('retry-after') ?? '';
    expect(seconds).toMatch(/^\d+$/);
    expect(Number(seconds)).toBeLessThanOrEqual(15 * 60);
    expect(Number(seconds)).toBeGreaterThan(14 * 60);
    expect(await json(response)).toEqual({
      error: 'too_many_attempts',
      error_description: `Too many attempts. Try again in ${seconds} seconds.`,
      message: 'Too many attempts',
    });
  });

  it('O126 sends a Retry-After of at most a week, even if a wrong clock counted the failures', async () => {
    const address = '203.0.113.78';
    const hash = hashOf({ name: 'token-failures-by-address' }, address);
    const slot = addMilliseconds(app().clock.now(), 400 * DAY);
    await app().dataSource.manager.insert(RateLimitHit, { hash, slot, hits: ADDRESS_LIMIT });
    const response = await sendWrongSecret(client, address);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '604800']);
    // The whole time.
    const { error_description } = await json<{ error_description: string }>(response);
    expect(Number(/(\d+) seconds/.exec(error_description)?.[1])).toBeGreaterThan(
      (400 * DAY) / SECOND,
    );
  });

  it('O131 serves the app with its secret while calls with a wrong secret return 429', async () => {
    const { refresh_token } = await obtainTokens(app(), client);
    await failTimes(LIMIT);
    expect((await sendWrongSecret()).status).toBe(429);
    expect((await refresh(client, refresh_token)).status).toBe(200);
  });

  it('O126 counts unknown codes of a public app', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    for (let attempt = 0; attempt < LIMIT; attempt += 1)
      await expectTokenError(await exchange(app(), publicClient, UNKNOWN_CODE), 'invalid_grant');
    expect((await exchange(app(), publicClient, UNKNOWN_CODE)).status).toBe(429);
  });

  it('counts requests whose body is not a form', async () => {
    const send = (): Promise<Response> =>
      app().fetch('/oauth/token', {
        method: 'POST',
        headers: { 'x-forwarded-for': '203.0.113.11', 'content-type': 'application/json' },
        body: JSON.stringify({ grant_type: 'authorization_code' }),
      });
    for (let each = 0; each < LIMIT; each += 1) expect((await send()).status).toBe(400);
    expect((await send()).status).toBe(429);
  });

  it('O92 does not count expired tokens and used codes of a public app, since its users may share one address', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    const code = await newCode(app(), publicClient);
    await exchange(app(), publicClient, code);
    const { refresh_token } = await obtainTokens(app(), publicClient);
    const reuse = (): Promise<Response> => sendRefresh(app(), publicClient, refresh_token);
    expect((await reuse()).status).toBe(200);
    app().clock.advance(31 * SECOND);
    for (let attempt = 0; attempt <= LIMIT / 2; attempt += 1) {
      await expectTokenError(await reuse(), 'invalid_grant');
      await expectTokenError(await exchange(app(), publicClient, code), 'invalid_grant');
    }
  });

  it('O93 counts the refresh tokens of another app that a public app sends', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    const { refresh_token } = await obtainTokens(app(), await app().addClient());
    for (let attempt = 0; attempt < LIMIT; attempt += 1)
      await expectTokenError(await refresh(publicClient, refresh_token), 'invalid_grant');
    expect((await refresh(publicClient, refresh_token)).status).toBe(429);
  });

  it('O129 does not count the errors of an app with a valid secret', async () => {
    const tokens = await obtainTokens(app(), client);
    const otherTokens = await obtainTokens(app(), await app().addClient());
    const used = await obtainTokens(app(), client);
    expect((await refresh(client, used.refresh_token)).status).toBe(200);
    app().clock.advance(MINUTE);
    const forms = [
      { grant_type: 'password' },
      { grant_type: 'refresh_token' },
      { grant_type: 'refresh_token', refresh_token: used.refresh_token },
      { grant_type: 'refresh_token', refresh_token: otherTokens.refresh_token },
      { grant_type: 'authorization_code', code: UNKNOWN_CODE },
    ];
    for (let attempt = 0; attempt <= LIMIT / forms.length; attempt += 1)
      for (const form of forms) expect((await requestToken(app(), client, form)).status).toBe(400);
    expect((await sendRefresh(app(), client, tokens.refresh_token)).status).toBe(200);
  });

  it.each(['token', 'revoke', 'introspect'])(
    'O131 does not count the requests that another site sends to /oauth/%s from the browser of a visitor',
    async (path) => {
      const ownHeaders = { 'x-forwarded-for': '203.0.113.7' };
      const crossSiteHeaders = {
        ...ownHeaders,
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
      };
      const send = async (headers: Record<string, string>): Promise<number> =>
        (await sendForm(app(), `/oauth/${path}`, { ...client, secret: 'x' }, {}, headers)).status;
      for (let each = 0; each <= LIMIT; each += 1) expect(await send(crossSiteHeaders)).toBe(400);
      expect(await send(ownHeaders)).toBe(401);
    },
  );

  it('O131 does not limit another address or another app', async () => {
    await failTimes(LIMIT);
    expect((await sendWrongSecret()).status).toBe(429);
    expect((await sendWrongSecret(client, '203.0.113.8')).status).toBe(401);
    expect((await sendWrongSecret(await app().addClient())).status).toBe(401);
  });

  describe('a public app at an address over its limits', () => {
    let publicClient: TestClient;
    let code: string;
    let refresh_token: string;

    beforeEach(async () => {
      publicClient = await app().addClient({ kind: 'public' });
      ({ refresh_token } = await obtainTokens(app(), publicClient));
      code = await newCode(app(), publicClient);
    });

    const guess = (times: number): Promise<number[]> =>
      inTurn(times, async () => (await refresh(publicClient, 'x')).status);

    const exchangeAt = (fields: Record<string, string> = {}): Promise<Response> => {
      const [redirect_uri = ''] = publicClient.redirectUris;
      const grant = { grant_type: 'authorization_code', redirect_uri, code };
      const form = { ...grant, code_verifier: VERIFIER, ...fields };
      return requestToken(app(), publicClient, form, { 'x-forwarded-for': '203.0.113.7' });
    };

    it('O131 gets tokens for a valid code and a valid refresh token after 100 failures with invented client ids', async () => {
      await failWithInventedIds(ADDRESS_LIMIT);
      expect((await sendWrongSecret()).status).toBe(429);
      expect(await guess(1)).toEqual([429]);
      expect((await exchangeAt()).status).toBe(200);
      expect((await refresh(publicClient, refresh_token)).status).toBe(200);
    });

    it('O131 gets tokens after 20 failures with its own client_id, and learns that its own refresh token is used', async () => {
      await guess(LIMIT);
      expect((await exchangeAt()).status).toBe(200);
      expect((await refresh(publicClient, refresh_token)).status).toBe(200);
      app().clock.advance(MINUTE);
      await expectTokenError(await refresh(publicClient, refresh_token), 'invalid_grant');
      expect(await guess(1)).toEqual([429]);
    });

    it('O126 O132 returns 429 without consuming the code to a request that fails before the verifier is compared, and does not count it', async () => {
      expect(await guess(LIMIT)).toEqual(Array<number>(LIMIT).fill(400));
      const rejected = await exchangeAt({ redirect_uri: 'https://other.example/callback' });
      expect(rejected.status).toBe(429);
      expect(await guess(30)).toEqual(Array<number>(30).fill(429));
      expect((await exchangeAt()).status).toBe(200);
      app().clock.advance(Number(rejected.headers.get('retry-after')) * SECOND);
      expect(await guess(1)).toEqual([400]);
    });

    it('O126 O132 returns 429 to a wrong verifier and consumes the code, so that it can be guessed only once', async () => {
      await guess(LIMIT);
      expect((await exchangeAt({ code_verifier: 'x'.repeat(43) })).status).toBe(429);
      expect((await exchangeAt()).status).toBe(400);
    });
  });

  it('O128 does not count failures that are 15 minutes old', async () => {
    await failTimes(LIMIT / 2);
    app().clock.advance(14 * MINUTE);
    expect(await failTimes(LIMIT / 2)).not.toContain(429);
    expect(await failTimes(1)).toEqual([429]);
    app().clock.advance(MINUTE + 15 * SECOND);
    expect(await failTimes(11)).toEqual([...Array<number>(10).fill(401), 429]);
  });

  it('O130 O132 limits an address to 100 failures, even if each has another client_id, and stores at most two rows for each client_id and the address', async () => {
    const { manager } = app().dataSource;
    await manager.clear(RateLimitHit);
    const statuses = await failWithInventedIds(ADDRESS_LIMIT + 20, '203.0.113.9');
    expect(statuses).toEqual([
      ...Array<number>(ADDRESS_LIMIT).fill(401),
      ...Array<number>(20).fill(429),
    ]);
    expect(await manager.count(RateLimitHit)).toBeLessThanOrEqual(2 * (ADDRESS_LIMIT + 1));
  });

  it('O130 counts IPv6 addresses by their /64', async () => {
    for (let each = 0; each < LIMIT; each += 1)
      await sendWrongSecret(client, `2001:db8:1:2::${each}`);
    expect((await sendWrongSecret(client, '2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await sendWrongSecret(client, '2001:db8:1:3::1')).status).toBe(401);
  });

  it('O132 shares limits between processes and keeps them over a restart', async () => {
    const address = '203.0.113.50';
    const start = async (): Promise<TestApp> => {
      const started = await TestApp.start(database, TRUST_ONE_PROXY);
      started.clock.set(app().clock.now().toISOString());
      return started;
    };
    const second = await start();
    try {
      for (const site of [app(), second])
        for (let each = 0; each < LIMIT / 2; each += 1)
          expect((await sendWrongSecret(client, address, site)).status).toBe(401);
      for (const site of [app(), second])
        expect((await sendWrongSecret(client, address, site)).status).toBe(429);
    } finally {
      await second.stop();
    }
    const restarted = await start();
    try {
      expect((await sendWrongSecret(client, address, restarted)).status).toBe(429);
    } finally {
      await restarted.stop();
    }
  });

  it('serves requests that do not fail while an internal error prevents reading the attempts', async () => {
    const code = await newCode(app(), client);
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    const { dataSource } = app();
    await dataSource.query('ALTER TABLE throttle_hits RENAME TO throttle_hits_away');
    const malformed = await app().fetch('/oauth/token', { method: 'POST', body: 'not a form' });
    const exchanged = await exchange(app(), client, code);
    const fields = { phone: '+14155550101' };
    const rejected = await visitor.submit(page, SIGN_IN, fields);
    await dataSource.query('ALTER TABLE throttle_hits_away RENAME TO throttle_hits');
    expect(malformed.status).toBe(500);
    expect(exchanged.status).toBe(200);
    expectPage(rejected, 500);
  });
});

onOneEngine('Token endpoint: limits of calls', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    // The default of `token-calls` is 7,500. `token-address-failures` equals the default of `token-failures` (per app and address), so
    // that concurrent failures exceed both.
    ...rateLimits({ 'token-calls': CALLS, 'token-address-failures': 20 }),
  });

  function refresh(
    client: TestClient,
    address: string,
    refresh_token = 'unknown',
  ): Promise<Response> {
    return sendRefresh(app(), client, refresh_token, {}, { 'x-forwarded-for': address });
  }

  const statusesOf = (
    client: TestClient,
    address: string,
    { times }: { times: number },
  ): Promise<number[]> => inTurn(times, async () => (await refresh(client, address)).status);

  it('O129 counts the calls of a confidential app from all addresses together', async () => {
    const client = await app().addClient();
    for (const address of ['203.0.113.1', '203.0.113.2'])
      expect(await statusesOf(client, address, { times: 5 })).toEqual(Array<number>(5).fill(400));
    expect(await statusesOf(client, '203.0.113.3', { times: 1 })).toEqual([429]);
    expect(await statusesOf(await app().addClient(), '203.0.113.1', { times: 1 })).toEqual([400]);
  });

  /** The limits that were exceeded from this address, according to the audit log. */
  async function exceededFrom(address: string): Promise<Pick<AuditEvent, 'subject' | 'details'>[]> {
    const events = await app().dataSource.manager.find(AuditEvent, {
      where: { action: 'oauth.throttled', address },
      order: { subject: 'ASC' },
    });
    return events.map(({ subject, details }) => ({ subject, details }));
  }

  it('O129 accepts exactly 10 of 30 concurrent calls and writes the exceeded limit once', async () => {
    const client = await app().addClient();
    const address = '203.0.113.41';
    const responses = await concurrently(30, () => refresh(client, address));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(CALLS);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30 - CALLS);
    expect(await exceededFrom(address)).toEqual([
      { subject: 'token-calls-by-client', details: { clientId: client.clientId } },
    ]);
  });

  it('O144 writes each limit that 60 concurrent failures exceed to the audit log once', async () => {
    const client = await app().addClient();
    const address = '203.0.113.40';
    const sendWrongSecret = (): Promise<Response> =>
      refresh({ ...client, secret: 'wrong' }, address);
    for (const { status } of await concurrently(60, sendWrongSecret))
      expect([401, 429]).toContain(status);
    expect((await sendWrongSecret()).status).toBe(429);
    const details = { claimedClientId: client.clientId };
    expect(await exceededFrom(address)).toEqual([
      { subject: 'token-failures-by-address', details },
      { subject: 'token-failures-by-app-and-address', details },
    ]);
  });

  it('counts successful calls, too, and accepts calls again after 15 minutes', async () => {
    const client = await app().addClient();
    const address = '203.0.113.4';
    let { refresh_token } = await obtainTokens(app(), client);
    for (let each = 1; each < CALLS; each += 1) {
      const response = await refresh(client, address, refresh_token);
      expect(response.status).toBe(200);
      ({ refresh_token } = await json<TokenBody>(response));
    }
    expect((await refresh(client, address, refresh_token)).status).toBe(429);
    app().clock.advance(16 * MINUTE);
    expect((await refresh(client, address, refresh_token)).status).toBe(200);
  });

  it('O132 counts the calls of each process separately, from its start', async () => {
    const client = await app().addClient();
    expect(await statusesOf(client, '203.0.113.5', { times: CALLS + 1 })).toContain(429);
    const second = await TestApp.start(database, rateLimits({ 'token-calls': CALLS }));
    try {
      second.clock.set(app().clock.now().toISOString());
      const form = { grant_type: 'refresh_token', refresh_token: 'unknown' };
      expect((await requestToken(second, client, form)).status).toBe(400);
    } finally {
      await second.stop();
    }
  });

  it('O131 does not count calls without the secret of the app', async () => {
    const client = await app().addClient();
    const stranger = { ...client, secret: 'wrong' };
    expect(await statusesOf(stranger, '203.0.113.66', { times: 15 })).toEqual(
      Array<number>(15).fill(401),
    );
    expect(await statusesOf(client, '203.0.113.1', { times: 1 })).toEqual([400]);
  });

  it('O131 counts the calls of a public app per address', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    expect(await statusesOf(publicClient, '203.0.113.67', { times: CALLS + 1 })).toEqual([
      ...Array<number>(CALLS).fill(400),
      429,
    ]);
    expect(await statusesOf(publicClient, '203.0.113.1', { times: 1 })).toEqual([400]);
  });
});
