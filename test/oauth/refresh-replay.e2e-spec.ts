import { sha256 } from '../../src/platform/secrets.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import {
  approve,
  exchange,
  isTokenAccepted,
  requestToken,
  sendForm,
} from '../support/oauth-flow.js';
import { onOneEngine, type TestDatabase } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import {
  dumpDatabase,
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const SECOND = 1000;
const DAY = 24 * 3_600 * SECOND;
const REQUESTS = 20;
/** Repeats within this time of the first use are one race. */
const RACE = 2 * SECOND;
const LATE = 4 * SECOND;

/** Creates an app, a user and the tokens of a grant for each test. */
function useGrant(database: TestDatabase, env?: Record<string, string>) {
  const app = useTestApp(database, env);
  const fixture = {} as { client: TestClient; user: UserWithPhone; first: TokenBody };
  beforeEach(async () => {
    fixture.client = await app().addClient();
    fixture.user = await app().addUser();
    const code = (await approve(app(), fixture.user, fixture.client)).get('code') ?? '';
    fixture.first = await json<TokenBody>(await exchange(app(), fixture.client, code));
  });

  function refresh(
    { refresh_token }: TokenBody,
    form: Record<string, string> = {},
    target = fixture.client,
  ): Promise<Response> {
    return requestToken(app(), target, { grant_type: 'refresh_token', refresh_token, ...form });
  }

  /** Asserts that a refresh succeeds. Returns the tokens of its response. */
  async function renew(tokens: TokenBody, form: Record<string, string> = {}): Promise<TokenBody> {
    const response = await refresh(tokens, form);
    expect(response.status).toBe(200);
    return json<TokenBody>(response);
  }

  const isAccepted = ({ access_token }: TokenBody): Promise<boolean> =>
    isTokenAccepted(app(), access_token);

  function rowOf({ refresh_token }: TokenBody): Promise<RefreshToken> {
    const hash = sha256(refresh_token);
    return app().dataSource.manager.findOneByOrFail(RefreshToken, { hash });
  }

  /** Expects that all tokens are rejected and that the audit log has one reuse and the revocation of the grant. */
  async function expectRevoked(...generations: TokenBody[]): Promise<void> {
    for (const tokens of generations) expect(await isAccepted(tokens)).toBe(false);
    for (const tokens of generations)
      await expectTokenError(await refresh(tokens), 'invalid_grant');
    const { clientId } = fixture.client;
    const details = { clientId, userId: fixture.user.id };
    const trail = await auditTrailOf(generations);
    const revocation = { actor: 'service', reason: 'refresh token reused', details };
    expect(trail).toContainEqual({ action: 'grant.revoked', ...revocation });
    const reuses = trail.filter(({ action }) => action === 'refresh_token.reused');
    expect(reuses).toEqual([
      { action: 'refresh_token.reused', actor: clientId, reason: null, details },
    ]);
  }

  async function auditTrailOf([tokens = fixture.first]: TokenBody[]) {
    const { grantId } = await rowOf(tokens);
    return auditTrail(app().dataSource, grantId);
  }

  /** The values of the metric of repeats, by kind. */
  async function replayCounts(): Promise<Record<string, number>> {
    const { registry } = app().service(Metrics);
    const { values = [] } =
      (await registry.getSingleMetric('oauth_refresh_replays_total')?.get()) ?? {};
    return Object.fromEntries(values.map(({ labels, value }) => [labels.kind, value]));
  }

  return {
    app,
    fixture,
    refresh,
    renew,
    isAccepted,
    rowOf,
    expectRevoked,
    auditTrailOf,
    replayCounts,
  };
}

onOneEngine('Reuse of a refresh token', (database) => {
  const grant = useGrant(database);
  const { app, fixture, refresh, renew, isAccepted, rowOf } = grant;
  const { expectRevoked, auditTrailOf, replayCounts } = grant;

  describe('Repeat within thirty seconds', () => {
    it.each([0, 1, 29_999, 30_000])(
      'O96 returns the same tokens after %d ms, with the remaining lifetime as expires_in',
      async (passed) => {
        const second = await renew(fixture.first);
        app().clock.advance(passed);
        const response = await refresh(fixture.first);
        expect(response.status).toBe(200);
        expectTokenHeaders(response);
        const expires_in = Math.ceil(3600 - passed / SECOND);
        expect(await json(response)).toEqual({ ...second, expires_in });
        expect(await isAccepted(second)).toBe(true);
        expect(await isAccepted(fixture.first)).toBe(true);
      },
    );

    it('O96 returns the same tokens any number of times, and they work', async () => {
      const second = await renew(fixture.first);
      for (let repeat = 1; repeat <= 5; repeat += 1)
        expect(await renew(fixture.first)).toEqual(second);
      const third = await renew(second);
      expect(await isAccepted(third)).toBe(true);
    });

    it('O96 returns the same tokens for the same scopes in another order, repeated, or named instead of omitted', async () => {
      const scope = 'profile.read posts.read';
      const second = await renew(fixture.first, { scope });
      for (const sameScopes of ['posts.read profile.read', 'posts.read profile.read posts.read'])
        expect(await renew(fixture.first, { scope: sameScopes })).toEqual(second);
      const third = await renew(second);
      expect(await renew(second, { scope: third.scope })).toEqual(third);
    });

    it('O96 rejects other scopes as invalid_scope and keeps the grant', async () => {
      const scope = 'profile.read';
      const second = await renew(fixture.first, { scope });
      await expectTokenError(await refresh(fixture.first), 'invalid_scope');
      for (const other of ['posts.read', 'profile.read posts.read', 'no.such'])
        await expectTokenError(await refresh(fixture.first, { scope: other }), 'invalid_scope');
      expect(await renew(fixture.first, { scope })).toEqual(second);
      expect(await isAccepted(second)).toBe(true);
      await renew(second);
    });

    it('O93 rejects another app as invalid_grant, and still repeats the tokens for their own app', async () => {
      const second = await renew(fixture.first);
      const otherApp = await app().addClient();
      await expectTokenError(await refresh(fixture.first, {}, otherApp), 'invalid_grant');
      expect(await renew(fixture.first)).toEqual(second);
      await renew(second);
    });

    it(`O100 returns one pair of tokens to ${REQUESTS} concurrent requests and stores one successor`, async () => {
      const calls = Array.from({ length: REQUESTS }, () => renew(fixture.first));
      const responses = await Promise.all(calls);
      expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
      const { grantId } = await rowOf(fixture.first);
      const { manager } = app().dataSource;
      expect(await manager.countBy(RefreshToken, { grantId })).toBe(2);
      const [second = fixture.first] = responses;
      expect(await isAccepted(second)).toBe(true);
      await renew(second);
    });

    it.each([0, LATE])(
      'O97 revokes the grant when the token is sent again %d ms after its use and the new access token was revoked',
      async (passed) => {
        const second = await renew(fixture.first);
        const revocation = { token: second.access_token };
        const revoked = await sendForm(app(), '/oauth/revoke', fixture.client, revocation);
        expect(revoked.status).toBe(200);
        expect(await isAccepted(fixture.first)).toBe(true);
        app().clock.advance(passed);
        const before = (await replayCounts()).reuse ?? 0;
        await expectTokenError(await refresh(fixture.first), 'invalid_grant');
        expect((await replayCounts()).reuse).toBe(before + 1);
        await expectRevoked(fixture.first, second);
      },
    );

    it('O96 returns the same tokens when an older access token was revoked', async () => {
      app().clock.advance(1);
      const second = await renew(fixture.first);
      await sendForm(app(), '/oauth/revoke', fixture.client, { token: fixture.first.access_token });
      expect(await renew(fixture.first)).toEqual(second);
    });

    it('O144 writes token.replayed, not token.refreshed, to the audit log for a repeat, and whether it was late', async () => {
      app().clock.advance(1);
      await renew(fixture.first);
      app().clock.advance(RACE);
      await renew(fixture.first);
      app().clock.advance(1);
      await renew(fixture.first);
      const { clientId } = fixture.client;
      const details = { clientId, userId: fixture.user.id };
      const entry = { actor: clientId, reason: null };
      const trail = await auditTrailOf([]);
      expect(trail.filter(({ action }) => action.startsWith('token.'))).toEqual([
        { action: 'token.issued', ...entry, details },
        { action: 'token.refreshed', ...entry, details },
        { action: 'token.replayed', ...entry, details: { ...details, late: false } },
        { action: 'token.replayed', ...entry, details: { ...details, late: true } },
      ]);
    });

    it('O133 stores no readable token, and the encrypted response of a used token only until its successor is used', async () => {
      const second = await renew(fixture.first);
      const { hash, encryptedResponse } = await rowOf(fixture.first);
      expect(encryptedResponse).not.toBeNull();
      expect(await rowOf(second)).toMatchObject({ predecessorHash: hash, encryptedResponse: null });
      expect(await dumpDatabase(app())).not.toMatch(/svc(at|rt)_/);
      await renew(second);
      expect((await rowOf(fixture.first)).encryptedResponse).toBeNull();
      expect((await rowOf(second)).encryptedResponse).not.toBeNull();
    });
  });

  describe('Repeat after more than two seconds', () => {
    it.each([1900, RACE])(
      'O96 returns the same tokens any number of times after %d ms, in every generation',
      async (passed) => {
        let tokens = fixture.first;
        for (let generation = 1; generation <= 6; generation += 1) {
          const next = await renew(tokens);
          app().clock.advance(passed);
          for (let repeat = 1; repeat <= 3; repeat += 1)
            expect((await renew(tokens)).refresh_token).toBe(next.refresh_token);
          expect((await rowOf(tokens)).replayedAt).toBeNull();
          tokens = next;
        }
      },
    );

    it.each([RACE + 1, 2100, 29_000, 29_999])(
      'O96 returns the same tokens after %d ms and for two seconds more; later, O97 revokes the grant',
      async (passed) => {
        const second = await renew(fixture.first);
        app().clock.advance(passed);
        expect((await renew(fixture.first)).refresh_token).toBe(second.refresh_token);
        const firstLateRepeat = app().clock.now();
        for (const more of [1, RACE - 1]) {
          app().clock.advance(more);
          expect((await renew(fixture.first)).refresh_token).toBe(second.refresh_token);
        }
        expect((await rowOf(fixture.first)).replayedAt).toEqual(firstLateRepeat);
        expect(await isAccepted(second)).toBe(true);
        app().clock.advance(1);
        await expectTokenError(await refresh(fixture.first), 'invalid_grant');
        await expectRevoked(fixture.first, second);
      },
    );

    it(`O96 returns the same tokens to ${REQUESTS} workers that repeat a lost refresh at once, and keeps the grant`, async () => {
      const second = await renew(fixture.first);
      app().clock.advance(LATE);
      const repeats = Array.from({ length: REQUESTS }, () => renew(fixture.first));
      for (const { refresh_token } of await Promise.all(repeats))
        expect(refresh_token).toBe(second.refresh_token);
      expect(await isAccepted(await renew(second))).toBe(true);
    });

    it.each([
      ['before', 'thief', 'app'],
      ['after', 'app', 'thief'],
    ])(
      'O97 revokes the grant in the second round of a thief who refreshes four seconds %s the app',
      async () => {
        // The one who comes second gets the tokens of the first, so both continue with the same tokens.
        const second = await renew(fixture.first);
        app().clock.advance(LATE);
        expect((await renew(fixture.first)).refresh_token).toBe(second.refresh_token);
        app().clock.advance(3600 * SECOND);
        const third = await renew(second);
        app().clock.advance(LATE);
        await expectTokenError(await refresh(second), 'invalid_grant');
        await expectRevoked(second, third);
      },
    );

    it('O97 revokes the grant for a second late repeat in a row even if it has another scope', async () => {
      const second = await renew(fixture.first);
      app().clock.advance(LATE);
      await renew(fixture.first);
      const third = await renew(second);
      app().clock.advance(LATE);
      await expectTokenError(await refresh(second, { scope: 'no.such' }), 'invalid_grant');
      await expectRevoked(second, third);
    });

    it('O96 counts again from one after a generation without a late repeat', async () => {
      let tokens = fixture.first;
      for (let generation = 0; generation < 6; generation += 1) {
        const next = await renew(tokens);
        const isLate = generation % 2 === 0;
        app().clock.advance(isLate ? LATE : 1900);
        expect((await renew(tokens)).refresh_token).toBe(next.refresh_token);
        expect((await rowOf(tokens)).replayedAt).toEqual(isLate ? app().clock.now() : null);
        tokens = next;
      }
      expect(await isAccepted(tokens)).toBe(true);
    });

    it('O96 does not count a late repeat that is rejected', async () => {
      const second = await renew(fixture.first);
      app().clock.advance(LATE);
      await expectTokenError(
        await refresh(fixture.first, { scope: 'posts.read' }),
        'invalid_scope',
      );
      expect((await renew(fixture.first)).refresh_token).toBe(second.refresh_token);
    });

    it('counts repeats in a metric by their kind', async () => {
      const { race = 0, late = 0, reuse = 0 } = await replayCounts();
      await renew(fixture.first);
      await renew(fixture.first);
      await renew(fixture.first);
      app().clock.advance(LATE);
      await renew(fixture.first);
      await renew(fixture.first);
      app().clock.advance(RACE + 1);
      await refresh(fixture.first);
      await refresh(fixture.first);
      expect(await replayCounts()).toEqual({ race: race + 3, late: late + 1, reuse: reuse + 1 });
    });
  });

  describe('Reuse after thirty seconds or after the use of the successor', () => {
    it.each([30_001, 5 * 60 * SECOND])(
      'O97 revokes the grant when the token is reused after %d ms',
      async (passed) => {
        const second = await renew(fixture.first);
        app().clock.advance(passed);
        expect(await isAccepted(second)).toBe(true);
        await expectTokenError(await refresh(fixture.first), 'invalid_grant');
        await expectRevoked(fixture.first, second);
      },
    );

    it('O97 revokes the grant at once when the successor was used', async () => {
      const second = await renew(fixture.first);
      const third = await renew(second);
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await expectRevoked(fixture.first, second, third);
    });

    it.each(['posts.read', 'no.such', ' '])(
      'O97 revokes the grant even if the reuse requests the scope "%s"',
      async (scope) => {
        const second = await renew(fixture.first);
        app().clock.advance(31 * SECOND);
        await expectTokenError(await refresh(fixture.first, { scope }), 'invalid_grant');
        await expectRevoked(fixture.first, second);
      },
    );

    it('O97 revokes the grant when the reused token has expired', async () => {
      const second = await renew(fixture.first);
      app().clock.advance(20 * DAY);
      const third = await renew(second);
      app().clock.advance(20 * DAY);
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await expectRevoked(third);
    });

    it('O97 revokes the grant when the stored response was changed', async () => {
      const second = await renew(fixture.first);
      const { hash, encryptedResponse } = await rowOf(fixture.first);
      const tampered = `${encryptedResponse?.slice(0, -4)}AAAA`;
      await app().dataSource.manager.update(
        RefreshToken,
        { hash },
        { encryptedResponse: tampered },
      );
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await expectRevoked(fixture.first, second);
    });

    it('O97 revokes the grant while the user is blocked', async () => {
      const second = await renew(fixture.first);
      app().clock.advance(31 * SECOND);
      const users = app().dataSource.getRepository(User);
      await users.update({ id: fixture.user.id }, { status: 'blocked' });
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await users.update({ id: fixture.user.id }, { status: 'active' });
      await expectRevoked(fixture.first, second);
    });

    it('O99 rejects a repeat within thirty seconds for a blocked user, and keeps the grant', async () => {
      const second = await renew(fixture.first);
      const users = app().dataSource.getRepository(User);
      await users.update({ id: fixture.user.id }, { status: 'blocked' });
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await users.update({ id: fixture.user.id }, { status: 'active' });
      expect(await renew(fixture.first)).toEqual(second);
    });

    it('O97 keeps the grant when another app sends the token', async () => {
      const second = await renew(fixture.first);
      app().clock.advance(31 * SECOND);
      const otherApp = await app().addClient();
      await expectTokenError(await refresh(fixture.first, {}, otherApp), 'invalid_grant');
      await renew(second);
    });

    it('O98 returns the third pair of tokens again for the second refresh token, and revokes the grant when the first is reused', async () => {
      const second = await renew(fixture.first);
      const third = await renew(second);
      expect(await renew(second)).toEqual(third);
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await expectRevoked(second, third);
    });

    it('O99 rejects all refresh tokens of a revoked grant', async () => {
      const second = await renew(fixture.first);
      const { grantId } = await rowOf(second);
      const grants = app().service(GrantsService);
      await app()
        .service(TransactionRunner)
        .run((tx) => grants.revoke(tx, grantId, { actor: 'test' }));
      for (const tokens of [fixture.first, second])
        await expectTokenError(await refresh(tokens), 'invalid_grant');
      const actions = (await auditTrailOf([second])).map(({ action }) => action);
      expect(actions.filter((action) => action === 'grant.revoked')).toHaveLength(1);
      expect(actions).not.toContain('token.replayed');
    });

    it('O102 keeps the grant when an unused token has expired', async () => {
      app().clock.advance(30 * DAY);
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      const actions = (await auditTrailOf([])).map(({ action }) => action);
      expect(actions).not.toContain('grant.revoked');
    });
  });
});

onOneEngine('Reuse of a refresh token: access tokens of ten seconds', (database) => {
  const { app, fixture, renew } = useGrant(database, { OAUTH_ACCESS_TOKEN_SECONDS: '10' });

  it.each([
    [9000, 1],
    [9999, 1],
    [20_000, 1],
  ])(
    'O96 returns the same tokens after %d ms with an expires_in of %d',
    async (passed, expected) => {
      const second = await renew(fixture.first);
      app().clock.advance(passed);
      expect(await renew(fixture.first)).toEqual({ ...second, expires_in: expected });
      app().clock.advance(SECOND);
      await renew(second);
    },
  );
});

onOneEngine('Reuse of a refresh token: two processes', (database) => {
  const { app, fixture, renew, rowOf, expectRevoked } = useGrant(database);
  let other: TestApp;
  beforeAll(async () => {
    other = await TestApp.start(database);
  });
  afterAll(() => other?.stop());

  /** Sends the refresh to the other process, whose clock differs from that of the first process. */
  function refreshThere({ refresh_token }: TokenBody, { clockAhead = 0 } = {}): Promise<Response> {
    other.clock.set(new Date(app().clock.now().getTime() + clockAhead).toISOString());
    return requestToken(other, fixture.client, { grant_type: 'refresh_token', refresh_token });
  }

  it('O97 revokes the grant when the late repeats in a row reach different processes', async () => {
    const second = await renew(fixture.first);
    app().clock.advance(LATE);
    expect((await refreshThere(fixture.first)).status).toBe(200);
    const third = await renew(second);
    app().clock.advance(LATE);
    await expectTokenError(await refreshThere(second), 'invalid_grant');
    await expectRevoked(second, third);
  });

  it('O96 treats a repeat at a process whose clock is behind as a race', async () => {
    const second = await renew(fixture.first);
    const response = await refreshThere(fixture.first, { clockAhead: -5 * SECOND });
    expect((await json<TokenBody>(response)).refresh_token).toBe(second.refresh_token);
    expect((await rowOf(fixture.first)).replayedAt).toBeNull();
  });
});
