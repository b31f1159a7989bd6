import { approve, exchange, requestToken, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenHeaders, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

onOneEngine('Too many attempts at the token endpoint', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    OAUTH_TOKEN_FAILURES: '20',
    OAUTH_TOKEN_ADDRESS_FAILURES: '100',
    OAUTH_TOKEN_CALLS: '7500',
  });
  let client: TestClient;

  beforeEach(async () => {
    app().clock.advance(DAY);
    client = await app().addClient();
  });

  function fail(of = client, address = '203.0.113.7'): Promise<Response> {
    const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
    return requestToken(app(), of, form, { 'x-forwarded-for': address });
  }

  async function failTimes(times: number, of = client, address?: string): Promise<number[]> {
    const statuses: number[] = [];
    for (let each = 0; each < times; each += 1) statuses.push((await fail(of, address)).status);
    return statuses;
  }

  it('O126 After twenty failures every call is 429 with the words of the source document', async () => {
    expect(await failTimes(20)).toEqual(Array<number>(20).fill(401));
    const answer = await fail();
    expect(answer.status).toBe(429);
    expectTokenHeaders(answer);
    const seconds = answer.headers.get('retry-after') ?? '';
    expect(seconds).toMatch(/^\d+$/);
    expect(Number(seconds)).toBeLessThanOrEqual(15 * 60 + 15);
    expect(Number(seconds)).toBeGreaterThan(14 * 60);
    expect(await json(answer)).toEqual({
      error: 'too_many_attempts',
      error_description: `Too many attempts. Try again in ${seconds} seconds.`,
      message: 'Too many attempts',
    });
  });

  it.each(['token', 'revoke', 'introspect'])(
    'O131 What another site sends to /oauth/%s from the browser of a visitor costs the visitor nothing',
    async (path) => {
      const address = { 'x-forwarded-for': '203.0.113.7' };
      const claims = { ...address, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      const send = async (headers: Record<string, string>): Promise<number> =>
        (await sendForm(app(), `/oauth/${path}`, { ...client, secret: 'x' }, {}, headers)).status;
      for (let each = 0; each < 30; each += 1) expect(await send(claims)).toBe(400);
      expect(await send(address)).toBe(401);
    },
  );

  it('O132 A 429 spends neither code nor refresh token, and does not count itself', async () => {
    const user = await app().addUser();
    const code = (await approve(app(), user, client)).get('code') ?? '';
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    await failTimes(20);
    const grant = { grant_type: 'authorization_code', redirect_uri: client.redirectUris[0], code };
    const refused = await requestToken(app(), client, grant, headers);
    expect(refused.status).toBe(429);
    expect(await failTimes(30)).toEqual(Array<number>(30).fill(429));
    const elsewhere = await exchange(app(), client, code);
    expect(elsewhere.status).toBe(200);
    const { refresh_token } = await json<TokenBody>(elsewhere);
    const refresh = (): Promise<Response> =>
      requestToken(app(), client, { grant_type: 'refresh_token', refresh_token }, headers);
    expect((await refresh()).status).toBe(429);
    app().clock.advance(Number(refused.headers.get('retry-after')) * 1000);
    expect((await refresh()).status).toBe(200);
  });

  it('O128 The window rolls: what is fifteen minutes old does not count', async () => {
    await failTimes(10);
    app().clock.advance(14 * MINUTE);
    expect(await failTimes(10)).not.toContain(429);
    expect(await failTimes(1)).toEqual([429]);
    app().clock.advance(MINUTE + 15_000);
    expect(await failTimes(11)).toEqual([...Array<number>(10).fill(401), 429]);
  });

  it('O129 Successes are no failures', async () => {
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    let { refresh_token } = await json<TokenBody>(await exchange(app(), client, code));
    for (let each = 0; each < 40; each += 1) {
      const grant = { grant_type: 'refresh_token', refresh_token };
      const answer = await requestToken(app(), client, grant);
      expect(answer.status).toBe(200);
      ({ refresh_token } = await json<TokenBody>(answer));
    }
  });

  it('O131 Another address and another app are not affected', async () => {
    await failTimes(20);
    expect((await fail()).status).toBe(429);
    expect((await fail(client, '203.0.113.8')).status).toBe(401);
    expect((await fail(await app().addClient())).status).toBe(401);
  });

  it('O130 An address that rotates client_ids has one budget of a hundred', async () => {
    const statuses: number[] = [];
    for (let each = 0; each < 101; each += 1) {
      const clientId = `svc_app_${String(each).padStart(26, '0')}`;
      const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: 'x' };
      const headers = { 'x-forwarded-for': '203.0.113.9' };
      statuses.push((await requestToken(app(), client, form, headers)).status);
    }
    expect(statuses).toEqual([...Array<number>(100).fill(401), 429]);
  });

  it('O130 What a client writes into X-Forwarded-For before the proxy adds to it does not help', async () => {
    for (let each = 0; each < 20; each += 1) await fail(client, `198.51.100.${each}, 203.0.113.10`);
    expect((await fail(client, '192.0.2.1, 203.0.113.10')).status).toBe(429);
  });

  it('O130 IPv6 addresses count by their /64', async () => {
    for (let each = 0; each < 20; each += 1) await fail(client, `2001:db8:1:2::${each}`);
    expect((await fail(client, '2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await fail(client, '2001:db8:1:3::1')).status).toBe(401);
  });

  it('Requests that cannot be read are failures, too', async () => {
    const send = (): Promise<Response> =>
      app().fetch('/oauth/token', {
        method: 'POST',
        headers: { 'x-forwarded-for': '203.0.113.11', 'content-type': 'application/json' },
        body: JSON.stringify({ grant_type: 'authorization_code' }),
      });
    for (let each = 0; each < 20; each += 1) expect((await send()).status).toBe(400);
    expect((await send()).status).toBe(429);
  });

  it('Thirty failures at once give no fault, and the next one is 429', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => fail()));
    for (const { status } of answers) expect([401, 429]).toContain(status);
    expect((await fail()).status).toBe(429);
  });

  it('A failure that cannot be counted is answered all the same', async () => {
    const { dataSource } = app();
    await dataSource.query('ALTER TABLE throttle_hits RENAME TO throttle_hits_away');
    const answer = await app().fetch('/oauth/token', { method: 'POST', body: 'not a form' });
    await dataSource.query('ALTER TABLE throttle_hits_away RENAME TO throttle_hits');
    expect(answer.status).toBe(400);
  });
});

onOneEngine('Token calls without a proxy in front', (database) => {
  const app = useTestApp(database, { OAUTH_TOKEN_FAILURES: '20', OAUTH_TOKEN_CALLS: '30' });

  it('O130 X-Forwarded-For is not believed', async () => {
    const client = await app().addClient();
    const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
    const statuses: number[] = [];
    for (let each = 0; each < 21; each += 1) {
      const headers = { 'x-forwarded-for': `203.0.113.${each}`, 'x-real-ip': `203.0.113.${each}` };
      statuses.push((await requestToken(app(), client, form, headers)).status);
    }
    expect(statuses).toEqual([...Array<number>(20).fill(401), 429]);
  });

  it('The budget of calls refuses good calls, too', async () => {
    const client = await app().addClient();
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    let { refresh_token } = await json<TokenBody>(await exchange(app(), client, code));
    for (let each = 1; each < 30; each += 1) {
      const answer = await requestToken(app(), client, {
        grant_type: 'refresh_token',
        refresh_token,
      });
      ({ refresh_token } = await json<TokenBody>(answer));
    }
    const grant = { grant_type: 'refresh_token', refresh_token };
    expect((await requestToken(app(), client, grant)).status).toBe(429);
    app().clock.advance(16 * MINUTE);
    expect((await requestToken(app(), client, grant)).status).toBe(200);
  });
});
