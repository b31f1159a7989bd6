import { createHash } from 'node:crypto';
import { AppsService } from '../../src/modules/oauth/apps/apps.service.js';
import { User } from '../../src/modules/users/user.entity.js';
import { approve, CHALLENGE, exchange, requestToken, VERIFIER } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const MINUTE = 60_000;
const OTHER_VERIFIER = 'x'.repeat(43);
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

onOneEngine('The exchange of an authorization code', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let native: TestClient;
  let user: User;

  beforeEach(async () => {
    client = await app().addClient();
    native = await app().addClient({
      kind: 'public',
      redirectUris: ['http://127.0.0.1/cb', 'https://app.example/cb'],
    });
    user = await app().addUser();
  });

  async function newCode(of: TestClient, parameters = {}): Promise<string> {
    return (await approve(app(), user, of, parameters)).get('code') ?? '';
  }

  async function expectUnspent(of: TestClient, code: string, form = {}): Promise<void> {
    expect((await exchange(app(), of, code, form)).status).toBe(200);
  }

  it('O69 A missing code is an invalid_request', async () => {
    await expectTokenError(await exchange(app(), client, ''), 'invalid_request');
  });

  it.each(['x', `svcac_${'A'.repeat(43)}`, 'x'.repeat(5000), '\0', "' OR '1'='1", '🏡'])(
    'O69 The unknown code "%.20s" is an invalid_grant',
    async (code) => {
      await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
    },
  );

  it('O69 An access token or a refresh token is no code', async () => {
    const answer = await exchange(app(), client, await newCode(client));
    const { access_token, refresh_token } = await json<TokenBody>(answer);
    for (const value of [access_token, refresh_token])
      await expectTokenError(await exchange(app(), client, value), 'invalid_grant');
  });

  it('O69 A code is good until 4:59.999', async () => {
    const code = await newCode(client);
    app().clock.advance(5 * MINUTE - 1);
    await expectUnspent(client, code);
  });

  it('O69 A code is expired at 5:00', async () => {
    const code = await newCode(client);
    app().clock.advance(5 * MINUTE);
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
  });

  it('O70 Another app cannot redeem it, and its own app still can', async () => {
    const code = await newCode(client);
    const other = await app().addClient();
    await expectTokenError(await exchange(app(), other, code), 'invalid_grant');
    await expectUnspent(client, code);
  });

  it('O71 A failed client authentication does not consume it', async () => {
    const code = await newCode(client);
    const wrong = await exchange(app(), client, code, { client_secret: 'svc_sec_wrong' });
    await expectTokenError(wrong, 'invalid_client');
    await expectUnspent(client, code);
  });

  it.each([
    'https://garden.example/callback/',
    'https://garden.example/other',
    'https://garden.example/second',
    'HTTPS://garden.example/callback',
  ])('O72 The other redirect_uri %s is an invalid_grant, and spends nothing', async (other) => {
    const registered = ['https://garden.example/callback', 'https://garden.example/second'];
    const two = await app().addClient({ redirectUris: registered });
    const code = await newCode(two);
    const answer = await exchange(app(), two, code, { redirect_uri: other });
    await expectTokenError(answer, 'invalid_grant');
    await expectUnspent(two, code);
  });

  it('O72 Another loopback port than that of the request is an invalid_grant', async () => {
    const code = await newCode(native, { redirect_uri: 'http://127.0.0.1:5001/cb' });
    for (const other of ['http://127.0.0.1:5002/cb', 'http://127.0.0.1/cb']) {
      const answer = await exchange(app(), native, code, { redirect_uri: other });
      await expectTokenError(answer, 'invalid_grant');
    }
    await expectUnspent(native, code, { redirect_uri: 'http://127.0.0.1:5001/cb' });
  });

  it('O73 A missing redirect_uri is an invalid_request', async () => {
    const code = await newCode(client);
    const answer = await exchange(app(), client, code, { redirect_uri: undefined });
    await expectTokenError(answer, 'invalid_request');
    await expectUnspent(client, code);
  });

  it.each([undefined, '', 'x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(42)}+`, `${VERIFIER}\n`])(
    'O74 The verifier %j is an invalid_request, and spends nothing',
    async (verifier) => {
      const code = await newCode(native);
      const answer = await exchange(app(), native, code, { code_verifier: verifier });
      await expectTokenError(answer, 'invalid_request');
      await expectUnspent(native, code);
    },
  );

  it.each(['-._~', 'x'.repeat(86)])('O74 A verifier may hold %s', async (characters) => {
    const verifier = `${'v'.repeat(42)}${characters}`;
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const code = await newCode(native, { code_challenge: challenge });
    await expectUnspent(native, code, { code_verifier: verifier });
  });

  it('O75 A well-formed wrong verifier is an invalid_grant and spends the code', async () => {
    const code = await newCode(native);
    const guess = await exchange(app(), native, code, { code_verifier: OTHER_VERIFIER });
    await expectTokenError(guess, 'invalid_grant');
    await expectTokenError(await exchange(app(), native, code), 'invalid_grant');
  });

  it('O75 The challenge itself is no verifier', async () => {
    const code = await newCode(native);
    const guess = await exchange(app(), native, code, { code_verifier: CHALLENGE });
    await expectTokenError(guess, 'invalid_grant');
  });

  it('O76 A verifier without a challenge before is an invalid_request, and spends nothing', async () => {
    const code = await newCode(client);
    const answer = await exchange(app(), client, code, { code_verifier: VERIFIER });
    await expectTokenError(answer, 'invalid_request');
    await expectUnspent(client, code);
  });

  it('O76 A confidential app that sent a challenge must send the verifier, too', async () => {
    const code = await newCode(client, PKCE);
    await expectTokenError(await exchange(app(), client, code), 'invalid_request');
    await expectUnspent(client, code, { code_verifier: VERIFIER });
  });

  it('O77 Of twenty exchanges at once, one gets tokens and the others invalid_grant', async () => {
    const code = await newCode(client);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => exchange(app(), client, code)),
    );
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(winner?.status).toBe(200);
    for (const answer of others) await expectTokenError(answer, 'invalid_grant');
  });

  it('O79 A replay with the wrong secret or verifier leaves the first tokens alive', async () => {
    const code = await newCode(client, PKCE);
    const first = await exchange(app(), client, code, { code_verifier: VERIFIER });
    const { access_token, refresh_token } = await json<TokenBody>(first);
    app().clock.advance(MINUTE);
    const secret = await exchange(app(), client, code, { client_secret: 'x' });
    await expectTokenError(secret, 'invalid_client');
    const verifier = await exchange(app(), client, code, { code_verifier: OTHER_VERIFIER });
    await expectTokenError(verifier, 'invalid_grant');
    expect((await app().call(access_token, 'GET', '/me')).status).toBe(200);
    const form = { grant_type: 'refresh_token', refresh_token };
    expect((await requestToken(app(), client, form)).status).toBe(200);
  });

  it('O80 After the user was blocked it is an invalid_grant', async () => {
    const code = await newCode(client);
    await app().dataSource.getRepository(User).update({ id: user.id }, { status: 'blocked' });
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
  });

  it('O80 After the user was deleted it is an invalid_grant', async () => {
    const code = await newCode(client);
    await app().dataSource.getRepository(User).delete({ id: user.id });
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
  });

  it('O80 After the app was disabled it is an invalid_client', async () => {
    const code = await newCode(client);
    const apps = app().service(AppsService);
    await apps.changeStatus(client.clientId, 'disabled', { actor: 'test' });
    await expectTokenError(await exchange(app(), client, code), 'invalid_client');
    await apps.changeStatus(client.clientId, 'enabled', { actor: 'test' });
    await expectUnspent(client, code);
  });
});
