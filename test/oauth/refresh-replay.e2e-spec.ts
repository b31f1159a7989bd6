import { sha256 } from '../../src/common/secrets.js';
import { GrantRevocation } from '../../src/modules/oauth/grants/grant-revocation.js';
import { RefreshToken } from '../../src/modules/oauth/token/refresh-token.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { approve, exchange, requestToken, sendForm } from '../support/oauth-flow.js';
import { onOneEngine, type TestDatabase } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import * as grants from '../support/oauth-flow.js';
import {
  dumpDatabase,
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { type TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const SECOND = 1000;
const DAY = 24 * 3_600 * SECOND;
const RACERS = 50;

/** What the tests below do with the tokens of one grant, new for each test. */
function useGrant(database: TestDatabase, env?: Record<string, string>) {
  const app = useTestApp(database, env);
  const given = {} as { client: TestClient; user: User; first: TokenBody };
  beforeEach(async () => {
    given.client = await app().addClient();
    given.user = await app().addUser();
    const code = (await approve(app(), given.user, given.client)).get('code') ?? '';
    given.first = await json<TokenBody>(await exchange(app(), given.client, code));
  });

  function refresh(
    { refresh_token }: TokenBody,
    form: Record<string, string> = {},
    by = given.client,
  ): Promise<Response> {
    return requestToken(app(), by, { grant_type: 'refresh_token', refresh_token, ...form });
  }

  async function renew(tokens: TokenBody, form: Record<string, string> = {}): Promise<TokenBody> {
    const answer = await refresh(tokens, form);
    expect(answer.status).toBe(200);
    return json<TokenBody>(answer);
  }

  const opens = ({ access_token }: TokenBody): Promise<boolean> =>
    grants.isTokenAccepted(app(), access_token);

  function rowOf({ refresh_token }: TokenBody): Promise<RefreshToken> {
    const hash = sha256(refresh_token);
    return app().dataSource.manager.findOneByOrFail(RefreshToken, { hash });
  }

  /** Expects that the last refresh token and every access token are dead. */
  async function expectEnded(...generations: TokenBody[]): Promise<void> {
    for (const tokens of generations) expect(await opens(tokens)).toBe(false);
    for (const tokens of generations)
      await expectTokenError(await refresh(tokens), 'invalid_grant');
    const { clientId } = given.client;
    const details = { clientId, userId: given.user.id };
    const trail = await told(generations);
    const ending = { actor: 'service', reason: 'refresh token reused', details };
    expect(trail).toContainEqual({ action: 'grant.revoked', ...ending });
    const thefts = trail.filter(({ action }) => action === 'refresh_token.reused');
    expect(thefts).toEqual([
      { action: 'refresh_token.reused', actor: clientId, reason: null, details },
    ]);
  }

  async function told([tokens = given.first]: TokenBody[]) {
    const { grantId } = await rowOf(tokens);
    return auditTrail(app().dataSource, grantId);
  }

  const site = (): TestApp => app();
  return { app: site, given, refresh, renew, opens, rowOf, expectEnded, told };
}

onOneEngine('A used refresh token that comes back in time', (database) => {
  const { app, given, refresh, renew, opens, rowOf, told } = useGrant(database);

  it.each([0, 1, 29_999, 30_000])(
    'O96 after %d ms gets the same tokens again, with less time left',
    async (passed) => {
      const second = await renew(given.first);
      app().clock.advance(passed);
      const answer = await refresh(given.first);
      expect(answer.status).toBe(200);
      expectTokenHeaders(answer);
      const expires_in = Math.ceil(3600 - passed / SECOND);
      expect(await json(answer)).toEqual({ ...second, expires_in });
      expect(await opens(second)).toBe(true);
      expect(await opens(given.first)).toBe(true);
    },
  );

  it('O96 gets them as often as it asks, and they are the ones that work', async () => {
    const second = await renew(given.first);
    for (let time = 0; time < 5; time += 1) expect(await renew(given.first)).toEqual(second);
    const third = await renew(second);
    expect(await opens(third)).toBe(true);
  });

  it('O96 with the same scopes in other words gets the same', async () => {
    const scope = 'profile.read posts.read';
    const second = await renew(given.first, { scope });
    for (const words of ['posts.read profile.read', 'posts.read profile.read posts.read'])
      expect(await renew(given.first, { scope: words })).toEqual(second);
    const third = await renew(second);
    expect(await renew(second, { scope: third.scope })).toEqual(third);
  });

  it('O96 with other scopes is an invalid_scope, which ends nothing', async () => {
    const scope = 'profile.read';
    const second = await renew(given.first, { scope });
    await expectTokenError(await refresh(given.first), 'invalid_scope');
    for (const other of ['posts.read', 'profile.read posts.read', 'no.such'])
      await expectTokenError(await refresh(given.first, { scope: other }), 'invalid_scope');
    expect(await renew(given.first, { scope })).toEqual(second);
    expect(await opens(second)).toBe(true);
    await renew(second);
  });

  it('O93 from another app is an invalid_grant, and its owner notices nothing', async () => {
    const second = await renew(given.first);
    const thief = await app().addClient();
    await expectTokenError(await refresh(given.first, {}, thief), 'invalid_grant');
    expect(await renew(given.first)).toEqual(second);
    await renew(second);
  });

  it(`O100 ${RACERS} times at once gets one pair, of which one successor is stored`, async () => {
    const calls = Array.from({ length: RACERS }, () => renew(given.first));
    const answers = await Promise.all(calls);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const { grantId } = await rowOf(given.first);
    const { manager } = app().dataSource;
    expect(await manager.countBy(RefreshToken, { grantId })).toBe(2);
    const [second = given.first] = answers;
    expect(await opens(second)).toBe(true);
    await renew(second);
  });

  it('O96 gets nothing any more when the access token was given back, which ends nothing', async () => {
    const second = await renew(given.first);
    expect(
      (await sendForm(app(), '/oauth/revoke', given.client, { token: second.access_token })).status,
    ).toBe(200);
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    expect(await opens(second)).toBe(false);
    expect(await opens(await renew(second))).toBe(true);
  });

  it('O96 still gets them when an older access token was given back', async () => {
    app().clock.advance(1);
    const second = await renew(given.first);
    await sendForm(app(), '/oauth/revoke', given.client, { token: given.first.access_token });
    expect(await renew(given.first)).toEqual(second);
  });

  it('O144 is told apart from a refresh in the audit log', async () => {
    app().clock.advance(1);
    await renew(given.first);
    app().clock.advance(1);
    await renew(given.first);
    const { clientId } = given.client;
    const entry = { actor: clientId, reason: null, details: { clientId, userId: given.user.id } };
    const trail = await told([]);
    expect(trail.filter(({ action }) => action.startsWith('token.'))).toEqual(
      ['token.issued', 'token.refreshed', 'token.replayed'].map((action) => ({ action, ...entry })),
    );
  });

  it('O133 leaves no token readable in any table, and the answer only until its successor is used', async () => {
    const second = await renew(given.first);
    const { hash, sealedAnswer } = await rowOf(given.first);
    expect(sealedAnswer).not.toBeNull();
    expect(await rowOf(second)).toMatchObject({ predecessorHash: hash, sealedAnswer: null });
    expect(await dumpDatabase(app())).not.toMatch(/svc(at|rt)_/);
    await renew(second);
    expect((await rowOf(given.first)).sealedAnswer).toBeNull();
    expect((await rowOf(second)).sealedAnswer).not.toBeNull();
  });
});

onOneEngine('A used refresh token that comes back too late', (database) => {
  const { app, given, refresh, renew, opens, rowOf, expectEnded, told } = useGrant(database);

  it.each([30_001, 5 * 60 * SECOND])('O97 ends its grant %d ms after its use', async (passed) => {
    const second = await renew(given.first);
    app().clock.advance(passed);
    expect(await opens(second)).toBe(true);
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    await expectEnded(given.first, second);
  });

  it('O97 ends its grant at once when the successor was used', async () => {
    const second = await renew(given.first);
    const third = await renew(second);
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    await expectEnded(given.first, second, third);
  });

  it.each(['posts.read', 'no.such', ' '])(
    'O97 ends it, too, with the scope "%s"',
    async (scope) => {
      const second = await renew(given.first);
      app().clock.advance(31 * SECOND);
      await expectTokenError(await refresh(given.first, { scope }), 'invalid_grant');
      await expectEnded(given.first, second);
    },
  );

  it('O97 ends it, too, when its own thirty days are long over', async () => {
    const second = await renew(given.first);
    app().clock.advance(20 * DAY);
    const third = await renew(second);
    app().clock.advance(20 * DAY);
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    await expectEnded(third);
  });

  it('O97 ends it when the stored answer was tampered with', async () => {
    const second = await renew(given.first);
    const { hash, sealedAnswer } = await rowOf(given.first);
    const tampered = `${sealedAnswer?.slice(0, -4)}AAAA`;
    await app().dataSource.manager.update(RefreshToken, { hash }, { sealedAnswer: tampered });
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    await expectEnded(given.first, second);
  });

  it('O97 ends it while its user is blocked, too', async () => {
    const second = await renew(given.first);
    app().clock.advance(31 * SECOND);
    const users = app().dataSource.getRepository(User);
    await users.update({ id: given.user.id }, { status: 'blocked' });
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    await users.update({ id: given.user.id }, { status: 'active' });
    await expectEnded(given.first, second);
  });

  it('O99 In time, a blocked user gets nothing again, and keeps the grant', async () => {
    const second = await renew(given.first);
    const users = app().dataSource.getRepository(User);
    await users.update({ id: given.user.id }, { status: 'blocked' });
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    await users.update({ id: given.user.id }, { status: 'active' });
    expect(await renew(given.first)).toEqual(second);
  });

  it('O97 ends nothing when another app shows it', async () => {
    const second = await renew(given.first);
    app().clock.advance(31 * SECOND);
    const other = await app().addClient();
    await expectTokenError(await refresh(given.first, {}, other), 'invalid_grant');
    await renew(second);
  });

  it('O98 The second of three still gets the third, and the first ends them all', async () => {
    const second = await renew(given.first);
    const third = await renew(second);
    expect(await renew(second)).toEqual(third);
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    await expectEnded(second, third);
  });

  it('O99 No refresh token of a revoked grant gets anything, however early it comes', async () => {
    const second = await renew(given.first);
    const { grantId } = await rowOf(second);
    await app().service(GrantRevocation).revoke(grantId, { actor: 'test' });
    for (const tokens of [given.first, second])
      await expectTokenError(await refresh(tokens), 'invalid_grant');
    const actions = (await told([second])).map(({ action }) => action);
    expect(actions.filter((action) => action === 'grant.revoked')).toHaveLength(1);
    expect(actions).not.toContain('token.replayed');
  });

  it('O102 One that only expired ends nothing', async () => {
    app().clock.advance(30 * DAY);
    await expectTokenError(await refresh(given.first), 'invalid_grant');
    const actions = (await told([])).map(({ action }) => action);
    expect(actions).not.toContain('grant.revoked');
  });
});

onOneEngine('Access tokens of ten seconds', (database) => {
  const { app, given, renew } = useGrant(database, { OAUTH_ACCESS_TOKEN_SECONDS: '10' });

  it.each([
    [9000, 1],
    [9999, 1],
    [20_000, 1],
  ])('O96 after %d ms are repeated with an expires_in of %d', async (passed, expected) => {
    const second = await renew(given.first);
    app().clock.advance(passed);
    expect(await renew(given.first)).toEqual({ ...second, expires_in: expected });
    app().clock.advance(SECOND);
    await renew(second);
  });
});
