import { AuditEvent } from '../../src/audit/audit-event.entity.js';
import { obtainTokens, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const LIMIT = 5;

onOneEngine('The address of a caller, as a proxy writes it', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '1', OAUTH_TOKEN_FAILURES: String(LIMIT) });
  let client: TestClient;

  beforeEach(async () => {
    client = await app().addClient();
  });

  async function fail(address: string): Promise<number> {
    const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
    return (await requestToken(app(), client, form, { 'x-forwarded-for': address })).status;
  }

  it.each([
    ['the port', (each: number) => `203.0.113.20:${50_000 + each}`, '203.0.113.20'],
    [
      'the port of IPv6',
      (each: number) => `[2001:db8:1:20::1]:${50_000 + each}`,
      '2001:db8:1:20::1',
    ],
    ['the zone', (each: number) => `fe80::20%eth${each}`, 'fe80::20'],
    ['IPv6 around it', () => '::ffff:203.0.113.21', '203.0.113.21'],
    ['what is no address', (each: number) => `unknown${each}`, 'hidden'],
  ])('O130 Without %s it has one budget', async (_, written, address) => {
    for (let each = 0; each < LIMIT; each += 1) expect(await fail(written(each))).toBe(401);
    expect(await fail(address)).toBe(429);
    expect(await fail('203.0.113.22')).toBe(401);
  });

  it.each([
    ['[2001:0db8:85a3:0000:0000:8a2e:0370:7334]:65535', '2001:db8:85a3::8a2e:370:7334'],
    [`unknown-${'x'.repeat(100)}`, null],
  ])('O144 A refresh from %s is answered, and written down with %s', async (written, address) => {
    const { refresh_token } = await obtainTokens(app(), client);
    const form = { grant_type: 'refresh_token', refresh_token };
    const answer = await requestToken(app(), client, form, { 'x-forwarded-for': written });
    expect(answer.status).toBe(200);
    const requestId = answer.headers.get('x-request-id') ?? '';
    const events = await app().dataSource.manager.findBy(AuditEvent, { requestId });
    expect(events.map((event) => event.address)).toEqual([address]);
  });
});

onOneEngine('Two proxies in front', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '2', OAUTH_TOKEN_FAILURES: String(LIMIT) });

  it('O130 The address that the first of them saw counts, whatever is written before it', async () => {
    const client = await app().addClient();
    const fail = async (forwarded: string): Promise<number> => {
      const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
      return (await requestToken(app(), client, form, { 'x-forwarded-for': forwarded })).status;
    };
    for (let each = 0; each < LIMIT; each += 1)
      expect(await fail(`198.51.100.${each}, 203.0.113.30, 192.0.2.${each}`)).toBe(401);
    expect(await fail('198.51.100.99, 203.0.113.30, 192.0.2.99')).toBe(429);
    expect(await fail('203.0.113.30, 203.0.113.31, 192.0.2.1')).toBe(401);
  });
});
