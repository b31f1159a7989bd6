import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { Authorization } from '../../src/modules/oauth/authorize/authorization.entity.js';
import { Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { concurrently } from '../support/cluster.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { rateLimits, statementsWithoutBackground, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;

onOneEngine('Authorization endpoint: rate limit', (database) => {
  // The default is 600.
  const app = useTestApp(database, { TRUST_PROXY: '1', ...rateLimits({ 'authorize-calls': 10 }) });
  let link: string;

  beforeEach(async () => {
    app().clock.advance(DAY);
    link = authorizeLink(await app().addClient());
  });

  /** The status of a request from this address. */
  async function statusOf(
    address: string,
    method = 'GET',
    headers: Record<string, string> = {},
  ): Promise<number> {
    const sent = { 'x-forwarded-for': address, ...headers };
    return (await app().fetch(link, { method, headers: sent })).status;
  }

  it('shows an error page with 429 to an address over its limit until Retry-After has passed', async () => {
    const visitor = new Browser(app());
    for (let call = 0; call < 10; call += 1) expectPage(await visitor.open(link), 200);
    const page = await visitor.open(link);
    expectPage(page, 429);
    expect(page.title).toContain('Too many attempts');
    expect(await statusOf('203.0.113.8')).toBe(200);
    app().clock.advance(Number(page.headers.get('retry-after')) * 1000);
    expectPage(await visitor.open(link), 200);
  });

  it('O131 rejects a request that is not a navigation (Sec-Fetch-Dest), stores nothing and does not count it', async () => {
    const before = await app().dataSource.manager.count(Authorization);
    const address = '203.0.113.11';
    for (const destination of ['image', 'script', 'iframe', 'empty'])
      for (let call = 0; call < 10; call += 1)
        expect(await statusOf(address, 'GET', { 'sec-fetch-dest': destination })).toBe(400);
    expect(await app().dataSource.manager.count(Authorization)).toBe(before);
    expect(await statusOf(address, 'GET', { 'sec-fetch-dest': 'document' })).toBe(200);
  });

  it('O132 counts calls in memory, without a statement', async () => {
    const statements = await statementsWithoutBackground(app(), async () => {
      expect(await statusOf('203.0.113.12')).toBe(200);
    });
    expect(statements.filter((text) => text.includes('throttle_hits'))).toEqual([]);
  });

  it('O131 counts a trusted device on its own once its address is over the limit', async () => {
    const user = await app().addUser();
    const trusted = new Browser(app());
    await trusted.signIn(link, user);
    const others = { 'x-forwarded-for': '127.0.0.1' };
    while ((await app().fetch(link, { headers: others })).status === 200);
    expectPage(await new Browser(app()).open(link), 429);
    for (let call = 0; call < 10; call += 1) expectPage(await trusted.open(link), 200);
    expectPage(await trusted.open(link), 429);
  });

  it.each([
    ['/56', 20, 1],
    ['/48', 50, 256],
  ])('O129 limits all networks of an IPv6 %s to %i requests', async (_, limit, step) => {
    const prefix = `2001:db8:${limit}:`;
    const statusFrom = (each: number): Promise<number> =>
      statusOf(`${prefix}${(each * step).toString(16)}::1`);
    for (let each = 1; each <= limit; each += 1) expect(await statusFrom(each)).toBe(200);
    expect(await statusFrom(limit + 1)).toBe(429);
    expect(await statusOf('2001:db8:ff:ff00::1')).toBe(200);
  });

  it('counts HEAD like GET', async () => {
    for (let call = 0; call < 10; call += 1)
      expect(await statusOf('203.0.113.9', 'HEAD')).toBe(200);
    expect(await statusOf('203.0.113.9')).toBe(429);
    expect(await statusOf('203.0.113.9', 'HEAD')).toBe(429);
  });

  it('O144 accepts exactly ten of thirty concurrent requests and records the exceeded limit once', async () => {
    const { manager } = app().dataSource;
    const before = await manager.count(Authorization);
    const address = '203.0.113.10';
    const statuses = await concurrently(30, () => statusOf(address));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    expect((await manager.count(Authorization)) - before).toBe(10);
    const events = await manager.findBy(AuditEvent, { action: 'oauth.throttled', address });
    expect(events).toMatchObject([{ subject: 'authorize-calls-by-address', details: {} }]);
  });
});
