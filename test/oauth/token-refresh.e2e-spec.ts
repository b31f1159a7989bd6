import { sha256 } from '../../src/common/secrets.js';
import { AppsService } from '../../src/modules/oauth/apps/apps.service.js';
import { GrantRevocation } from '../../src/modules/oauth/grants/grant-revocation.js';
import { RefreshToken } from '../../src/modules/oauth/token/refresh-token.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { approve, exchange, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import * as grants from '../support/oauth-flow.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;

onOneEngine('The refresh of an access token', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: User;
  let tokens: TokenBody;

  async function newTokens(of: TestClient, parameters = {}): Promise<TokenBody> {
    const code = (await approve(app(), user, of, parameters)).get('code') ?? '';
    return json<TokenBody>(await exchange(app(), of, code));
  }

  function refresh(
    refreshToken: string | undefined,
    form: Record<string, string> = {},
    of = client,
  ): Promise<Response> {
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return requestToken(app(), of, { ...grant, ...form });
  }

  const opens = (accessToken: string): Promise<boolean> =>
    grants.isTokenAccepted(app(), accessToken);

  async function grantOf(refreshToken: string): Promise<string> {
    const hash = sha256(refreshToken);
    const { manager } = app().dataSource;
    return (await manager.findOneByOrFail(RefreshToken, { hash })).grantId;
  }

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    tokens = await newTokens(client);
  });

  it.each(['confidential', 'public'] as const)(
    'O91 A %s app gets a new access token and a new refresh token',
    async (kind) => {
      const any = await app().addClient({ kind });
      const first = await newTokens(any);
      const answer = await refresh(first.refresh_token, {}, any);
      expect(answer.status).toBe(200);
      expectTokenHeaders(answer);
      const second = await json<TokenBody>(answer);
      expect(second).toEqual({
        access_token: expect.stringMatching(/^svcat_[A-Za-z0-9_-]{43}$/),
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: expect.stringMatching(/^svcrt_[A-Za-z0-9_-]{43}$/),
        scope: first.scope,
      });
      expect(second.access_token).not.toBe(first.access_token);
      expect(second.refresh_token).not.toBe(first.refresh_token);
      expect(await opens(second.access_token)).toBe(true);
    },
  );

  it('O92 A missing refresh_token is an invalid_request', async () => {
    await expectTokenError(await refresh(undefined), 'invalid_request');
  });

  it('O92 An unknown one, an access token or a code is an invalid_grant', async () => {
    const code = (await approve(app(), user, client)).get('code') ?? '';
    const others = ['x', `svcrt_${'A'.repeat(43)}`, tokens.access_token, code, 'x'.repeat(9000)];
    for (const other of others) await expectTokenError(await refresh(other), 'invalid_grant');
  });

  it('O93 Another app cannot use it, its owner still can, and the audit log names the other', async () => {
    const other = await app().addClient();
    await expectTokenError(await refresh(tokens.refresh_token, {}, other), 'invalid_grant');
    expect(await opens(tokens.access_token)).toBe(true);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
    const trail = await auditTrail(app().dataSource, await grantOf(tokens.refresh_token));
    expect(trail).toContainEqual({
      action: 'token.foreign',
      actor: other.clientId,
      reason: null,
      details: { clientId: client.clientId, userId: user.id },
    });
  });

  it('O94 A smaller scope narrows the access token alone', async () => {
    const narrow = await json<TokenBody>(
      await refresh(tokens.refresh_token, { scope: 'posts.read profile.read posts.read' }),
    );
    expect(narrow.scope).toBe('profile.read posts.read');
    const post = await app().call(narrow.access_token, 'POST', '/posts', { content: 'Hello' });
    expect(post.status).toBe(403);
    const full = await json<TokenBody>(await refresh(narrow.refresh_token));
    expect(full.scope).toBe(tokens.scope);
  });

  it('O95 A wider scope is an invalid_scope and spends nothing', async () => {
    const { refresh_token } = await newTokens(client, { scopes: ['profile.read', 'posts.read'] });
    for (const scope of ['posts.write', 'profile.read posts.write', 'no.such', '  ']) {
      await expectTokenError(await refresh(refresh_token, { scope }), 'invalid_scope');
    }
    const { scope } = await json<TokenBody>(await refresh(refresh_token));
    expect(scope).toBe('profile.read posts.read');
  });

  it('O92 An expired one is an invalid_grant, whatever scope is asked for', async () => {
    const { refresh_token } = await newTokens(client, { scopes: ['posts.read'] });
    app().clock.advance(30 * DAY);
    for (const scope of ['posts.read posts.write', 'no.such'])
      await expectTokenError(await refresh(refresh_token, { scope }), 'invalid_grant');
  });

  it('O102 It lives for thirty days without use', async () => {
    app().clock.advance(30 * DAY - 1);
    const second = await json<TokenBody>(await refresh(tokens.refresh_token));
    app().clock.advance(30 * DAY);
    await expectTokenError(await refresh(second.refresh_token), 'invalid_grant');
  });

  it('O102 No refresh goes past 180 days after the grant', async () => {
    let current = tokens.refresh_token;
    for (let days = 20; days < 180; days += 20) {
      app().clock.advance(20 * DAY);
      current = (await json<TokenBody>(await refresh(current))).refresh_token;
    }
    app().clock.advance(20 * DAY);
    await expectTokenError(await refresh(current), 'invalid_grant');
  });

  it('O103 The old access token works until its own end', async () => {
    app().clock.advance(3_599_999);
    await refresh(tokens.refresh_token);
    expect(await opens(tokens.access_token)).toBe(true);
    app().clock.advance(1);
    expect(await opens(tokens.access_token)).toBe(false);
  });

  it('O104 After the user revoked the app it is an invalid_grant, and access ends at once', async () => {
    await app()
      .service(GrantRevocation)
      .revoke(await grantOf(tokens.refresh_token), { actor: 'test' });
    expect(await opens(tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
  });

  it('O104 After the user was blocked it is an invalid_grant, and access ends at once', async () => {
    await app().dataSource.getRepository(User).update({ id: user.id }, { status: 'blocked' });
    expect(await opens(tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
  });

  it('O104 After the app was disabled it is an invalid_client, and access ends at once', async () => {
    const apps = app().service(AppsService);
    await apps.changeStatus(client.clientId, 'disabled', { actor: 'test' });
    expect(await opens(tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_client');
  });

  it('A failed client authentication spends nothing', async () => {
    const wrong = await refresh(tokens.refresh_token, { client_secret: 'wrong' });
    await expectTokenError(wrong, 'invalid_client');
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });
});
