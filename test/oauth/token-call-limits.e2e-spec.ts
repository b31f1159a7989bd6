import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { obtainTokens, requestToken, sendRefresh } from '../support/oauth-flow.js';
import { concurrently } from '../support/cluster.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody } from '../support/responses.js';
import { rateLimits, TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const MINUTE = 60_000;
const LIMIT = 10;

onOneEngine('Token endpoint: limits of calls', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    // The default of `token-calls` is 7,500. `token-address-failures` equals the default of `token-failures` (per app and address), so
    // that concurrent failures exceed both.
    ...rateLimits({ 'token-calls': LIMIT, 'token-address-failures': 20 }),
  });

  function refresh(
    client: TestClient,
    address: string,
    refresh_token = 'unknown',
  ): Promise<Response> {
    return sendRefresh(app(), client, refresh_token, {}, { 'x-forwarded-for': address });
  }

  async function statusesOf(
    client: TestClient,
    address: string,
    { times }: { times: number },
  ): Promise<number[]> {
    const statuses: number[] = [];
    for (let each = 0; each < times; each += 1)
      statuses.push((await refresh(client, address)).status);
    return statuses;
  }

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
    expect(statuses.filter((status) => status === 400)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30 - LIMIT);
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
    for (let each = 1; each < LIMIT; each += 1) {
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
    expect(await statusesOf(client, '203.0.113.5', { times: LIMIT + 1 })).toContain(429);
    const second = await TestApp.start(database, rateLimits({ 'token-calls': LIMIT }));
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
    expect(await statusesOf(publicClient, '203.0.113.67', { times: LIMIT + 1 })).toEqual([
      ...Array<number>(LIMIT).fill(400),
      429,
    ]);
    expect(await statusesOf(publicClient, '203.0.113.1', { times: 1 })).toEqual([400]);
  });
});
