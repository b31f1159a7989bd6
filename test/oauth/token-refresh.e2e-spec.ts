import { sha256 } from '../../src/platform/secrets.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { GrantsService } from '../../src/modules/oauth/tokens/grants.service.js';
import { RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { approve, exchange, isTokenAccepted, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;
/** Longer than the pause between two messages to one phone. */
const MESSAGE_PAUSE = 61_000;

onOneEngine('Token endpoint: refresh', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let tokens: TokenBody;

  async function newTokens(target: TestClient, parameters = {}): Promise<TokenBody> {
    app().clock.advance(MESSAGE_PAUSE);
    const code = (await approve(app(), user, target, parameters)).get('code') ?? '';
    return json<TokenBody>(await exchange(app(), target, code));
  }

  function refresh(
    refreshToken: string | undefined,
    form: Record<string, string> = {},
    target = client,
  ): Promise<Response> {
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return requestToken(app(), target, { ...grant, ...form });
  }

  const isAccepted = (accessToken: string): Promise<boolean> => isTokenAccepted(app(), accessToken);

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
    'O91 issues a new access token and a new refresh token to a %s app',
    async (kind) => {
      const target = await app().addClient({ kind });
      const first = await newTokens(target);
      const response = await refresh(first.refresh_token, {}, target);
      expect(response.status).toBe(200);
      expectTokenHeaders(response);
      const second = await json<TokenBody>(response);
      expect(second).toEqual({
        access_token: expect.stringMatching(/^svcat_[A-Za-z0-9_-]{43}$/),
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: expect.stringMatching(/^svcrt_[A-Za-z0-9_-]{43}$/),
        scope: first.scope,
      });
      expect(second.access_token).not.toBe(first.access_token);
      expect(second.refresh_token).not.toBe(first.refresh_token);
      expect(await isAccepted(second.access_token)).toBe(true);
    },
  );

  it('O92 rejects a missing refresh_token as invalid_request', async () => {
    await expectTokenError(await refresh(undefined), 'invalid_request');
  });

  it('O92 rejects an unknown refresh token, an access token or a code as invalid_grant', async () => {
    app().clock.advance(MESSAGE_PAUSE);
    const code = (await approve(app(), user, client)).get('code') ?? '';
    const others = ['x', `svcrt_${'A'.repeat(43)}`, tokens.access_token, code, 'x'.repeat(9000)];
    for (const other of others) await expectTokenError(await refresh(other), 'invalid_grant');
  });

  it('O93 rejects the refresh token of another app, which that app can still use, and records the app that sent it', async () => {
    const otherApp = await app().addClient();
    await expectTokenError(await refresh(tokens.refresh_token, {}, otherApp), 'invalid_grant');
    expect(await isAccepted(tokens.access_token)).toBe(true);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
    const trail = await auditTrail(app().dataSource, await grantOf(tokens.refresh_token));
    expect(trail).toContainEqual({
      action: 'token.foreign',
      actor: otherApp.clientId,
      reason: null,
      details: { clientId: client.clientId, userId: user.id },
    });
  });

  it('O94 narrows the access token, but not the next refresh token, to a smaller scope', async () => {
    const narrowed = await json<TokenBody>(
      await refresh(tokens.refresh_token, { scope: 'posts.read profile.read posts.read' }),
    );
    expect(narrowed.scope).toBe('profile.read posts.read');
    const post = await app().call(narrowed.access_token, 'POST', '/posts', { content: 'Hello' });
    expect(post.status).toBe(403);
    const full = await json<TokenBody>(await refresh(narrowed.refresh_token));
    expect(full.scope).toBe(tokens.scope);
  });

  it('O95 rejects a wider scope as invalid_scope, and consumes nothing', async () => {
    const { refresh_token } = await newTokens(client, { scopes: ['profile.read', 'posts.read'] });
    for (const scope of ['posts.write', 'profile.read posts.write', 'no.such', '  ']) {
      await expectTokenError(await refresh(refresh_token, { scope }), 'invalid_scope');
    }
    const { scope } = await json<TokenBody>(await refresh(refresh_token));
    expect(scope).toBe('profile.read posts.read');
  });

  it('O92 rejects an expired refresh token as invalid_grant with any scope', async () => {
    const { refresh_token } = await newTokens(client, { scopes: ['posts.read'] });
    app().clock.advance(30 * DAY);
    for (const scope of ['posts.read posts.write', 'no.such'])
      await expectTokenError(await refresh(refresh_token, { scope }), 'invalid_grant');
  });

  it('O102 accepts a refresh token for thirty days without use', async () => {
    app().clock.advance(30 * DAY - 1);
    const second = await json<TokenBody>(await refresh(tokens.refresh_token));
    app().clock.advance(30 * DAY);
    await expectTokenError(await refresh(second.refresh_token), 'invalid_grant');
  });

  it('O102 rejects a refresh 180 days after the grant', async () => {
    let current = tokens.refresh_token;
    for (let days = 20; days < 180; days += 20) {
      app().clock.advance(20 * DAY);
      current = (await json<TokenBody>(await refresh(current))).refresh_token;
    }
    app().clock.advance(20 * DAY);
    await expectTokenError(await refresh(current), 'invalid_grant');
  });

  it('O103 accepts the old access token until it expires', async () => {
    app().clock.advance(3_599_999);
    await refresh(tokens.refresh_token);
    expect(await isAccepted(tokens.access_token)).toBe(true);
    app().clock.advance(1);
    expect(await isAccepted(tokens.access_token)).toBe(false);
  });

  it('O104 rejects the refresh token of a revoked grant as invalid_grant, and its access token at once', async () => {
    const id = await grantOf(tokens.refresh_token);
    const grants = app().service(GrantsService);
    await app()
      .service(TransactionRunner)
      .run((tx) => grants.revoke(tx, id, { actor: 'test' }));
    expect(await isAccepted(tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
  });

  it('O104 rejects the refresh token of a blocked user as invalid_grant, and the access token at once', async () => {
    await app().dataSource.getRepository(User).update({ id: user.id }, { status: 'blocked' });
    expect(await isAccepted(tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
  });

  it('O104 rejects a refresh by a disabled app as invalid_client, and its access token at once', async () => {
    const apps = app().service(AppsService);
    await apps.changeStatus(client.clientId, 'disabled', { actor: 'test' });
    expect(await isAccepted(tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_client');
  });

  it('consumes nothing when the client authentication fails', async () => {
    const wrong = await refresh(tokens.refresh_token, { client_secret: 'wrong' });
    await expectTokenError(wrong, 'invalid_client');
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });
});
