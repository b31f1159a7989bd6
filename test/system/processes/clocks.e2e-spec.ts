import {
  AccessToken,
  Grant,
  RefreshToken,
} from '../../../src/modules/oauth/tokens/token.entities.js';
import { approve, exchange } from '../../support/oauth-flow.js';
import { Cluster } from '../../support/cluster.js';
import { onOneEngine } from '../../support/database.js';
import { json, type TokenBody } from '../../support/responses.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { TEST_LIMITS, useTestApp } from '../../support/test-app.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

onOneEngine('Token lifetimes in a process with TZ=Asia/Tokyo', (database) => {
  const app = useTestApp(database);
  let service: ServiceProcess;

  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    const env = { ...TEST_LIMITS, TZ: 'Asia/Tokyo', MIGRATE: '0', DEMO: '0' };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(() => service?.stop());

  it('O141 is ready, and stores and reports the default lifetimes', async () => {
    expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
    const client = await app().addClient();
    const site = new Cluster(service.baseUrl, [service]);
    const code = (await approve(site, await app().addUser(), client)).get('code') ?? '';
    const tokens = await json<TokenBody>(await exchange(site, client, code));
    expect(tokens.expires_in).toBe(3600);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await site.fetch('/dev/v1/me', { headers })).status).toBe(200);
    const { manager } = app().dataSource;
    for (const [entity, lifetime] of [
      [AccessToken, HOUR],
      [RefreshToken, 30 * DAY],
      [Grant, 180 * DAY],
    ] as const) {
      const [{ createdAt, expiresAt } = { createdAt: new Date(0), expiresAt: new Date(0) }] =
        await manager.find<{ createdAt: Date; expiresAt: Date }>(entity);
      expect(expiresAt.getTime() - createdAt.getTime()).toBe(lifetime);
      expect(Math.abs(Date.now() - createdAt.getTime())).toBeLessThan(MINUTE);
    }
  });
});
