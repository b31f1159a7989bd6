import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { User } from '../../src/modules/users/user.entity.js';
import { isTokenAccepted, obtainTokens, sendForm, sendRefresh } from '../support/oauth-flow.js';
import { issueTokens, type Tokens } from '../support/grant.js';
import { onOneEngine } from '../support/database.js';
import { differentFrom } from '../support/invariants.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { rateLimits, type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;

onOneEngine('Revocation (RFC 7009) and introspection', (database) => {
  // The default is 7,500.
  const app = useTestApp(database, rateLimits({ 'token-calls': 10 }));
  let client: TestClient;
  let user: UserWithPhone;
  let tokens: Tokens;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    tokens = await issueTokens(app(), client, user);
  });

  const revoke = (
    token: string,
    form: Record<string, string> = {},
    target: TestClient | undefined = client,
  ): Promise<Response> => sendForm(app(), '/oauth/revoke', target, { token, ...form });
  const isAccepted = ({ access_token }: Tokens): Promise<boolean> =>
    isTokenAccepted(app(), access_token);
  const refresh = (refresh_token: string, target = client): Promise<Response> =>
    sendRefresh(app(), target, refresh_token);

  /** Asserts the response of RFC 7009 §2.2, which does not depend on whether the token was valid. */
  async function expectSuccess(response: Response): Promise<void> {
    expect({ status: response.status, body: await json(response) }).toEqual({
      status: 200,
      body: {},
    });
    expectTokenHeaders(response);
  }

  it('O105 ends the grant with all of its tokens when the refresh token is revoked', async () => {
    tokens = await obtainTokens(app(), client);
    await expectSuccess(await revoke(tokens.refresh_token));
    expect(await isAccepted(tokens)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
  });

  it('O105 ends the grant when a refresh token that was rotated is revoked', async () => {
    const next = await json<TokenBody>(await refresh(tokens.refresh_token));
    await expectSuccess(await revoke(tokens.refresh_token));
    expect(await isAccepted(next)).toBe(false);
    await expectTokenError(await refresh(next.refresh_token), 'invalid_grant');
  });

  it('O106 ends only the access token when the access token is revoked', async () => {
    await expectSuccess(await revoke(tokens.access_token));
    expect(await isAccepted(tokens)).toBe(false);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  it.each([
    'svcat_unknownunknownunknownunknownunknownunknownu',
    'svcrt_unknownunknownunknownunknownunknownunknownu',
    'nothing like a token',
  ])('O107 responds with 200 to the unknown token %s', async (token) => {
    await expectSuccess(await revoke(token));
  });

  it('O107 responds with 200 to a token that was revoked before', async () => {
    await revoke(tokens.refresh_token);
    await expectSuccess(await revoke(tokens.refresh_token));
    await expectSuccess(await revoke(tokens.access_token));
  });

  it('O107 responds with 200 to an expired token', async () => {
    app().clock.advance(30 * DAY);
    expect(await isAccepted(tokens)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
    await expectSuccess(await revoke(tokens.access_token));
    await expectSuccess(await revoke(tokens.refresh_token));
  });

  it.each(['access_token', 'refresh_token', 'id_token', 'foo'])(
    'O107 revokes the token with the token_type_hint %s',
    async (token_type_hint) => {
      await expectSuccess(await revoke(tokens.access_token, { token_type_hint }));
      expect(await isAccepted(tokens)).toBe(false);
      await expectSuccess(await revoke(tokens.refresh_token, { token_type_hint }));
      await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
    },
  );

  it('O108 rejects a request without a token', async () => {
    await expectTokenError(await revoke(''), 'invalid_request');
  });

  it('O108 rejects a wrong secret with 401 and revokes nothing', async () => {
    const wrong = { ...client, secret: differentFrom(client.secret) };
    await expectTokenError(await revoke(tokens.refresh_token, {}, wrong), 'invalid_client');
    expect(await isAccepted(tokens)).toBe(true);
  });

  it('O109 rejects a token of another app, and the token stays valid', async () => {
    const otherApp = await app().addClient();
    for (const token of [tokens.access_token, tokens.refresh_token])
      await expectTokenError(await revoke(token, {}, otherApp), 'invalid_request');
    expect(await isAccepted(tokens)).toBe(true);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('O109 lets a public app revoke its own tokens by its client_id, and no others', async () => {
    const publicClient = await app().addClient({ kind: 'public' });
    const publicTokens = await issueTokens(app(), publicClient, user);
    await expectTokenError(await revoke(publicTokens.refresh_token, {}, client), 'invalid_request');
    await expectTokenError(await revoke(tokens.refresh_token, {}, publicClient), 'invalid_request');
    await expectSuccess(await revoke(publicTokens.refresh_token, {}, publicClient));
    expect(await isAccepted(publicTokens)).toBe(false);
    await expectTokenError(
      await refresh(publicTokens.refresh_token, publicClient),
      'invalid_grant',
    );
  });

  async function expectBusy(response: Response): Promise<void> {
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expectTokenHeaders(response);
    expect(await json(response)).toMatchObject({ error: 'too_many_attempts' });
  }

  it('O110 responds with 503 and Retry-After after 20 failures, and the token stays valid', async () => {
    const { access_token: token } = tokens;
    const wrong = { ...client, secret: 'wrong' };
    for (let attempt = 0; attempt < 20; attempt += 1)
      expect((await revoke(token, {}, wrong)).status).toBe(401);
    await expectBusy(await revoke(token, {}, wrong));
    expect(await isTokenAccepted(app(), token)).toBe(true);
    // The app with its secret is not limited.
    expect((await refresh('x')).status).toBe(400);
  });

  it('O110 responds with 503 and Retry-After after too many calls of one app', async () => {
    for (let call = 0; call < 10; call += 1) expect((await revoke('unknown')).status).toBe(200);
    await expectBusy(await revoke('unknown'));
  });

  describe('Introspection (RFC 7662)', () => {
    const introspect = (
      token: string,
      target: TestClient | undefined = client,
    ): Promise<Response> => sendForm(app(), '/oauth/introspect', target, { token });

    async function expectInactive(response: Response): Promise<void> {
      expect({ status: response.status, body: await json(response) }).toEqual({
        status: 200,
        body: { active: false },
      });
      expectTokenHeaders(response);
    }

    /** The response for a live token of this user, issued now. */
    function activeToken(token: Record<string, unknown>): Record<string, unknown> {
      const now = app().clock.now().getTime() / 1000;
      const { clientId: client_id } = client;
      const scope = client.scopes.join(' ');
      const iss = app().config.publicUrl;
      return { active: true, scope, client_id, sub: user.id, iat: now, iss, ...token };
    }

    it('O111 returns the scope, app, user and times of a live access token', async () => {
      tokens = await obtainTokens(app(), client, user);
      const response = await introspect(tokens.access_token);
      const exp = app().clock.now().getTime() / 1000 + 3600;
      expect(await json(response)).toEqual(activeToken({ exp, token_type: 'Bearer' }));
      expectTokenHeaders(response);
    });

    it('O111 returns the same for a live refresh token, without a token type', async () => {
      const exp = app().clock.now().getTime() / 1000 + (30 * DAY) / 1000;
      expect(await json(await introspect(tokens.refresh_token))).toEqual(activeToken({ exp }));
    });

    it('O111 rejects a request without a token', async () => {
      await expectTokenError(await introspect(''), 'invalid_request');
    });

    it.each(['nothing', 'svcat_x'])(
      'O111 returns only active: false for the unknown token %j',
      async (token) => {
        await expectInactive(await introspect(token));
      },
    );

    it('O111 returns only active: false for used, revoked and expired tokens', async () => {
      const next = await json<TokenBody>(await sendRefresh(app(), client, tokens.refresh_token));
      await expectInactive(await introspect(tokens.refresh_token));
      app().clock.advance(3600 * 1000);
      await expectInactive(await introspect(next.access_token));
      await sendForm(app(), '/oauth/revoke', client, { token: next.refresh_token });
      await expectInactive(await introspect(next.refresh_token));
    });

    it('O111 returns only active: false for tokens of a blocked user', async () => {
      await app().dataSource.manager.update(User, { id: user.id }, { status: 'blocked' });
      await expectInactive(await introspect(tokens.access_token));
      await expectInactive(await introspect(tokens.refresh_token));
    });

    it('O111 rejects a wrong secret, a missing secret and a public app with 401', async () => {
      const { access_token: token } = tokens;
      await expectTokenError(await introspect(token, { ...client, secret: 'x' }), 'invalid_client');
      const withoutSecret = { ...client, secret: undefined };
      await expectTokenError(await introspect(token, withoutSecret), 'invalid_client');
      const publicClient = await app().addClient({ kind: 'public' });
      const publicTokens = await issueTokens(app(), publicClient, user);
      const response = await introspect(publicTokens.access_token, publicClient);
      expect(await response.clone().text()).toContain('Introspection requires a client secret');
      await expectTokenError(response, 'invalid_client');
    });

    it('O112 returns only active: false for tokens of another app', async () => {
      const otherApp = await app().addClient();
      await expectInactive(await introspect(tokens.access_token, otherApp));
      await expectInactive(await introspect(tokens.refresh_token, otherApp));
    });
  });
});
