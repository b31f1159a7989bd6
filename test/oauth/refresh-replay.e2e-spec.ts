import { addMilliseconds, SECOND, DAY } from '../../src/platform/clock.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { databaseTime, onOneEngine, onOneServer, type TestDatabase } from '../support/database.js';
import { issueTokens, type Tokens, useGrant } from '../support/grant.js';
import { auditTrail } from '../support/logs.js';
import { sendForm } from '../support/oauth-flow.js';
import {
  dumpDatabase,
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { TestApp } from '../support/test-app.js';

const REQUESTS = 20;
/** Repeats within this time of the first use are one race. */
const RACE = 2 * SECOND;
const LATE = 4 * SECOND;

/** A grant whose revocation can be asserted. */
function useRevocableGrant(database: TestDatabase) {
  const grant = useGrant(database);
  const { app, fixture, refresh, isAccepted, rowOf } = grant;

  async function auditTrailOf(tokens = fixture.first) {
    return auditTrail(app().dataSource, (await rowOf(tokens)).grantId);
  }

  /** Expects that all tokens are rejected and that the audit log has one reuse and the revocation of the grant. */
  async function expectRevoked(...generations: Tokens[]): Promise<void> {
    for (const tokens of generations) expect(await isAccepted(tokens)).toBe(false);
    for (const tokens of generations)
      await expectTokenError(await refresh(tokens), 'invalid_grant');
    const { clientId } = fixture.client;
    const details = { clientId, userId: fixture.user.id };
    const trail = await auditTrailOf(generations[0]);
    const revocation = { actor: 'service', reason: 'refresh token reused', details };
    expect(trail).toContainEqual({ action: 'grant.revoked', ...revocation });
    const reuses = trail.filter(({ action }) => action === 'refresh_token.reused');
    expect(reuses).toEqual([
      { action: 'refresh_token.reused', actor: clientId, reason: null, details },
    ]);
  }

  return { ...grant, auditTrailOf, expectRevoked };
}

onOneEngine('Reuse of a refresh token', (database) => {
  const grant = useRevocableGrant(database);
  const { app, fixture, refresh, renew, isAccepted, rowOf, auditTrailOf, expectRevoked } = grant;

  /** Asserts that the used token revokes the grant. The second argument are the later tokens of the grant. */
  async function expectReuse(
    tokens: Tokens,
    later: readonly Tokens[],
    form?: Record<string, string>,
  ): Promise<void> {
    await expectTokenError(await refresh(tokens, form), 'invalid_grant');
    await expectRevoked(tokens, ...later);
  }

  /** Asserts that a used token returns the refresh token of the first response again. */
  async function expectRepeated(tokens: Tokens, { refresh_token }: Tokens): Promise<void> {
    expect((await renew(tokens)).refresh_token).toBe(refresh_token);
  }

  async function setUserStatus(status: 'active' | 'blocked'): Promise<void> {
    await app().dataSource.manager.update(User, { id: fixture.user.id }, { status });
  }

  /** The values of the metric of repeats, by kind. */
  async function replayCounts(): Promise<Record<string, number>> {
    const { registry } = app().service(Metrics);
    const { values = [] } =
      (await registry.getSingleMetric('oauth_refresh_replays_total')?.get()) ?? {};
    return Object.fromEntries(values.map(({ labels, value }) => [labels.kind, value]));
  }

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

    it('O96 returns the same tokens for the same scopes in another order, repeated, or named instead of omitted', async () => {
      const scope = 'profile.read posts.read';
      const second = await renew(fixture.first, { scope });
      for (const sameScopes of ['posts.read profile.read', 'posts.read profile.read posts.read'])
        expect(await renew(fixture.first, { scope: sameScopes })).toEqual(second);
      const third = await renew(second);
      expect(await renew(second, { scope: third.scope })).toEqual(third);
    });

    it('O96 rejects other scopes as invalid_scope, names the one that was used, and keeps the grant', async () => {
      const scope = 'profile.read';
      const second = await renew(fixture.first, { scope });
      const rejected = await refresh(fixture.first);
      expect(await rejected.clone().json()).toMatchObject({
        error_description: expect.stringContaining(`used with another scope: ${scope}.`) as string,
      });
      await expectTokenError(rejected, 'invalid_scope');
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

    it('O144 counts repeats by their kind, and writes token.replayed, not token.refreshed, to the audit log, and whether it was late', async () => {
      const { race = 0, late = 0, reuse = 0 } = await replayCounts();
      // Events of the same millisecond have no order.
      for (const passed of [1, RACE, 1, 1, RACE + 1]) {
        app().clock.advance(passed);
        await refresh(fixture.first);
      }
      await refresh(fixture.first);
      expect(await replayCounts()).toEqual({ race: race + 2, late: late + 1, reuse: reuse + 1 });
      const { clientId } = fixture.client;
      const details = { clientId, userId: fixture.user.id };
      const entry = { actor: clientId, reason: null };
      const trail = await auditTrailOf();
      expect(trail.filter(({ action }) => action.startsWith('token.re'))).toEqual([
        { action: 'token.refreshed', ...entry, details },
        { action: 'token.replayed', ...entry, details: { ...details, late: false } },
        { action: 'token.replayed', ...entry, details: { ...details, late: true } },
        { action: 'token.replayed', ...entry, details: { ...details, late: false } },
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
          for (let repeat = 1; repeat <= 3; repeat += 1) await expectRepeated(tokens, next);
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
        await expectRepeated(fixture.first, second);
        const firstLateRepeat = app().clock.now();
        for (const more of [1, RACE - 1]) {
          app().clock.advance(more);
          await expectRepeated(fixture.first, second);
        }
        expect((await rowOf(fixture.first)).replayedAt).toEqual(firstLateRepeat);
        expect(await isAccepted(second)).toBe(true);
        app().clock.advance(1);
        await expectReuse(fixture.first, [second]);
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

    it.each([undefined, { scope: 'no.such' }])(
      'O97 revokes the grant in the second round of a thief who refreshes four seconds before or after the app, with any scope: %j',
      async (form) => {
        // The one who comes second gets the tokens of the first, so both continue with the same tokens.
        const second = await renew(fixture.first);
        app().clock.advance(LATE);
        await expectRepeated(fixture.first, second);
        app().clock.advance(3600 * SECOND);
        const third = await renew(second);
        app().clock.advance(LATE);
        await expectReuse(second, [third], form);
      },
    );

    it('O96 counts again from one after a generation without a late repeat', async () => {
      let tokens = fixture.first;
      for (let generation = 0; generation < 6; generation += 1) {
        const next = await renew(tokens);
        const isLate = generation % 2 === 0;
        app().clock.advance(isLate ? LATE : 1900);
        await expectRepeated(tokens, next);
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
      await expectRepeated(fixture.first, second);
    });
  });

  describe('Reuse after thirty seconds or after the use of the successor', () => {
    it.each([
      [30_001, undefined],
      [5 * 60 * SECOND, undefined],
      [31 * SECOND, { scope: 'posts.read' }],
      [31 * SECOND, { scope: 'no.such' }],
      [31 * SECOND, { scope: ' ' }],
    ])(
      'O97 revokes the grant when the token is reused after %d ms, with any scope: %j',
      async (passed, form) => {
        const second = await renew(fixture.first);
        app().clock.advance(passed);
        expect(await isAccepted(second)).toBe(true);
        await expectReuse(fixture.first, [second], form);
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
      const tampered = { encryptedResponse: `${encryptedResponse?.slice(0, -4)}AAAA` };
      await app().dataSource.manager.update(RefreshToken, { hash }, tampered);
      await expectReuse(fixture.first, [second]);
    });

    it('O97 revokes the grant while the user is blocked', async () => {
      const second = await renew(fixture.first);
      app().clock.advance(31 * SECOND);
      await setUserStatus('blocked');
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await setUserStatus('active');
      await expectRevoked(fixture.first, second);
    });

    it('O99 rejects a repeat within thirty seconds for a blocked user, and keeps the grant', async () => {
      const second = await renew(fixture.first);
      await setUserStatus('blocked');
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      await setUserStatus('active');
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
      await sendForm(app(), '/oauth/revoke', fixture.client, { token: second.refresh_token });
      for (const tokens of [fixture.first, second])
        await expectTokenError(await refresh(tokens), 'invalid_grant');
      const actions = (await auditTrailOf(second)).map(({ action }) => action);
      expect(actions.filter((action) => action === 'grant.revoked')).toHaveLength(1);
      expect(actions).not.toContain('token.replayed');
    });

    it('O102 keeps the grant when an unused token has expired', async () => {
      app().clock.advance(30 * DAY);
      await expectTokenError(await refresh(fixture.first), 'invalid_grant');
      const actions = (await auditTrailOf()).map(({ action }) => action);
      expect(actions).not.toContain('grant.revoked');
    });
  });
});

onOneEngine('Reuse of a refresh token: access tokens of ten seconds', (database) => {
  const { app, fixture, renew } = useGrant(database, { OAUTH_ACCESS_TOKEN_SECONDS: '10' });

  it.each([9000, 9999, 20_000])(
    'O96 returns the same tokens after %d ms with an expires_in of 1',
    async (passed) => {
      const second = await renew(fixture.first);
      app().clock.advance(passed);
      expect(await renew(fixture.first)).toEqual({ ...second, expires_in: 1 });
      app().clock.advance(SECOND);
      await renew(second);
    },
  );
});

onOneEngine('Reuse of a refresh token: two processes', (database) => {
  const { app, fixture, refresh, renew, expectRevoked } = useRevocableGrant(database);
  let other: TestApp;
  beforeAll(async () => {
    other = await TestApp.start(database);
  });
  afterAll(() => other?.stop());

  /** Sends the refresh to the other process. */
  function refreshThere(tokens: Tokens): Promise<Response> {
    other.clock.set(app().clock.now().toISOString());
    return refresh(tokens, {}, fixture.client, other);
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
});

onOneServer('Reuse of a refresh token: two processes with wrong clocks', (database) => {
  const { app, fixture, refresh, rowOf, isAccepted } = useRevocableGrant(database);
  let other: TestApp;
  beforeAll(async () => {
    other = await TestApp.start(database);
    for (const each of [app(), other]) each.databaseClock.useReal();
  });
  afterAll(() => other?.stop());

  it.each([
    [4600, 0],
    [0, 4600],
    [-4600, 4600],
    [300 * SECOND, -300 * SECOND],
  ])(
    'O96 O141 treats refreshes at the same moment as a race if the clocks are off by %d and %d ms',
    async (...offsets) => {
      for (const [index, each] of [app(), other].entries()) {
        const time = addMilliseconds(await databaseTime(database), offsets[index] ?? 0);
        each.clock.set(time.toISOString());
        expect((await each.fetch('/readyz')).status).toBe(200);
      }
      fixture.first = await issueTokens(app(), fixture.client, fixture.user);
      const responses = await Promise.all(
        [app(), other].map((each) => refresh(fixture.first, {}, fixture.client, each)),
      );
      expect(responses.map(({ status }) => status)).toEqual([200, 200]);
      const [one, two] = await Promise.all(responses.map((each) => json<TokenBody>(each)));
      expect(two?.refresh_token).toBe(one?.refresh_token);
      expect((await rowOf(fixture.first)).replayedAt).toBeNull();
      expect(await isAccepted(one as TokenBody)).toBe(true);
    },
  );
});
