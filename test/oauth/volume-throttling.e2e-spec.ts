import { AuditEvent } from '../../src/audit/audit-event.entity.js';
import { ThrottleHit } from '../../src/modules/oauth/throttle/throttle-hit.entity.js';
import { obtainTokens, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const HONEST_REFRESHES = 1000;
const USERS = 20;

onOneEngine('Busy apps at the token endpoint', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    OAUTH_TOKEN_FAILURES: '20',
    OAUTH_TOKEN_ADDRESS_FAILURES: '100',
    OAUTH_TOKEN_CALLS: '7500',
  });

  const refresh = (
    client: TestClient,
    refresh_token: string,
    address = '203.0.113.7',
  ): Promise<Response> =>
    requestToken(
      app(),
      client,
      { grant_type: 'refresh_token', refresh_token },
      { 'x-forwarded-for': address },
    );

  const fail = (client: TestClient, address?: string): Promise<Response> =>
    refresh({ ...client, secret: 'wrong' }, 'unknown', address);

  async function refreshTimes(client: TestClient, times: number): Promise<number[]> {
    const statuses: number[] = [];
    let { refresh_token } = await obtainTokens(app(), client);
    for (let each = 0; each < times; each += 1) {
      const answer = await refresh(client, refresh_token);
      statuses.push(answer.status);
      if (answer.status === 200) ({ refresh_token } = await json<TokenBody>(answer));
    }
    return statuses;
  }

  it(`O129 ${HONEST_REFRESHES} refreshes for many users from one address are all answered`, async () => {
    const client = await app().addClient();
    const each = HONEST_REFRESHES / USERS;
    const statuses = await Promise.all(
      Array.from({ length: USERS }, () => refreshTimes(client, each)),
    );
    expect(statuses.flat()).toEqual(Array<number>(HONEST_REFRESHES).fill(200));
  }, 120_000);

  it('O129 Refresh tokens that died cost an honest app no attempt', async () => {
    const client = await app().addClient();
    const { refresh_token } = await obtainTokens(app(), client);
    await requestToken(app(), client, { grant_type: 'refresh_token', refresh_token });
    app().clock.advance(60_000);
    for (let each = 0; each < 25; each += 1)
      expect((await refresh(client, refresh_token)).status).toBe(400);
    const other = await obtainTokens(app(), client);
    expect((await refresh(client, other.refresh_token)).status).toBe(200);
  });

  it('O132 What is counted takes a handful of rows, however many calls there are', async () => {
    const { manager } = app().dataSource;
    await manager.clear(ThrottleHit);
    const client = await app().addClient();
    for (let each = 0; each < 30; each += 1) await refresh(client, 'unknown');
    for (let each = 0; each < 30; each += 1) await fail(client);
    expect(await manager.count(ThrottleHit)).toBeLessThanOrEqual(2 * 3);
  });

  it('O144 A spent budget is written to the audit log once, with app, address and request', async () => {
    const client = await app().addClient();
    const address = '198.51.100.20';
    const { manager } = app().dataSource;
    for (let each = 0; each < 30; each += 1) await fail(client, address);
    const events = await manager.findBy(AuditEvent, { action: 'oauth.throttled', address });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      subject: 'token-failures-by-app-and-address',
      actor: 'service',
      details: { claimedClientId: client.clientId },
    });
    expect(events[0]?.requestId).toMatch(/^req_/);
  });
});

onOneEngine('The budget of calls', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '1', OAUTH_TOKEN_CALLS: '10' });

  const call = (client: TestClient, address: string): Promise<Response> =>
    requestToken(
      app(),
      client,
      { grant_type: 'refresh_token', refresh_token: 'unknown' },
      { 'x-forwarded-for': address },
    );

  async function statuses(client: TestClient, address: string, times: number): Promise<number[]> {
    const found: number[] = [];
    for (let each = 0; each < times; each += 1) found.push((await call(client, address)).status);
    return found;
  }

  it('O129 A confidential app has one, wherever it calls from', async () => {
    const client = await app().addClient();
    for (const address of ['203.0.113.1', '203.0.113.2'])
      expect(await statuses(client, address, 5)).toEqual(Array<number>(5).fill(400));
    expect(await statuses(client, '203.0.113.3', 1)).toEqual([429]);
    expect(await statuses(await app().addClient(), '203.0.113.1', 1)).toEqual([400]);
  });

  it('O131 Nobody without its secret can spend it', async () => {
    const client = await app().addClient();
    const stranger = { ...client, secret: 'wrong' };
    expect(await statuses(stranger, '203.0.113.66', 15)).toEqual(Array<number>(15).fill(401));
    expect(await statuses(client, '203.0.113.1', 1)).toEqual([400]);
  });

  it('O131 A public app has one per address, so that no stranger spends that of its users', async () => {
    const native = await app().addClient({ kind: 'public' });
    expect(await statuses(native, '203.0.113.66', 11)).toEqual([
      ...Array<number>(10).fill(400),
      429,
    ]);
    expect(await statuses(native, '203.0.113.1', 1)).toEqual([400]);
  });
});
