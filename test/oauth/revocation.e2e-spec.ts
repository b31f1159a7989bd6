import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { isTokenAccepted, obtainTokens, sendForm, sendRefresh } from '../support/oauth-flow.js';
import { issueTokens, type Tokens } from '../support/grant.js';
import { onOneEngine } from '../support/database.js';
import { differentFrom } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { rateLimits, type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;

onOneEngine('Revocation endpoint (RFC 7009)', (database) => {
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

  it('O105 records the app that revoked the grant', async () => {
    const { id: userId } = user;
    await revoke(tokens.refresh_token);
    const { id } = await app().dataSource.manager.findOneByOrFail(Grant, { userId });
    const trail = await auditTrail(app().dataSource, id);
    expect(trail).toContainEqual(
      expect.objectContaining({ action: 'grant.revoked', actor: client.clientId }),
    );
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
});
