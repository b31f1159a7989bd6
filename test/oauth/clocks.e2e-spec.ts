import { vi } from 'vitest';
import { later } from '../../src/common/clock.js';
import { Grant } from '../../src/modules/oauth/grants/grant.entity.js';
import { AccessToken } from '../../src/modules/oauth/token/access-token.entity.js';
import { RefreshToken } from '../../src/modules/oauth/token/refresh-token.entity.js';
import { Browser } from '../support/browser.js';
import { approve, authorizeLink, exchange, requestToken } from '../support/oauth-flow.js';
import { Cluster } from '../support/cluster.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';
import { runSql } from '../support/sql.js';
import { MANY_SIGN_INS, TestApp, useTestApp } from '../support/test-app.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NEW_YORK = '-05:00';

onOneEngine('Readiness and the clock of the database', (database) => {
  const app = useTestApp(database);

  /** The database's own clock, or this machine's, whose clock SQLite has. */
  async function databaseTime(): Promise<Date> {
    if (database.engine.kind === 'sqlite') return new Date();
    const [row] = await runSql(database.url, 'SELECT UNIX_TIMESTAMP(NOW(3)) * 1000 AS now');
    return new Date(Number(row?.now));
  }

  async function readiness(off: number): Promise<{ status: number; reason?: string }> {
    app().clock.set(later(await databaseTime(), off).toISOString());
    const answer = await app().fetch('/readyz');
    const { reason } = await json<{ reason?: string }>(answer);
    return { status: answer.status, reason };
  }

  it.each([0, 4000, -4000])('O141 A clock that is %d ms off is ready', async (off) => {
    expect(await readiness(off)).toEqual({ status: 200 });
  });

  it.each([
    [6000, /^the clock of this process is \d+\.\d s ahead of the database's: .*\(NTP\)$/],
    [-6000, /^the clock of this process is \d+\.\d s behind the database's: .*\(NTP\)$/],
    [365 * DAY, /ahead of the database's/],
    [-365 * DAY, /behind the database's/],
  ])('O141 A clock that is %d ms off is not, and says what to do', async (off, words) => {
    const unready = { status: 503, reason: expect.stringMatching(words) };
    const expected = database.engine.kind === 'sqlite' ? { status: 200 } : unready;
    expect(await readiness(off)).toEqual(expected);
  });

  it('O141 Is ready again when its clock is right again', async () => {
    await readiness(HOUR);
    expect(await readiness(0)).toEqual({ status: 200 });
  });
});

onOneEngine('Lifetimes with the app in Tokyo and the database in New York', (database) => {
  let app: TestApp;

  beforeAll(async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    app = await TestApp.start(database, { DB_POOL_SIZE: '4' });
    if (database.engine.kind === 'sqlite') return;
    // So many at once take every connection of the pool, each its own.
    const onAll = (sql: string): Promise<unknown[]> =>
      Promise.all(Array.from({ length: 4 }, () => app.dataSource.query(sql)));
    await onAll(`SET SESSION time_zone = '${NEW_YORK}'`);
    const zones = await onAll('SELECT @@session.time_zone AS zone, SLEEP(0.05)');
    expect(zones).toMatchObject(Array.from({ length: 4 }, () => [{ zone: NEW_YORK }]));
  });
  afterAll(async () => {
    await app?.stop();
    vi.unstubAllEnvs();
  });

  it('O141 A one-time password is good for five minutes', async () => {
    expect(new Date('2026-01-02T03:04:05Z').getHours()).toBe(12);
    const client = await app.addClient();
    for (const [age, title] of [
      [5 * MINUTE - 1, /wants to|access/i],
      [5 * MINUTE, /^Error:/],
    ] as const) {
      const user = await app.addUser();
      const visitor = new Browser(app);
      const phonePage = await visitor.open(authorizeLink(client));
      const fields = { phone: user.phone };
      const codePage = await visitor.submit(phonePage, '/oauth/authorize/sign-in', fields);
      const code = await app.sms.password(user.phone);
      app.clock.advance(age);
      const page = await visitor.submit(codePage, '/oauth/authorize/verify', { code });
      expect(page.title).toMatch(title);
    }
  });

  it('O141 A code lives for five minutes, an access token for an hour, a refresh token for thirty days', async () => {
    const client = await app.addClient();
    const newCode = async (): Promise<string> =>
      (await approve(app, await app.addUser(), client)).get('code') ?? '';
    const refresh = (refresh_token: string): Promise<Response> =>
      requestToken(app, client, { grant_type: 'refresh_token', refresh_token });
    const [inTime, late] = [await newCode(), await newCode()];
    app.clock.advance(5 * MINUTE - 1);
    const tokens = await json<TokenBody>(await exchange(app, client, inTime));
    app.clock.advance(1);
    await expectTokenError(await exchange(app, client, late), 'invalid_grant');
    app.clock.advance(HOUR - 2);
    expect((await app.call(tokens.access_token, 'GET', '/me')).status).toBe(200);
    app.clock.advance(1);
    expect((await app.call(tokens.access_token, 'GET', '/me')).status).toBe(401);
    app.clock.advance(30 * DAY - HOUR - 1);
    const next = await json<TokenBody>(await refresh(tokens.refresh_token));
    app.clock.advance(30 * DAY);
    await expectTokenError(await refresh(next.refresh_token), 'invalid_grant');
  });
});

onOneEngine('A process whose machine is set to Tokyo', (database) => {
  const app = useTestApp(database);
  let service: ServiceProcess;

  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    const env = { ...MANY_SIGN_INS, TZ: 'Asia/Tokyo', MIGRATE: '0', DEMO: '0' };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(() => service?.stop());

  it('O141 Is ready, and stores and tells the same lifetimes', async () => {
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
