import { type User, User as UserRow } from '../../src/modules/users/user.entity.js';
import { obtainTokens, requestToken, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 86_400;

onOneEngine('Introspection (RFC 7662)', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: User;
  let tokens: TokenBody;

  beforeAll(async () => {
    client = await app().addClient();
  });
  beforeEach(async () => {
    user = await app().addUser();
    tokens = await obtainTokens(app(), client, user);
  });

  const introspect = (token: string, of: TestClient | undefined = client): Promise<Response> =>
    sendForm(app(), '/oauth/introspect', of, { token });

  async function expectInactive(answer: Response): Promise<void> {
    expect({ status: answer.status, body: await json(answer) }).toEqual({
      status: 200,
      body: { active: false },
    });
    expectTokenHeaders(answer);
  }

  function about(token: Record<string, unknown>): Record<string, unknown> {
    const now = app().clock.now().getTime() / 1000;
    const { clientId: client_id } = client;
    const { scope } = tokens;
    const iss = app().config.publicUrl;
    return { active: true, scope, client_id, sub: user.id, iat: now, iss, ...token };
  }

  it('O111 A live access token is told with its scope, app, user and times', async () => {
    const answer = await introspect(tokens.access_token);
    const exp = app().clock.now().getTime() / 1000 + 3600;
    expect(await json(answer)).toEqual(about({ exp, token_type: 'Bearer' }));
    expectTokenHeaders(answer);
  });

  it('O111 A live refresh token likewise, without a token type', async () => {
    const exp = app().clock.now().getTime() / 1000 + 30 * DAY;
    expect(await json(await introspect(tokens.refresh_token))).toEqual(about({ exp }));
  });

  it('O111 The phone is nowhere in it', async () => {
    expect(await (await introspect(tokens.access_token)).text()).not.toContain(user.phone);
  });

  it.each(['nothing', 'svcat_x', ''])('O111 %j is inactive, or missing', async (token) => {
    const answer = await introspect(token);
    if (token === '') await expectTokenError(answer, 'invalid_request');
    else await expectInactive(answer);
  });

  it('O111 Used, revoked and expired tokens are inactive and nothing else is said', async () => {
    const renewal = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const next = await json<TokenBody>(await requestToken(app(), client, renewal));
    await expectInactive(await introspect(tokens.refresh_token));
    app().clock.advance(3600 * 1000);
    await expectInactive(await introspect(next.access_token));
    await sendForm(app(), '/oauth/revoke', client, { token: next.refresh_token });
    await expectInactive(await introspect(next.refresh_token));
  });

  it('O111 Tokens of a blocked user are inactive', async () => {
    await app().dataSource.manager.update(UserRow, { id: user.id }, { status: 'blocked' });
    await expectInactive(await introspect(tokens.access_token));
    await expectInactive(await introspect(tokens.refresh_token));
  });

  it('O111 A wrong secret, no secret, and a public app are 401', async () => {
    const { access_token: token } = tokens;
    await expectTokenError(await introspect(token, { ...client, secret: 'x' }), 'invalid_client');
    const nameless = { ...client, secret: undefined };
    await expectTokenError(await introspect(token, nameless), 'invalid_client');
    const native = await app().addClient({ kind: 'public' });
    const own = await obtainTokens(app(), native);
    await expectTokenError(await introspect(own.access_token, native), 'invalid_client');
  });

  it('O112 Tokens of another app are inactive', async () => {
    const other = await app().addClient();
    await expectInactive(await introspect(tokens.access_token, other));
    await expectInactive(await introspect(tokens.refresh_token, other));
  });
});
