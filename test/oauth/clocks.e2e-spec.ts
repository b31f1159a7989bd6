import { vi } from 'vitest';
import { addMilliseconds, MINUTE, HOUR, DAY } from '../../src/platform/clock.js';
import { AccessToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { Browser } from '../support/browser.js';
import { newCode, authorizeLink, exchange, sendRefresh } from '../support/oauth-flow.js';
import { databaseTime, onOneEngine } from '../support/database.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { TestApp } from '../support/test-app.js';
import { VERIFY, submitPhone } from '../support/sign-in.js';

const CONNECTIONS = 4;
const SESSION_ZONE = '-05:00';

onOneEngine('Clocks: a process with TZ=Asia/Tokyo, database sessions at UTC-5', (database) => {
  let app: TestApp;

  beforeAll(async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    app = await TestApp.start(database, { DB_POOL_SIZE: String(CONNECTIONS) });
    if (database.engine.kind === 'sqlite') return;
    // As many concurrent statements as connections take one connection each.
    const queryAllConnections = (sql: string): Promise<unknown[]> =>
      Promise.all(Array.from({ length: CONNECTIONS }, () => app.dataSource.query(sql)));
    await queryAllConnections(`SET SESSION time_zone = '${SESSION_ZONE}'`);
    const zones = await queryAllConnections('SELECT @@session.time_zone AS zone, SLEEP(0.05)');
    expect(zones).toMatchObject(
      Array.from({ length: CONNECTIONS }, () => [{ zone: SESSION_ZONE }]),
    );
  });
  afterAll(async () => {
    await app?.stop();
    vi.unstubAllEnvs();
  });

  it('O45 O141 accepts a one-time password for five minutes', async () => {
    // The process is in the zone of Tokyo, nine hours ahead of UTC.
    expect(new Date('2026-01-02T03:04:05Z').getHours()).toBe(12);
    const client = await app.addClient();
    for (const [age, title] of [
      [5 * MINUTE - 1, /wants to|access/i],
      [5 * MINUTE, /^Error:/],
    ] as const) {
      const user = await app.addUser();
      const visitor = new Browser(app);
      const codePage = await submitPhone(visitor, authorizeLink(client), user.phone);
      const code = await app.sms.password(user.phone);
      app.clock.advance(age);
      const page = await visitor.submit(codePage, VERIFY, { code });
      expect(page.title).toMatch(title);
    }
  });

  it('O69 O102 O141 accepts an authorization code for five minutes, an access token for an hour, a refresh token for thirty days', async () => {
    const client = await app.addClient();
    const refresh = (refresh_token: string): Promise<Response> =>
      sendRefresh(app, client, refresh_token);
    const [inTime, late] = [await newCode(app, client), await newCode(app, client)];
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

  describe('a machine whose clock is wrong', () => {
    beforeAll(() => app.databaseClock.useReal());

    it.each([0, 4000, 6000, -6000, 365 * DAY, -365 * DAY])(
      'O141 is ready although its clock is off by %d ms, and stores the times of the database server',
      async (offsetMs) => {
        const client = await app.addClient();
        app.clock.set(addMilliseconds(await databaseTime(database), offsetMs).toISOString());
        const response = await app.fetch('/readyz');
        expect([response.status, await json(response)]).toEqual([200, { status: 'ok' }]);
        // Other tests use future times.
        await app.dataSource.manager.clear(AccessToken);
        const tokens = await json<TokenBody>(
          await exchange(app, client, await newCode(app, client)),
        );
        expect(tokens.expires_in).toBe(3600);
        expect((await app.call(tokens.access_token, 'GET', '/me')).status).toBe(200);
        const [row] = await app.dataSource.manager.find(AccessToken);
        const expected = database.engine.kind === 'sqlite' ? app.clock.now() : new Date();
        expect(Math.abs(Number(row?.createdAt) - expected.getTime())).toBeLessThan(2000);
      },
    );

    it.skipIf(database.engine.kind === 'sqlite')(
      'O141 corrects its times within seconds after its clock was set, without a probe',
      async () => {
        app.clock.set((await databaseTime(database)).toISOString());
        await app.fetch('/readyz');
        const client = await app.addClient();
        const tokens = await json<TokenBody>(
          await exchange(app, client, await newCode(app, client)),
        );
        app.clock.advance(400 * DAY);
        const status = async () => (await app.call(tokens.access_token, 'GET', '/me')).status;
        expect(await status()).toBe(401);
        await expect.poll(status, { timeout: 10_000 }).toBe(200);
      },
    );
  });
});
