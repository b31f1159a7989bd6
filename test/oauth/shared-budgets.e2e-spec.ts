import { AuditEvent } from '../../src/audit/audit-event.entity.js';
import { ThrottleHit } from '../../src/modules/oauth/throttle/throttle-hit.entity.js';
import type { Site } from '../support/browser.js';
import { requestToken } from '../support/oauth-flow.js';
import { concurrently } from '../support/cluster.js';
import { onOneEngine } from '../support/database.js';
import { TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;

async function call(
  site: Site,
  client: TestClient,
  address: string,
  secret = client.secret,
): Promise<number> {
  const form = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: secret };
  return (await requestToken(site, client, form, { 'x-forwarded-for': address })).status;
}

function fail(site: Site, client: TestClient, address: string): Promise<number> {
  return call(site, client, address, 'wrong');
}

onOneEngine('Budgets under many calls at once', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    OAUTH_TOKEN_FAILURES: '20',
    OAUTH_TOKEN_ADDRESS_FAILURES: '20',
    OAUTH_TOKEN_CALLS: '10',
  });

  beforeEach(() => app().clock.advance(DAY));

  async function throttled(address: string): Promise<Pick<AuditEvent, 'subject' | 'details'>[]> {
    const where = { action: 'oauth.throttled', address };
    const events = await app().dataSource.manager.find(AuditEvent, {
      where,
      order: { subject: 'ASC' },
    });
    return events.map(({ subject, details }) => ({ subject, details }));
  }

  it('O144 Of a hundred failures at once, each budget that they spent is written down once', async () => {
    const client = await app().addClient();
    const address = '203.0.113.40';
    const statuses = await concurrently(100, () => fail(app(), client, address));
    for (const status of statuses) expect([401, 429]).toContain(status);
    expect(await fail(app(), client, address)).toBe(429);
    const details = { claimedClientId: client.clientId };
    expect(await throttled(address)).toEqual([
      { subject: 'token-failures-by-address', details },
      { subject: 'token-failures-by-app-and-address', details },
    ]);
  });

  it('O129 Of thirty calls at once exactly ten pass, and the spent budget is written down once', async () => {
    const client = await app().addClient();
    const address = '203.0.113.41';
    const statuses = await concurrently(30, () => call(app(), client, address));
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    expect(await throttled(address)).toEqual([
      { subject: 'token-calls-by-client', details: { clientId: client.clientId } },
    ]);
  });
});

onOneEngine('Budgets of several processes', (database) => {
  const env = { TRUST_PROXY: '1', OAUTH_TOKEN_FAILURES: '20' };
  const started: TestApp[] = [];
  const start = async (): Promise<TestApp> => {
    const app = await TestApp.start(database, env);
    started.push(app);
    return app;
  };
  const stop = (): Promise<void[]> => Promise.all(started.splice(0).map((app) => app.stop()));
  afterAll(stop);

  it('O132 Two share them, and a restart forgets nothing', async () => {
    const address = '203.0.113.50';
    const [first, second] = [await start(), await start()];
    const client = await first.addClient();
    for (const app of [first, second])
      for (let each = 0; each < 10; each += 1) expect(await fail(app, client, address)).toBe(401);
    for (const app of [first, second]) expect(await fail(app, client, address)).toBe(429);
    await stop();
    expect(await fail(await start(), client, address)).toBe(429);
  });
});

onOneEngine('What budgets leave in the database', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    OAUTH_TOKEN_FAILURES: '20',
    OAUTH_TOKEN_ADDRESS_FAILURES: '100',
  });

  it('O132 Three hundred client_ids from one address leave two rows for each that was counted', async () => {
    for (let each = 0; each < 300; each += 1) {
      const clientId = `svc_app_${String(each).padStart(26, '0')}`;
      await fail(app(), { clientId } as TestClient, '203.0.113.60');
    }
    expect(await app().dataSource.manager.count(ThrottleHit)).toBeLessThanOrEqual(2 * (100 + 1));
  });
});
