import { Grant } from '../../src/modules/oauth/grants/grant.entity.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { isTokenAccepted, obtainTokens, requestToken, sendForm } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { differentFrom } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';
import {
  expectTokenError,
  expectTokenHeaders,
  json,
  type TokenBody,
} from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const DAY = 24 * 3_600_000;

onOneEngine('Revocation (RFC 7009)', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let native: TestClient;
  let user: User;
  let tokens: TokenBody;

  beforeAll(async () => {
    client = await app().addClient();
    native = await app().addClient({ kind: 'public' });
  });
  beforeEach(async () => {
    user = await app().addUser();
    tokens = await obtainTokens(app(), client, user);
  });

  const revoke = (
    token: string,
    form: Record<string, string> = {},
    of: TestClient | undefined = client,
  ): Promise<Response> => sendForm(app(), '/oauth/revoke', of, { token, ...form });
  const refresh = (refresh_token: string, of = client): Promise<Response> =>
    requestToken(app(), of, { grant_type: 'refresh_token', refresh_token });

  async function expectRevoked(answer: Response): Promise<void> {
    expect({ status: answer.status, body: await json(answer) }).toEqual({ status: 200, body: {} });
    expectTokenHeaders(answer);
  }

  it('O105 Giving back the refresh token ends the grant with every token of it', async () => {
    await expectRevoked(await revoke(tokens.refresh_token));
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
  });

  it('O105 A refresh token that was rotated ends the grant all the same', async () => {
    const next = await json<TokenBody>(await refresh(tokens.refresh_token));
    await expectRevoked(await revoke(tokens.refresh_token));
    expect(await isTokenAccepted(app(), next.access_token)).toBe(false);
    await expectTokenError(await refresh(next.refresh_token), 'invalid_grant');
  });

  it('O105 Who revoked what is in the audit log', async () => {
    const { id: userId } = user;
    await revoke(tokens.refresh_token);
    const { id } = await app().dataSource.manager.findOneByOrFail(Grant, { userId });
    const trail = await auditTrail(app().dataSource, id);
    expect(trail).toContainEqual(
      expect.objectContaining({ action: 'grant.revoked', actor: client.clientId }),
    );
  });

  it('O106 Giving back an access token ends it alone', async () => {
    await expectRevoked(await revoke(tokens.access_token));
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  it.each([
    'svcat_unknownunknownunknownunknownunknownunknownu',
    'svcrt_unknownunknownunknownunknownunknownunknownu',
    'nothing like a token',
  ])('O107 The unknown token %s is fine', async (token) => {
    await expectRevoked(await revoke(token));
  });

  it('O107 A token that ended before is fine', async () => {
    await revoke(tokens.refresh_token);
    await expectRevoked(await revoke(tokens.refresh_token));
    await expectRevoked(await revoke(tokens.access_token));
  });

  it('O107 Tokens that expired are fine', async () => {
    app().clock.advance(30 * DAY);
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
    await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
    await expectRevoked(await revoke(tokens.access_token));
    await expectRevoked(await revoke(tokens.refresh_token));
  });

  it.each(['access_token', 'refresh_token', 'id_token', 'foo'])(
    'O107 With the hint %s the right token ends',
    async (token_type_hint) => {
      await expectRevoked(await revoke(tokens.access_token, { token_type_hint }));
      expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
      await expectRevoked(await revoke(tokens.refresh_token, { token_type_hint }));
      await expectTokenError(await refresh(tokens.refresh_token), 'invalid_grant');
    },
  );

  it('O108 Without a token it is an invalid_request', async () => {
    await expectTokenError(await revoke(''), 'invalid_request');
  });

  it('O108 A wrong secret is 401, and nothing ends', async () => {
    const wrong = { ...client, secret: differentFrom(client.secret) };
    await expectTokenError(await revoke(tokens.refresh_token, {}, wrong), 'invalid_client');
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);
  });

  it('O108 Nobody at all is refused', async () => {
    const answer = await sendForm(app(), '/oauth/revoke', undefined, {
      token: tokens.refresh_token,
    });
    await expectTokenError(answer, 'invalid_client');
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);
  });

  it('O93 Another app that shows a token here is in the audit log', async () => {
    const { clientId } = client;
    const other = await app().addClient();
    for (const token of [tokens.access_token, tokens.refresh_token]) await revoke(token, {}, other);
    const { id: userId } = user;
    const { id } = await app().dataSource.manager.findOneByOrFail(Grant, { userId });
    const trail = await auditTrail(app().dataSource, id);
    const details = { clientId, userId };
    const foreign = { action: 'token.foreign', actor: other.clientId, reason: null, details };
    expect(trail.filter(({ action }) => action === 'token.foreign')).toEqual([foreign, foreign]);
  });

  it('O109 A token of another app is an invalid_request and lives on', async () => {
    const other = await app().addClient();
    for (const token of [tokens.access_token, tokens.refresh_token])
      await expectTokenError(await revoke(token, {}, other), 'invalid_request');
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('O109 A public app revokes its own tokens by its client_id, and no others', async () => {
    const own = await obtainTokens(app(), native);
    await expectTokenError(await revoke(own.refresh_token, {}, client), 'invalid_request');
    await expectTokenError(await revoke(tokens.refresh_token, {}, native), 'invalid_request');
    await expectRevoked(await revoke(own.refresh_token, {}, native));
    expect(await isTokenAccepted(app(), own.access_token)).toBe(false);
    await expectTokenError(await refresh(own.refresh_token, native), 'invalid_grant');
  });
});

onOneEngine('Throttled revocation', (database) => {
  const app = useTestApp(database, { OAUTH_TOKEN_FAILURES: '5', OAUTH_TOKEN_CALLS: '5' });

  async function expectBusy(answer: Response): Promise<void> {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expectTokenHeaders(answer);
    expect(await json(answer)).toMatchObject({ error: 'too_many_attempts' });
  }

  it('O110 After too many failures it is 503 with the time to wait, and the token lives on', async () => {
    const client = await app().addClient();
    const { access_token: token } = await obtainTokens(app(), client);
    const wrong = { ...client, secret: 'wrong' };
    for (let each = 0; each < 5; each += 1)
      expect((await sendForm(app(), '/oauth/revoke', wrong, { token })).status).toBe(401);
    await expectBusy(await sendForm(app(), '/oauth/revoke', client, { token }));
    expect(await isTokenAccepted(app(), token)).toBe(true);
    const refresh = { grant_type: 'refresh_token', refresh_token: 'x' };
    expect((await requestToken(app(), client, refresh)).status).toBe(400);
  });

  it('O110 After too many calls of one app, too, from wherever it calls', async () => {
    const client = await app().addClient();
    const revoke = (): Promise<Response> =>
      sendForm(app(), '/oauth/revoke', client, { token: 'unknown' });
    for (let each = 0; each < 5; each += 1) expect((await revoke()).status).toBe(200);
    await expectBusy(await revoke());
  });
});
