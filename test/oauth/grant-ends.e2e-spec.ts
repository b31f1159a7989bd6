import { Grant } from '../../src/modules/oauth/grants/grant.entity.js';
import { Browser } from '../support/browser.js';
import { approve, authorizeLink, exchange, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage, expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SECOND = 1000;

onOneEngine('RFC 6749 §4.1.2: a code that comes back', (database) => {
  const app = useTestApp(database);

  async function used(): Promise<{ client: TestClient; code: string; tokens: TokenBody }> {
    const client = await app().addClient({ kind: 'public' });
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    return { client, code, tokens: await json<TokenBody>(await exchange(app(), client, code)) };
  }

  it('is refused, and the first tokens live on, when it comes within ten seconds', async () => {
    const { client, code, tokens } = await used();
    app().clock.advance(10 * SECOND - 1);
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(200);
  });

  it.each([10, 6 * 60])('O78 ends its grant when it comes %d seconds later', async (seconds) => {
    const { client, code, tokens } = await used();
    app().clock.advance(seconds * SECOND);
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(401);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    await expectTokenError(await requestToken(app(), client, refresh), 'invalid_grant');
  });

  it('O144 is a theft of its own name in the audit log, with the app and the user', async () => {
    const { client, code } = await used();
    const { clientId } = client;
    app().clock.advance(10 * SECOND);
    for (let time = 0; time < 2; time += 1)
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

  it('O79 ends nothing when its verifier is wrong', async () => {
    const { client, code, tokens } = await used();
    app().clock.advance(10 * SECOND);
    const wrong = { code_verifier: 'x'.repeat(43) };
    await expectTokenError(await exchange(app(), client, code, wrong), 'invalid_grant');
    expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(200);
  });
});

onOneEngine('A grant that ends before an access token would', (database) => {
  const app = useTestApp(database, { OAUTH_GRANT_SECONDS: '600' });

  it('ends the access token with it, and expires_in says so', async () => {
    const client = await app().addClient();
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const tokens = await json<TokenBody>(await exchange(app(), client, code));
    expect(tokens.expires_in).toBe(600);
    app().clock.advance(600 * SECOND);
    expect((await app().call(tokens.access_token, 'GET', '/me')).status).toBe(401);
  });
});

onOneEngine('Attempts that cannot be counted', (database) => {
  const app = useTestApp(database, { OAUTH_TOKEN_CALLS: '100', OAUTH_DECISION_CALLS: '100' });

  it('leave the token endpoint open and sign-in closed', async () => {
    const client = await app().addClient();
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    await app().dataSource.query('DROP TABLE throttle_hits');
    expect((await exchange(app(), client, code)).status).toBe(200);
    const fields = { phone: '+14155550101' };
    expectPage(await visitor.submit(page, '/oauth/authorize/sign-in', fields), 500);
  });
});
