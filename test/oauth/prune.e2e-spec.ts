import { addMilliseconds, SECOND, MINUTE, HOUR, DAY } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { newSecret, sha256 } from '../../src/platform/secrets.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { Authorization } from '../../src/modules/oauth/authorize/authorization.entity.js';
import {
  AccessToken,
  AuthorizationCode,
  Grant,
  RefreshToken,
} from '../../src/modules/oauth/tokens/token.entities.js';
import {
  OtpChallenge,
  OtpFailures,
  SignInSession,
} from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import {
  LOCK_SLOT,
  RateLimitHit,
  TrustedDevice,
} from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { RateLimiter } from '../../src/modules/oauth/rate-limit/rate-limiter.js';
import { Retention } from '../../src/modules/operations/retention.js';
import { deleteAllRows } from '../support/fixtures.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { exchange, newCode, obtainTokens, sendRefresh } from '../support/oauth-flow.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import {
  type TestClient,
  useTestApp,
  rateLimits,
  type TestApp,
  UNLIMITED,
} from '../support/test-app.js';

/** For each table, a function that returns its entity and a row that has expired at `now`. Each number results in another row. */
const EXPIRED_ROWS: Record<string, (number: number, now: Date) => [new () => object, object]> = {
  access_tokens: (number, now) => [
    AccessToken,
    {
      hash: sha256(`access ${number}`),
      grantId: 'grt_none',
      scope: 'posts.read',
      createdAt: now,
      expiresAt: addMilliseconds(now, -HOUR - number),
    },
  ],
  throttle_hits: (number, now) => [
    RateLimitHit,
    {
      hash: sha256(`hit ${number % 7}`),
      slot: addMilliseconds(now, -2 * DAY - number * 15_000),
      hits: 1,
    },
  ],
  known_browsers: (number, now) => [
    TrustedDevice,
    {
      browserHash: sha256(`browser ${number}`),
      phone: '+14155550101',
      signedInAt: addMilliseconds(now, -400 * DAY - number),
    },
  ],
};

async function insertExpired(app: TestApp, table: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, number) =>
    EXPIRED_ROWS[table]?.(number, app.clock.now()),
  );
  for (let from = 0; from < count; from += 500) {
    const batch = rows.slice(from, from + 500).flatMap((row) => row?.slice(1) ?? []);
    await app.dataSource.manager.insert(rows[0]?.[0] ?? '', batch);
  }
}

onOneEngine('Retention: expired rows', (database) => {
  const app = useTestApp(database);
  const now = (): Date => app().clock.now();
  const ago = (milliseconds: number): Date => addMilliseconds(now(), -milliseconds);
  const prune = (): Retention => app().service(Retention);
  const countRows = (entity: new () => object): Promise<number> =>
    app().dataSource.manager.count(entity);
  let client: TestClient;

  beforeEach(async () => {
    await deleteAllRows(app().dataSource);
    client = await app().addClient();
  });

  const refresh = (refreshToken: string): Promise<Response> =>
    sendRefresh(app(), client, refreshToken);

  async function insertGrant(grant: Partial<Grant>): Promise<string> {
    const id = newId('grt', now());
    const scope = 'posts.read';
    await app().dataSource.manager.insert(Grant, {
      id,
      userId: newId('usr', now()),
      clientId: client.clientId,
      scope,
      requestedScope: scope,
      createdAt: ago(200 * DAY),
      expiresAt: addMilliseconds(now(), DAY),
      revokedAt: null,
      ...grant,
    });
    return id;
  }

  /** Inserts a row that expires at this time into each table of short-lived rows. */
  async function insertShortLived(expiresAt: Date): Promise<void> {
    const { manager } = app().dataSource;
    const [id, hash, createdAt] = [newId('txn', now()), sha256(newSecret('svcat')), ago(DAY)];
    const timestamps = { createdAt, expiresAt };
    await manager.insert(Authorization, {
      ...timestamps,
      id,
      clientId: client.clientId,
      redirectUri: 'https://garden.example/callback',
      scope: 'posts.read',
      state: 's',
      browserHash: hash,
    });
    const otp = { ...timestamps, id, phone: '+14155550101', codeHash: hash };
    await manager.insert(OtpChallenge, { ...otp, attempts: 0 });
    await manager.insert(SignInSession, { ...timestamps, hash, userId: newId('usr', now()) });
    await manager.insert(AccessToken, {
      ...timestamps,
      hash,
      grantId: await insertGrant({}),
      scope: 'posts.read',
    });
  }

  it('O142 deletes authorization requests, one-time passwords, sign-in sessions and access tokens a minute after they expire', async () => {
    await insertShortLived(ago(MINUTE));
    await insertShortLived(ago(MINUTE - 1));
    const expected = {
      authorizations: 1,
      otp_challenges: 1,
      sign_in_sessions: 1,
      access_tokens: 1,
    };
    expect(await prune().preview()).toMatchObject(expected);
    expect(await prune().run()).toMatchObject({ ...expected, grants: 0, refresh_tokens: 0 });
    for (const entity of [Authorization, OtpChallenge, SignInSession, AccessToken])
      expect(await countRows(entity)).toBe(1);
    const left = await app().dataSource.manager.find(AccessToken);
    expect(left.map(({ expiresAt }) => expiresAt)).toEqual([ago(MINUTE - 1)]);
  });

  it('O142 O56 deletes the failures of a phone after 90 days, a lock and trusted devices after 400', async () => {
    const { manager } = app().dataSource;
    await manager.insert(OtpFailures, [
      { phone: '+1', failures: 3, lastAttemptAt: ago(90 * DAY), lockedUntil: null },
      { phone: '+2', failures: 100, lastAttemptAt: ago(401 * DAY), lockedUntil: now() },
      {
        phone: '+3',
        failures: 100,
        lastAttemptAt: ago(400 * DAY - 1),
        lockedUntil: addMilliseconds(now(), 1),
      },
      { phone: '+4', failures: 3, lastAttemptAt: ago(90 * DAY - 1), lockedUntil: null },
      {
        phone: '+5',
        failures: 100,
        lastAttemptAt: ago(400 * DAY),
        lockedUntil: addMilliseconds(now(), 1),
      },
    ]);
    const browserHash = sha256('browser');
    await manager.insert(TrustedDevice, [
      { browserHash, phone: '+1', signedInAt: ago(400 * DAY) },
      { browserHash, phone: '+2', signedInAt: ago(400 * DAY - 1) },
    ]);
    expect(await prune().run()).toMatchObject({ otp_failures: 3, known_browsers: 1 });
    const phones = (await manager.find(OtpFailures)).map(({ phone }) => phone);
    expect(phones.toSorted()).toEqual(['+3', '+4']);
    expect(await manager.find(TrustedDevice)).toMatchObject([{ phone: '+2' }]);
  });

  it('O142 keeps a row that changed after it was selected', async () => {
    const { manager } = app().dataSource;
    await manager.insert(OtpFailures, { phone: '+1', failures: 3, lastAttemptAt: ago(401 * DAY) });
    const expired = app().service(Retention).expired(now());
    const search = expired.find(({ table }) => table === 'otp_failures')?.batches();
    const remove = (await search?.next())?.value;
    if (!remove) throw new Error('The search found no row.');
    await manager.update(OtpFailures, { phone: '+1' }, { failures: 4, lastAttemptAt: now() });
    expect(await app().service(TransactionRunner).run(remove)).toBe(0);
    expect(await countRows(OtpFailures)).toBe(1);
  });

  it('O142 deletes attempts after two days, and the lock rows of keys without attempts', async () => {
    const { manager } = app().dataSource;
    const hit = (key: string, slot: Date) => ({ hash: sha256(key), slot, hits: 1 });
    await manager.clear(RateLimitHit);
    await manager.insert(RateLimitHit, [
      hit('quiet', LOCK_SLOT),
      hit('quiet', ago(2 * DAY)),
      hit('busy', LOCK_SLOT),
      hit('busy', ago(2 * DAY)),
      hit('busy', ago(2 * DAY - 1)),
      hit('never counted', LOCK_SLOT),
    ]);
    expect((await prune().preview()).throttle_hits).toBe(4);
    expect((await prune().run()).throttle_hits).toBe(4);
    const left = await manager.find(RateLimitHit, { order: { slot: 'ASC' } });
    expect(left).toEqual([hit('busy', LOCK_SLOT), hit('busy', ago(2 * DAY - 1))]);
  });

  it('O142 accepts exactly as many attempts as the limit while lock rows are pruned', async () => {
    const limiter = app().service(RateLimiter);
    const runner = app().service(TransactionRunner);
    for (let round = 1; round <= 5; round += 1) {
      const hits = [{ limit: { name: 'pruned', max: 5, windowMs: HOUR }, key: `key ${round}` }];
      await app().dataSource.manager.insert(RateLimitHit, {
        hash: sha256(`pruned|key ${round}`),
        slot: LOCK_SLOT,
        hits: 1,
      });
      const attempts = Array.from({ length: 20 }, () =>
        runner.run((tx) => limiter.addAllIfAllowed(tx, hits)),
      );
      const [results] = await Promise.all([
        Promise.all(attempts),
        ...Array.from({ length: 3 }, () => prune().run()),
      ]);
      expect(results.filter(({ isCounted }) => isCounted)).toHaveLength(5);
      expect(await auditTrail(app().dataSource, 'pruned')).toHaveLength(round);
    }
  });

  it('O142 deletes unused codes and refresh tokens a day after they expire', async () => {
    const { manager } = app().dataSource;
    const grantId = await insertGrant({});
    const row = { grantId, createdAt: ago(40 * DAY), consumedAt: null };
    for (const expiresAt of [ago(DAY), ago(DAY - 1)]) {
      const hash = sha256(newSecret('svcac'));
      await manager.insert(AuthorizationCode, { ...row, hash, redirectUri: 'x:/', expiresAt });
      await manager.insert(RefreshToken, { ...row, hash, expiresAt });
    }
    expect(await prune().run()).toMatchObject({ authorization_codes: 1, refresh_tokens: 1 });
    for (const entity of [AuthorizationCode, RefreshToken])
      expect(await manager.find(entity)).toMatchObject([{ expiresAt: ago(DAY - 1) }]);
  });

  it('O142 clears the stored response of a used refresh token a minute after its retry window ends, and does not count that as a deletion', async () => {
    const first = await obtainTokens(app(), client);
    const next = await json<TokenBody>(await refresh(first.refresh_token));
    const usedToken = async (): Promise<RefreshToken> =>
      app().dataSource.manager.findOneByOrFail(RefreshToken, { hash: sha256(first.refresh_token) });
    expect((await usedToken()).responseExpiresAt).toEqual(addMilliseconds(now(), 30 * SECOND));
    app().clock.advance(30 * SECOND + MINUTE - 1);
    await prune().run();
    expect((await usedToken()).encryptedResponse).not.toBeNull();
    app().clock.advance(1);
    expect(await prune().preview()).toMatchObject({ refresh_tokens: 0 });
    expect((await usedToken()).encryptedResponse).not.toBeNull();
    expect(await prune().run()).toMatchObject({ refresh_tokens: 0 });
    const { consumedAt, encryptedResponse, responseExpiresAt } = await usedToken();
    expect({ encryptedResponse, responseExpiresAt }).toEqual({
      encryptedResponse: null,
      responseExpiresAt: null,
    });
    expect(consumedAt).not.toBeNull();
    expect((await refresh(next.refresh_token)).status).toBe(200);
    await expectTokenError(await refresh(first.refresh_token), 'invalid_grant');
  });

  it('O142 keeps a used refresh token for the refresh token lifetime after its use, so that its reuse revokes the grant', async () => {
    const first = await obtainTokens(app(), client);
    const second = await json<TokenBody>(await refresh(first.refresh_token));
    app().clock.advance(29 * DAY);
    expect(await prune().run()).toMatchObject({ refresh_tokens: 0, authorization_codes: 0 });
    const third = await json<TokenBody>(await refresh(second.refresh_token));
    app().clock.advance(2 * DAY - 1);
    expect(await prune().run()).toMatchObject({ refresh_tokens: 0 });
    app().clock.advance(1);
    expect(await prune().run()).toMatchObject({ refresh_tokens: 1, authorization_codes: 0 });
    await expectTokenError(await refresh(first.refresh_token), 'invalid_grant');
    const newest = await json<TokenBody>(await refresh(third.refresh_token));
    app().clock.advance(MINUTE);
    await expectTokenError(await refresh(third.refresh_token), 'invalid_grant');
    expect((await app().call(newest.access_token, 'GET', '/me')).status).toBe(401);
    await expectTokenError(await refresh(newest.refresh_token), 'invalid_grant');
  });

  it('O142 keeps used codes, so that their reuse revokes the grant', async () => {
    const code = await newCode(app(), client);
    const { refresh_token } = await json<TokenBody>(await exchange(app(), client, code));
    app().clock.advance(20 * DAY);
    await prune().run();
    const newest = await json<TokenBody>(await refresh(refresh_token));
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    expect((await app().call(newest.access_token, 'GET', '/me')).status).toBe(401);
  });

  it.each(['revokedAt', 'expiresAt'] as const)(
    'O142 deletes the tokens and codes of an ended grant (%s), and the grant 90 days later',
    async (endColumn) => {
      const { refresh_token } = await obtainTokens(app(), client);
      await refresh(refresh_token);
      app().clock.advance(SECOND);
      await obtainTokens(app(), client);
      const [ended, live] = await app().dataSource.manager.find(Grant, { order: { id: 'ASC' } });
      await app().dataSource.manager.update(Grant, { id: ended?.id }, { [endColumn]: ago(MINUTE) });
      const expected = { access_tokens: 2, refresh_tokens: 2, authorization_codes: 1, grants: 0 };
      expect(await prune().preview()).toMatchObject(expected);
      expect(await prune().run()).toMatchObject(expected);
      for (const entity of [AccessToken, RefreshToken, AuthorizationCode])
        expect(await app().dataSource.manager.find(entity)).toMatchObject([{ grantId: live?.id }]);
      app().clock.advance(90 * DAY - MINUTE - 1);
      expect(await prune().run()).toMatchObject({ grants: 0 });
      app().clock.advance(1);
      expect(await prune().preview()).toMatchObject({ grants: 1 });
      expect(await prune().run()).toMatchObject({ grants: 1 });
      expect(await app().dataSource.manager.find(Grant)).toMatchObject([{ id: live?.id }]);
    },
  );

  it('O142 counts each row once when several rules delete it', async () => {
    const { manager } = app().dataSource;
    const revokedAndExpired = { revokedAt: ago(100 * DAY), expiresAt: ago(95 * DAY) };
    const grantId = await insertGrant(revokedAndExpired);
    const row = { grantId, createdAt: ago(200 * DAY), expiresAt: ago(95 * DAY) };
    for (const consumedAt of [null, ago(99 * DAY)]) {
      const hash = sha256(newSecret('svcrt'));
      await manager.insert(RefreshToken, { ...row, hash, consumedAt });
      await manager.insert(AuthorizationCode, { ...row, hash, redirectUri: 'x:/', consumedAt });
      await manager.insert(AccessToken, { ...row, hash, scope: 'posts.read' });
    }
    const counts = { access_tokens: 2, refresh_tokens: 2, authorization_codes: 2, grants: 1 };
    expect(await prune().preview()).toMatchObject(counts);
    expect(await prune().run()).toMatchObject(counts);
    expect(Object.values(await prune().preview()).every((count) => count === 0)).toBe(true);
  });
});

onOneEngine('Retention: runs', (database) => {
  // One test refreshes a few grants without a pause.
  const env = rateLimits({ 'grant-refreshes-per-hour': UNLIMITED });
  const firstApp = useTestApp(database, env);
  const secondApp = useTestApp(database, env);

  // On SQLite two connections of one process would wait for each other until the busy timeout.
  const processes = () =>
    database.engine.kind === 'sqlite' ? [firstApp(), firstApp()] : [firstApp(), secondApp()];

  beforeEach(async () => {
    for (const app of [firstApp(), secondApp()]) app.clock.set('2026-11-21T09:30:00.000Z');
    await deleteAllRows(firstApp().dataSource);
  });

  it.each(Object.keys(EXPIRED_ROWS))(
    'O142 deletes at most a thousand rows of %s in a transaction',
    async (table) => {
      await insertExpired(firstApp(), table, 2100);
      const deletedByTransaction: number[] = [];
      const { manager } = firstApp().dataSource;
      const entity = EXPIRED_ROWS[table]?.(0, new Date())[0] ?? '';
      const statements = await firstApp().statementsOf(() => firstApp().service(Retention).run());
      for (const statement of statements) {
        if (/^(START|BEGIN)/.test(statement)) deletedByTransaction.push(0);
        if (statement.startsWith('DELETE'))
          deletedByTransaction.push((deletedByTransaction.pop() ?? 0) + keysIn(statement));
      }
      expect(deletedByTransaction).toEqual([1000, 1000, 100]);
      expect(await manager.count(entity)).toBe(0);
    },
  );

  it('O142 stops at its deadline, and a later run deletes the remaining rows', async () => {
    await insertExpired(firstApp(), 'known_browsers', 10);
    const { dataSource, clock } = firstApp();
    const deadline = clock.now();
    expect(await firstApp().service(Retention).run({ stopAt: deadline })).toMatchObject({
      known_browsers: 0,
    });
    expect(
      await firstApp()
        .service(Retention)
        .run({ stopAt: addMilliseconds(deadline, 1) }),
    ).toMatchObject({
      known_browsers: 10,
    });
    expect(await dataSource.manager.count(TrustedDevice)).toBe(0);
  });

  it('O142 deletes each row once in two concurrent manual runs', async () => {
    await insertExpired(firstApp(), 'access_tokens', 2100);
    await insertExpired(firstApp(), 'throttle_hits', 2100);
    const runs = await Promise.all(processes().map((app) => app.service(Retention).run()));
    const sum = (table: string): number =>
      runs.reduce((total, tables) => total + (tables[table] ?? 0), 0);
    expect([sum('access_tokens'), sum('throttle_hits')]).toEqual([2100, 2100]);
    expect(await firstApp().service(Retention).run()).toMatchObject({
      access_tokens: 0,
      throttle_hits: 0,
    });
  });

  it('O142 does not disturb concurrent refreshes and sign-ins', async () => {
    const client = await firstApp().addClient();
    const code = (): Promise<string> => newCode(firstApp(), client);
    for (let number = 1; number <= 4; number += 1) await exchange(firstApp(), client, await code());
    for (const { id } of await firstApp().dataSource.manager.find(Grant, { take: 2 }))
      await firstApp().dataSource.manager.update(Grant, { id }, { revokedAt: new Date(0) });
    for (const table of Object.keys(EXPIRED_ROWS)) await insertExpired(firstApp(), table, 1100);
    const members = await Promise.all(
      Array.from({ length: 3 }, async () =>
        json<TokenBody>(await exchange(firstApp(), client, await code())),
      ),
    );
    const stop = new AbortController();
    const pruning = Promise.all(processes().map((app) => app.service(Retention).run())).finally(
      () => {
        stop.abort();
      },
    );
    let refreshes = 0;
    const refreshing = members.map(async ({ refresh_token }) => {
      for (let current = refresh_token; !stop.signal.aborted; refreshes += 1) {
        const response = await sendRefresh(firstApp(), client, current);
        expect(response.status).toBe(200);
        const next = await json<TokenBody>(response);
        expect((await firstApp().call(next.access_token, 'GET', '/me')).status).toBe(200);
        current = next.refresh_token;
      }
    });
    await expect(exchange(firstApp(), client, await code())).resolves.toMatchObject({
      status: 200,
    });
    await Promise.all([pruning, ...refreshing]);
    expect(refreshes).toBeGreaterThan(members.length);
    expect(await firstApp().dataSource.manager.countBy(AccessToken, { grantId: 'grt_none' })).toBe(
      0,
    );
  });
});

/** The number of keys in a DELETE statement. */
function keysIn(statement: string): number {
  const [list = ''] = /\bIN ?\([?, ]+\)/.exec(statement) ?? [];
  return list === '' ? statement.split(' OR ').length : list.split('?').length - 1;
}
