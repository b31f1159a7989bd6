import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { obtainTokens, sendForm, sendRefresh } from '../support/oauth-flow.js';
import { issueTokens, type Tokens } from '../support/grant.js';
import { onOneEngine } from '../support/database.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 86_400;

onOneEngine('Introspection endpoint (RFC 7662)', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let tokens: Tokens;

  beforeAll(async () => {
    client = await app().addClient();
  });
  beforeEach(async () => {
    user = await app().addUser();
    tokens = await issueTokens(app(), client, user);
  });

  const introspect = (token: string, target: TestClient | undefined = client): Promise<Response> =>
    sendForm(app(), '/oauth/introspect', target, { token });

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
    const exp = app().clock.now().getTime() / 1000 + 30 * DAY;
    expect(await json(await introspect(tokens.refresh_token))).toEqual(activeToken({ exp }));
  });

  it('O111 does not return the phone number', async () => {
    expect(await (await introspect(tokens.access_token)).text()).not.toContain(user.phone);
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
