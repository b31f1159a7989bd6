import { SECOND, MINUTE, DAY } from '../../src/platform/clock.js';
import { sha256 } from '../../src/platform/secrets.js';
import { GrantUsageRecorder } from '../../src/modules/oauth/tokens/grant-usage-recorder.js';
import {
  AuthorizationCode,
  Grant,
  RefreshToken,
} from '../../src/modules/oauth/tokens/token.entities.js';
import { CallLog } from '../../src/modules/quota/calls/call-log.service.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { exchange, newCode, sendRefresh } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody } from '../support/responses.js';
import { TestApp, type TestClient, useTestApp } from '../support/test-app.js';

onOneEngine('Last use of a grant', (database) => {
  const app = useTestApp(database);
  let user: UserWithPhone;
  let client: TestClient;
  let token: string;

  beforeEach(async () => {
    user = await app().addUser();
    client = await app().addClient();
    token = await app().accessToken(user, client);
  });

  const lastUse = async (): Promise<Date | null> => {
    await app().service(GrantUsageRecorder).flush();
    const grants = await app().dataSource.getRepository(Grant).findBy({ userId: user.id });
    return grants[0]?.lastUsedAt ?? null;
  };

  const call = async (): Promise<void> => {
    expect((await app().call(token, 'GET', '/me')).status).toBe(200);
  };

  const isLastUseUpdate = (statement: string): boolean =>
    statement.startsWith('UPDATE grants SET last_used_at');

  it('O119 stores the last use for a call, but not for a rejected call', async () => {
    const denied = await app().call(`${token.slice(0, -1)}!`, 'GET', '/me');
    expect(denied.status).toBe(401);
    expect(await lastUse()).toBeNull();
    await call();
    expect(await lastUse()).toEqual(app().clock.now());
  });

  it('O146 stores the last use for a refresh and an exchange, but not for rejected ones', async () => {
    const code = await newCode(app(), client, user);
    const { refresh_token } = await json<TokenBody>(await exchange(app(), client, code));
    const { manager } = app().dataSource;
    const hash = sha256(refresh_token);
    const { grantId: id } = await manager.findOneByOrFail(RefreshToken, { hash });
    const lastUseOfGrant = async (): Promise<Date | null> => {
      await app().service(GrantUsageRecorder).flush();
      return (await manager.findOneByOrFail(Grant, { id })).lastUsedAt;
    };
    expect(await lastUseOfGrant()).toEqual(app().clock.now());
    app().clock.advance(MINUTE);
    expect((await sendRefresh(app(), client, refresh_token)).status).toBe(200);
    const last = app().clock.now();
    expect(await lastUseOfGrant()).toEqual(last);
    // Both are made unused again: the service rejects them because they have expired.
    app().clock.advance(31 * DAY);
    await manager.update(RefreshToken, { grantId: id }, { consumedAt: null });
    expect((await sendRefresh(app(), client, refresh_token)).status).toBe(400);
    await manager.update(AuthorizationCode, { grantId: id }, { consumedAt: null });
    expect((await exchange(app(), client, code)).status).toBe(400);
    expect(await lastUseOfGrant()).toEqual(last);
  });

  it('O119 stores the next use only after a minute', async () => {
    const first = app().clock.now();
    await call();
    expect(await lastUse()).toEqual(first);
    app().clock.advance(MINUTE - 1);
    await call();
    const statements = await app().statementsOf(() => app().service(GrantUsageRecorder).flush());
    expect(statements.filter(isLastUseUpdate)).toEqual([]);
    expect(await lastUse()).toEqual(first);
    app().clock.advance(1);
    await call();
    expect(await lastUse()).toEqual(app().clock.now());
  });

  it('O119 does not overwrite a use that another process stored within the minute', async () => {
    const storedUse = new Date(app().clock.now().getTime() - 10 * SECOND);
    const { manager } = app().dataSource;
    await manager.update(Grant, { userId: user.id }, { lastUsedAt: storedUse });
    await call();
    expect(await lastUse()).toEqual(storedUse);
  });

  it('O119 stores the last use of six grants after twelve calls with one statement, or with two if a new second begins between the calls', async () => {
    const tokens = [token];
    for (let each = 0; each < 5; each += 1)
      tokens.push(await app().accessToken(await app().addUser(), client));
    await app().service(GrantUsageRecorder).flush();
    const statements = await app().statementsOf(async () => {
      for (const each of [...tokens, ...tokens]) await app().call(each, 'GET', '/me');
      await app().service(GrantUsageRecorder).flush();
    });
    const written = statements.filter(isLastUseUpdate).length;
    expect([1, 2]).toContain(written);
  });

  it('O119 serves requests while uses cannot be stored, and stores them later', async () => {
    const { dataSource } = app();
    await app().service(CallLog).flush();
    await dataSource.query('ALTER TABLE grants RENAME COLUMN last_used_at TO hidden');
    await call();
    await app().service(GrantUsageRecorder).flush();
    await dataSource.query('ALTER TABLE grants RENAME COLUMN hidden TO last_used_at');
    expect(await lastUse()).toEqual(app().clock.now());
  });

  it('O119 stores pending uses before the process ends', async () => {
    const ending = await TestApp.start(database);
    ending.clock.set(app().clock.now().toISOString());
    expect((await ending.call(token, 'GET', '/me')).status).toBe(200);
    await ending.stop();
    expect(await lastUse()).toEqual(ending.clock.now());
  });
});
