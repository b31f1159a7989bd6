import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { approve, exchange, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SECOND = 1000;

onOneEngine('Reuse of an authorization code', (database) => {
  const app = useTestApp(database);

  async function usedCode(): Promise<{ client: TestClient; code: string; tokens: TokenBody }> {
    const client = await app().addClient({ kind: 'public' });
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    return { client, code, tokens: await json<TokenBody>(await exchange(app(), client, code)) };
  }

  it('rejects the code and keeps the first tokens within ten seconds (RFC 6749 §4.1.2)', async () => {
    const { client, code, tokens } = await usedCode();
    app().clock.advance(10 * SECOND - 1);
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(200);
  });

  it.each([10, 6 * 60])(
    'O78 rejects the code and revokes its grant after %d seconds (RFC 6749 §4.1.2)',
    async (seconds) => {
      const { client, code, tokens } = await usedCode();
      app().clock.advance(seconds * SECOND);
      await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
      expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(401);
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      await expectTokenError(await requestToken(app(), client, refresh), 'invalid_grant');
    },
  );

  it('O144 writes code.replayed to the audit log once, with the app and the user', async () => {
    const { client, code } = await usedCode();
    const { clientId } = client;
    app().clock.advance(10 * SECOND);
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    const { id, userId } = await app().dataSource.manager.findOneByOrFail(Grant, { clientId });
    const details = { clientId, userId };
    const trail = await auditTrail(app().dataSource, id);
    expect(trail.filter(({ action }) => /replayed|revoked/.test(action))).toEqual(
      expect.arrayContaining([
        { action: 'code.replayed', actor: clientId, reason: null, details },
        { action: 'grant.revoked', actor: 'service', reason: 'code replayed', details },
      ]),
    );
    expect(trail.filter(({ action }) => action === 'code.replayed')).toHaveLength(1);
  });

  it('O79 keeps the grant when the code is sent again with a wrong verifier', async () => {
    const { client, code, tokens } = await usedCode();
    app().clock.advance(10 * SECOND);
    const wrong = { code_verifier: 'x'.repeat(43) };
    await expectTokenError(await exchange(app(), client, code, wrong), 'invalid_grant');
    expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(200);
  });
});

onOneEngine('Grant that ends before its access token', (database) => {
  const app = useTestApp(database, { OAUTH_GRANT_SECONDS: '600' });

  it('shortens the access token and its expires_in', async () => {
    const client = await app().addClient();
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const tokens = await json<TokenBody>(await exchange(app(), client, code));
    expect(tokens.expires_in).toBe(600);
    app().clock.advance(600 * SECOND);
    expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(401);
  });
});
