import { approve, exchange, obtainTokens, requestToken } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenError } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const JUNK = `svcac_${'A'.repeat(43)}`;
const SECOND = 1000;

onOneEngine('What a failed attempt is, with a budget of three', (database) => {
  const app = useTestApp(database, {
    OAUTH_TOKEN_FAILURES: '3',
    OAUTH_TOKEN_ADDRESS_FAILURES: '3',
  });

  beforeEach(() => app().clock.advance(3_600 * SECOND));

  function refresh(client: TestClient, refresh_token: string): Promise<Response> {
    return requestToken(app(), client, { grant_type: 'refresh_token', refresh_token });
  }

  it('O131 Whoever opens the callback of an app with thirty made-up codes does not keep the app from its refresh', async () => {
    const client = await app().addClient();
    const { refresh_token } = await obtainTokens(app(), client);
    for (let time = 0; time < 30; time += 1)
      await expectTokenError(await exchange(app(), client, JUNK), 'invalid_grant');
    expect((await refresh(client, refresh_token)).status).toBe(200);
  });

  it('O129 No error costs an app anything once its secret was right', async () => {
    const client = await app().addClient();
    const { refresh_token } = await obtainTokens(app(), await app().addClient());
    const forms = [
      { grant_type: 'password' },
      { grant_type: 'refresh_token' },
      { grant_type: 'refresh_token', refresh_token },
      { grant_type: 'authorization_code', code: JUNK },
    ];
    for (const form of forms) expect((await requestToken(app(), client, form)).status).toBe(400);
    const own = await obtainTokens(app(), client);
    expect((await refresh(client, own.refresh_token)).status).toBe(200);
  });

  it('O126 A wrong secret is one', async () => {
    const client = await app().addClient();
    for (let time = 0; time < 3; time += 1)
      await expectTokenError(await refresh({ ...client, secret: 'x' }, JUNK), 'invalid_client');
    expect((await refresh(client, JUNK)).status).toBe(429);
  });

  it('O126 So is what a public app makes up', async () => {
    const native = await app().addClient({ kind: 'public' });
    for (let time = 0; time < 3; time += 1)
      await expectTokenError(await exchange(app(), native, JUNK), 'invalid_grant');
    expect((await exchange(app(), native, JUNK)).status).toBe(429);
  });

  it('O92 The dead tokens and codes of a public app are none, since its users may share one address', async () => {
    const native = await app().addClient({ kind: 'public' });
    const code = (await approve(app(), await app().addUser(), native)).get('code') ?? '';
    await exchange(app(), native, code);
    const { refresh_token } = await obtainTokens(app(), native);
    expect((await refresh(native, refresh_token)).status).toBe(200);
    app().clock.advance(31 * SECOND);
    for (let time = 0; time < 5; time += 1) {
      await expectTokenError(await refresh(native, refresh_token), 'invalid_grant');
      await expectTokenError(await exchange(app(), native, code), 'invalid_grant');
    }
  });

  it('O93 The token of another app is one when a public app shows it', async () => {
    const native = await app().addClient({ kind: 'public' });
    const { refresh_token } = await obtainTokens(app(), await app().addClient());
    for (let time = 0; time < 3; time += 1)
      await expectTokenError(await refresh(native, refresh_token), 'invalid_grant');
    expect((await refresh(native, refresh_token)).status).toBe(429);
  });
});
