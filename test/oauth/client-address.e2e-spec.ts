import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { onOneEngine, type TestDatabase } from '../support/database.js';
import { sendRefresh } from '../support/oauth-flow.js';
import { rateLimits, type TestClient, useTestApp } from '../support/test-app.js';

/** Failures per app and address. The default is 20. */
const LIMIT = 5;

/** An app that refreshes with a header `X-Forwarded-For`. */
function useForwardedFor(database: TestDatabase, TRUST_PROXY: string) {
  const app = useTestApp(database, { TRUST_PROXY, ...rateLimits({ 'token-failures': LIMIT }) });
  let client: TestClient;
  beforeEach(async () => {
    client = await app().addClient();
  });

  const headersOf = (forwarded?: string): Record<string, string> =>
    forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };

  /** Expects that failures with these headers count against one limit, and that another address has its own. */
  async function expectOneLimit(
    spelling: (attempt: number) => string,
    { same, other }: { same: string; other: string },
  ): Promise<void> {
    const fail = async (forwarded: string): Promise<number> => {
      const form = { client_secret: 'wrong' };
      return (await sendRefresh(app(), client, 'x', form, headersOf(forwarded))).status;
    };
    for (let attempt = 0; attempt < LIMIT; attempt += 1)
      expect(await fail(spelling(attempt))).toBe(401);
    expect([await fail(same), await fail(other)]).toEqual([429, 401]);
  }

  /** Expects that the audit log records this address for a refresh. */
  async function expectRecorded(
    forwarded: string | undefined,
    address: string | null,
  ): Promise<void> {
    const { refreshToken } = await app().issueTokens(await app().addUser(), client);
    const response = await sendRefresh(app(), client, refreshToken, {}, headersOf(forwarded));
    expect(response.status).toBe(200);
    const requestId = response.headers.get('x-request-id') ?? '';
    const events = await app().dataSource.manager.findBy(AuditEvent, { requestId });
    expect(events.map((event) => event.address)).toEqual([address]);
  }

  return { expectOneLimit, expectRecorded };
}

onOneEngine('Client address behind one proxy', (database) => {
  const { expectOneLimit, expectRecorded } = useForwardedFor(database, '1');

  it.each([
    ['IPv4', (attempt: number) => `203.0.113.20:${50_000 + attempt}`, '203.0.113.20'],
    ['IPv6', (attempt: number) => `[2001:db8:1:20::1]:${50_000 + attempt}`, '2001:db8:1:20::1'],
    ['zone', (attempt: number) => `fe80::20%eth${attempt}`, 'fe80::20'],
    ['mapped', () => '::ffff:203.0.113.21', '203.0.113.21'],
    ['no address', (attempt: number) => `unknown${attempt}`, 'hidden'],
  ])('O130 counts all spellings of an address in one limit: %s', async (_, spelling, same) => {
    await expectOneLimit(spelling, { same, other: '203.0.113.22' });
  });

  it.each([
    ['[2001:0db8:85a3:0000:0000:8a2e:0370:7334]:65535', '2001:db8:85a3::8a2e:370:7334'],
    [`unknown-${'x'.repeat(100)}`, null],
  ])('O144 accepts a refresh with X-Forwarded-For: %s and records the address %s', expectRecorded);
});

onOneEngine('Client address behind two proxies', (database) => {
  const { expectOneLimit } = useForwardedFor(database, '2');

  it('O130 uses the address that the outer proxy appends to X-Forwarded-For and ignores the addresses before it', () =>
    expectOneLimit((attempt) => `198.51.100.${attempt}, 203.0.113.30, 192.0.2.${attempt}`, {
      same: '198.51.100.99, 203.0.113.30, 192.0.2.99',
      other: '203.0.113.30, 203.0.113.31, 192.0.2.1',
    }));
});

onOneEngine('Client address behind proxies that are trusted by address', (database) => {
  const trusted = 'loopback,10.0.0.0/8,2001:db8:ffff::/48';
  const { expectOneLimit, expectRecorded } = useForwardedFor(database, trusted);

  it.each([
    [undefined, '127.0.0.1'],
    ['10.9.9.9, 203.0.113.7', '203.0.113.7'],
    ['203.0.113.7,::ffff:10.0.0.5', '203.0.113.7'],
    ['2001:db8::7, [2001:db8:ffff::1]:4711', '2001:db8::7'],
    ['203.0.113.7, 192.0.2.1, 10.0.0.5', '192.0.2.1'],
    ['203.0.113.7, unknown, 10.0.0.5', null],
  ])('O130 with X-Forwarded-For: %s, records %s', expectRecorded);

  it('O130 counts failures by the address of the client, whatever it sends itself', () =>
    expectOneLimit((attempt) => `198.51.100.${attempt}, 203.0.113.40, 10.0.0.5`, {
      same: '198.51.100.99, 203.0.113.40',
      other: '203.0.113.40, 203.0.113.41, 10.0.0.5',
    }));
});

onOneEngine('Client address without the trusted proxies', (database) => {
  const { expectRecorded } = useForwardedFor(database, '10.0.0.0/8');

  it('O130 C25 ignores X-Forwarded-For from a client that connects directly', () =>
    expectRecorded('203.0.113.7, 10.0.0.5', '127.0.0.1'));
});
