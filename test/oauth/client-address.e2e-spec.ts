import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { obtainTokens, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { rateLimits, type TestClient, useTestApp } from '../support/test-app.js';

/** Failures per app and address. The default is 20. */
const LIMIT = 5;

onOneEngine('Client address behind one proxy', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    ...rateLimits({ 'token-failures': LIMIT }),
  });
  let client: TestClient;

  beforeEach(async () => {
    client = await app().addClient();
  });

  async function statusOfFailedRefresh(address: string): Promise<number> {
    const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
    return (await requestToken(app(), client, form, { 'x-forwarded-for': address })).status;
  }

  it.each([
    [
      'an IPv4 address with a port',
      (attempt: number) => `203.0.113.20:${50_000 + attempt}`,
      '203.0.113.20',
    ],
    [
      'an IPv6 address with a port',
      (attempt: number) => `[2001:db8:1:20::1]:${50_000 + attempt}`,
      '2001:db8:1:20::1',
    ],
    ['an IPv6 address with a zone', (attempt: number) => `fe80::20%eth${attempt}`, 'fe80::20'],
    ['an IPv4-mapped IPv6 address', () => '::ffff:203.0.113.21', '203.0.113.21'],
    ['text that is not an address', (attempt: number) => `unknown${attempt}`, 'hidden'],
  ])(
    'O130 counts failures against one limit for %s in X-Forwarded-For',
    async (_, spelling, sameAddress) => {
      for (let attempt = 0; attempt < LIMIT; attempt += 1)
        expect(await statusOfFailedRefresh(spelling(attempt))).toBe(401);
      expect(await statusOfFailedRefresh(sameAddress)).toBe(429);
      expect(await statusOfFailedRefresh('203.0.113.22')).toBe(401);
    },
  );

  it.each([
    ['[2001:0db8:85a3:0000:0000:8a2e:0370:7334]:65535', '2001:db8:85a3::8a2e:370:7334'],
    [`unknown-${'x'.repeat(100)}`, null],
  ])(
    'O144 accepts a refresh with X-Forwarded-For: %s and records the address %s',
    async (forwarded, address) => {
      const { refresh_token } = await obtainTokens(app(), client);
      const form = { grant_type: 'refresh_token', refresh_token };
      const response = await requestToken(app(), client, form, { 'x-forwarded-for': forwarded });
      expect(response.status).toBe(200);
      const requestId = response.headers.get('x-request-id') ?? '';
      const events = await app().dataSource.manager.findBy(AuditEvent, { requestId });
      expect(events.map((event) => event.address)).toEqual([address]);
    },
  );
});

onOneEngine('Client address behind two proxies', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '2',
    ...rateLimits({ 'token-failures': LIMIT }),
  });

  it('O130 uses the address that the outer proxy appends to X-Forwarded-For and ignores the addresses before it', async () => {
    const client = await app().addClient();
    const statusOfFailedRefresh = async (forwarded: string): Promise<number> => {
      const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
      return (await requestToken(app(), client, form, { 'x-forwarded-for': forwarded })).status;
    };
    for (let attempt = 0; attempt < LIMIT; attempt += 1)
      expect(
        await statusOfFailedRefresh(`198.51.100.${attempt}, 203.0.113.30, 192.0.2.${attempt}`),
      ).toBe(401);
    expect(await statusOfFailedRefresh('198.51.100.99, 203.0.113.30, 192.0.2.99')).toBe(429);
    expect(await statusOfFailedRefresh('203.0.113.30, 203.0.113.31, 192.0.2.1')).toBe(401);
  });
});

onOneEngine('Client address behind proxies that are trusted by address', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: 'loopback,10.0.0.0/8,2001:db8:ffff::/48',
    ...rateLimits({ 'token-failures': LIMIT }),
  });
  let client: TestClient;

  beforeEach(async () => {
    client = await app().addClient();
  });

  it.each([
    ['no address', undefined, '127.0.0.1'],
    ['the address of the client', '203.0.113.7', '203.0.113.7'],
    ['an address that the client chose', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['a proxy that the client chose', '10.9.9.9, 203.0.113.7', '203.0.113.7'],
    ['an inner proxy', '198.51.100.1, 203.0.113.7, 10.0.0.5', '203.0.113.7'],
    ['an inner proxy with a port', '203.0.113.7:4711, 10.0.0.5:4712', '203.0.113.7'],
    ['an IPv4-mapped proxy', '203.0.113.7,::ffff:10.0.0.5', '203.0.113.7'],
    ['an IPv6 proxy', '2001:db8::7, [2001:db8:ffff::1]:4711', '2001:db8::7'],
    ['an unknown proxy', '203.0.113.7, 192.0.2.1, 10.0.0.5', '192.0.2.1'],
    ['only proxies', '10.0.0.6, 10.0.0.5', '10.0.0.6'],
    ['text that is not an address', '203.0.113.7, unknown, 10.0.0.5', null],
    ['an empty entry', '203.0.113.7,, 10.0.0.5', '203.0.113.7'],
  ])('O130 with %s in X-Forwarded-For (%s), records %s', async (_, forwarded, address) => {
    const { refresh_token } = await obtainTokens(app(), client);
    const headers = { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) };
    const form = { grant_type: 'refresh_token', refresh_token };
    const response = await requestToken(app(), client, form, headers);
    expect(response.status).toBe(200);
    const requestId = response.headers.get('x-request-id') ?? '';
    const events = await app().dataSource.manager.findBy(AuditEvent, { requestId });
    expect(events.map((event) => event.address)).toEqual([address]);
  });

  it('O130 counts failures by the address of the client, whatever it sends itself', async () => {
    const statusOfFailedRefresh = async (forwarded: string): Promise<number> => {
      const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
      return (await requestToken(app(), client, form, { 'x-forwarded-for': forwarded })).status;
    };
    for (let attempt = 0; attempt < LIMIT; attempt += 1)
      expect(await statusOfFailedRefresh(`198.51.100.${attempt}, 203.0.113.40, 10.0.0.5`)).toBe(
        401,
      );
    expect(await statusOfFailedRefresh('198.51.100.99, 203.0.113.40')).toBe(429);
    expect(await statusOfFailedRefresh('203.0.113.40, 203.0.113.41, 10.0.0.5')).toBe(401);
  });
});

onOneEngine('Client address without the trusted proxies', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '10.0.0.0/8' });

  it('O130 ignores X-Forwarded-For from a client that connects directly', async () => {
    const client = await app().addClient();
    const { refresh_token } = await obtainTokens(app(), client);
    const form = { grant_type: 'refresh_token', refresh_token };
    const headers = { 'x-forwarded-for': '203.0.113.7, 10.0.0.5' };
    const response = await requestToken(app(), client, form, headers);
    const requestId = response.headers.get('x-request-id') ?? '';
    const events = await app().dataSource.manager.findBy(AuditEvent, { requestId });
    expect(events.map((event) => event.address)).toEqual(['127.0.0.1']);
  });
});
