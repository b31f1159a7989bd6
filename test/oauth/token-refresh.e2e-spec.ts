import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { User } from '../../src/modules/users/user.entity.js';
import { onOneEngine } from '../support/database.js';
import { useGrant } from '../support/grant.js';
import { exchange, newCode, obtainTokens, sendRefresh } from '../support/oauth-flow.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';

const DAY = 24 * 3_600_000;

onOneEngine('Token endpoint: refresh', (database) => {
  const { app, fixture, refresh, renew, isAccepted } = useGrant(database);

  it.each(['confidential', 'public'] as const)(
    'O91 issues a new access token and a new refresh token to a %s app',
    async (kind) => {
      const target = await app().addClient({ kind });
      const first = await obtainTokens(app(), target, fixture.user);
      const response = await refresh(first, {}, target);
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
      expect(await isAccepted(second)).toBe(true);
    },
  );

  it('O92 rejects a missing refresh_token as invalid_request, and other values as invalid_grant', async () => {
    const { client, first } = fixture;
    await expectTokenError(await sendRefresh(app(), client, undefined), 'invalid_request');
    const code = await newCode(app(), client);
    const others = ['x', `svcrt_${'A'.repeat(43)}`, first.access_token, code, 'x'.repeat(9000)];
    for (const other of others)
      await expectTokenError(await sendRefresh(app(), client, other), 'invalid_grant');
  });

  it('O93 rejects the refresh token of another app, which that app can still use', async () => {
    const otherApp = await app().addClient();
    await expectTokenError(await refresh(fixture.first, {}, otherApp), 'invalid_grant');
    expect(await isAccepted(fixture.first)).toBe(true);
    await renew(fixture.first);
  });

  it('O94 narrows the access token, but not the next refresh token, to a smaller scope', async () => {
    const scope = 'posts.read profile.read posts.read';
    const narrowed = await renew(fixture.first, { scope });
    expect(narrowed.scope).toBe('profile.read posts.read');
    const post = await app().call(narrowed.access_token, 'POST', '/posts', { content: 'Hello' });
    expect(post.status).toBe(403);
    expect((await renew(narrowed)).scope).toBe(fixture.client.scopes.join(' '));
  });

  it('O95 rejects a wider scope as invalid_scope, and consumes nothing', async () => {
    const parameters = { scopes: ['profile.read', 'posts.read'] };
    const code = await newCode(app(), fixture.client, fixture.user, parameters);
    const tokens = await json<TokenBody>(await exchange(app(), fixture.client, code));
    for (const scope of ['posts.write', 'profile.read posts.write', 'no.such', '  '])
      await expectTokenError(await refresh(tokens, { scope }), 'invalid_scope');
    expect((await renew(tokens)).scope).toBe('profile.read posts.read');
  });

  it('O92 rejects an expired refresh token as invalid_grant with any scope', async () => {
    app().clock.advance(30 * DAY);
    for (const scope of ['posts.read posts.write', 'no.such'])
      await expectTokenError(await refresh(fixture.first, { scope }), 'invalid_grant');
  });

  it('O102 rejects a refresh 180 days after the grant', async () => {
    let current = fixture.first;
    for (let days = 20; days < 180; days += 20) {
      app().clock.advance(20 * DAY);
      current = await renew(current);
    }
    app().clock.advance(20 * DAY);
    await expectTokenError(await refresh(current), 'invalid_grant');
  });

  it('O103 accepts the old access token until it expires', async () => {
    app().clock.advance(3_599_999);
    await renew(fixture.first);
    expect(await isAccepted(fixture.first)).toBe(true);
    app().clock.advance(1);
    expect(await isAccepted(fixture.first)).toBe(false);
  });

  it.each([
    [
      'a blocked user',
      'invalid_grant',
      () => app().dataSource.manager.update(User, { id: fixture.user.id }, { status: 'blocked' }),
    ],
    [
      'a disabled app',
      'invalid_client',
      () => {
        const { clientId } = fixture.client;
        return app().service(AppsService).changeStatus(clientId, 'disabled', { actor: 'test' });
      },
    ],
  ])(
    'O104 rejects the refresh token of %s as %s, and its access token at once',
    async (_, error, end) => {
      await end();
      expect(await isAccepted(fixture.first)).toBe(false);
      await expectTokenError(await refresh(fixture.first), error);
    },
  );

  it('consumes nothing when the client authentication fails', async () => {
    const wrong = await refresh(fixture.first, { client_secret: 'wrong' });
    await expectTokenError(wrong, 'invalid_client');
    await renew(fixture.first);
  });
});
