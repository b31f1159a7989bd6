import { SECOND, MINUTE } from '../../src/platform/clock.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { sha256 } from '../../src/platform/secrets.js';
import { AccessToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { User } from '../../src/modules/users/user.entity.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import {
  CHALLENGE,
  exchange,
  isTokenAccepted,
  newCode,
  obtainTokens,
  sendRefresh,
  VERIFIER,
} from '../support/oauth-flow.js';
import { concurrently } from '../support/cluster.js';
import { onOneEngine } from '../support/database.js';
import { expectTokenError, json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const OTHER_VERIFIER = 'x'.repeat(43);
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

onOneEngine('Token endpoint: exchange of an authorization code', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let publicClient: TestClient;
  let user: UserWithPhone;

  beforeEach(async () => {
    client = await app().addClient();
    publicClient = await app().addClient({
      kind: 'public',
      redirectUris: ['http://127.0.0.1/cb', 'https://app.example/cb'],
    });
    user = await app().addUser();
  });

  const codeFor = (target: TestClient, parameters = {}): Promise<string> =>
    newCode(app(), target, user, parameters);

  /** Expects that an exchange of the code still succeeds. */
  async function expectUnused(target: TestClient, code: string, form = {}): Promise<void> {
    expect((await exchange(app(), target, code, form)).status).toBe(200);
  }

  it('O69 rejects a missing code as invalid_request', async () => {
    await expectTokenError(await exchange(app(), client, ''), 'invalid_request');
  });

  it('O69 rejects unknown codes as invalid_grant', async () => {
    const unknown = ['x', `svcac_${'A'.repeat(43)}`, 'x'.repeat(5000), '\0', "' OR '1'='1", '🏡'];
    for (const code of unknown)
      await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
  });

  it('O69 rejects an access token or a refresh token in place of a code', async () => {
    const response = await exchange(app(), client, await codeFor(client));
    const { access_token, refresh_token } = await json<TokenBody>(response);
    for (const value of [access_token, refresh_token])
      await expectTokenError(await exchange(app(), client, value), 'invalid_grant');
  });

  it('O69 rejects a code that is five minutes old', async () => {
    const code = await codeFor(client);
    app().clock.advance(5 * MINUTE);
    const response = await exchange(app(), client, code);
    expect(await json(response.clone())).toMatchObject({
      error_description: 'The code has expired.',
    });
    await expectTokenError(response, 'invalid_grant');
  });

  it('O70 rejects the code of another app, which that app can still use', async () => {
    const code = await codeFor(client);
    const otherApp = await app().addClient();
    await expectTokenError(await exchange(app(), otherApp, code), 'invalid_grant');
    await expectUnused(client, code);
  });

  it('O72 rejects a redirect_uri that differs from that of the authorization request, and consumes nothing', async () => {
    const registered = ['https://garden.example/callback', 'https://garden.example/second'];
    const appWithTwoUris = await app().addClient({ redirectUris: registered });
    const code = await codeFor(appWithTwoUris);
    for (const redirect_uri of [
      'https://garden.example/callback/',
      'https://garden.example/other',
      'https://garden.example/second',
      'HTTPS://garden.example/callback',
    ])
      await expectTokenError(
        await exchange(app(), appWithTwoUris, code, { redirect_uri }),
        'invalid_grant',
      );
    await expectUnused(appWithTwoUris, code);
  });

  it('O72 rejects another loopback port than that of the authorization request', async () => {
    const code = await codeFor(publicClient, { redirect_uri: 'http://127.0.0.1:5001/cb' });
    for (const other of ['http://127.0.0.1:5002/cb', 'http://127.0.0.1/cb']) {
      const response = await exchange(app(), publicClient, code, { redirect_uri: other });
      await expectTokenError(response, 'invalid_grant');
    }
    await expectUnused(publicClient, code, { redirect_uri: 'http://127.0.0.1:5001/cb' });
  });

  it.each([
    ['a wrong secret', 'confidential', 'invalid_client', {}, { client_secret: 'svc_sec_wrong' }],
    ['no redirect_uri', 'confidential', 'invalid_request', {}, { redirect_uri: undefined }],
    ['no verifier', 'public', 'invalid_request', {}, { code_verifier: undefined }],
    ['no verifier', 'confidential', 'invalid_request', PKCE, {}],
    ['a malformed verifier', 'public', 'invalid_request', {}, { code_verifier: 'x'.repeat(42) }],
    ['a needless verifier', 'confidential', 'invalid_request', {}, { code_verifier: VERIFIER }],
  ])(
    'O71 O73 O74 O76 rejects %s of a %s app as %s, and consumes nothing',
    async (_, kind, error, parameters, form) => {
      const target = kind === 'public' ? publicClient : client;
      const code = await codeFor(target, parameters);
      await expectTokenError(await exchange(app(), target, code, form), error);
      await expectUnused(target, code, parameters === PKCE ? { code_verifier: VERIFIER } : {});
    },
  );

  it('O75 rejects a wrong verifier as invalid_grant, and consumes the code', async () => {
    const code = await codeFor(publicClient);
    const guess = await exchange(app(), publicClient, code, { code_verifier: OTHER_VERIFIER });
    await expectTokenError(guess, 'invalid_grant');
    await expectTokenError(await exchange(app(), publicClient, code), 'invalid_grant');
  });

  it('O75 describes a wrong verifier, a used code and an unknown code in the same words, which name all causes', async () => {
    const descriptionOf = async (value: string, code_verifier = VERIFIER): Promise<string> => {
      const response = await exchange(app(), publicClient, value, { code_verifier });
      return (await json<{ error_description: string }>(response)).error_description;
    };
    const code = await codeFor(publicClient, PKCE);
    const wrong = await descriptionOf(code, OTHER_VERIFIER);
    expect(wrong).toMatch(/unknown, .* used, .* another client, .* code_verifier/);
    expect(await descriptionOf(code)).toBe(wrong);
    expect(await descriptionOf(`svcac_${'A'.repeat(43)}`)).toBe(wrong);
  });

  it('O77 issues tokens to one of twenty concurrent exchanges', async () => {
    const code = await codeFor(client);
    const responses = await concurrently(20, () => exchange(app(), client, code));
    const [winner, ...others] = responses.toSorted((a, b) => a.status - b.status);
    expect(winner?.status).toBe(200);
    for (const response of others) await expectTokenError(response, 'invalid_grant');
    const { manager } = app().dataSource;
    const { clientId } = client;
    expect(await manager.countBy(AuditEvent, { action: 'code.retried', clientId })).toBe(19);
  });

  it('O79 keeps the first tokens when the code is sent again with a wrong secret or verifier', async () => {
    const code = await codeFor(client, PKCE);
    const first = await exchange(app(), client, code, { code_verifier: VERIFIER });
    const { access_token, refresh_token } = await json<TokenBody>(first);
    app().clock.advance(MINUTE);
    const wrongSecret = await exchange(app(), client, code, { client_secret: 'x' });
    await expectTokenError(wrongSecret, 'invalid_client');
    const wrongVerifier = await exchange(app(), client, code, { code_verifier: OTHER_VERIFIER });
    await expectTokenError(wrongVerifier, 'invalid_grant');
    expect(await isTokenAccepted(app(), access_token)).toBe(true);
    expect((await sendRefresh(app(), client, refresh_token)).status).toBe(200);
  });

  it.each(['blocked', 'deleted'])('O80 rejects the code of a %s user', async (state) => {
    const code = await codeFor(client);
    const users = app().dataSource.getRepository(User);
    if (state === 'deleted') await users.delete({ id: user.id });
    else await users.update({ id: user.id }, { status: 'blocked' });
    await expectTokenError(await exchange(app(), client, code), 'invalid_grant');
  });

  it('O80 rejects a disabled app as invalid_client', async () => {
    const code = await codeFor(client);
    const apps = app().service(AppsService);
    await apps.changeStatus(client.clientId, 'disabled', { actor: 'test' });
    await expectTokenError(await exchange(app(), client, code), 'invalid_client');
    await apps.changeStatus(client.clientId, 'enabled', { actor: 'test' });
    await expectUnused(client, code);
  });

  /** Exchanges a code of a public app. Returns the code and the tokens. */
  async function usedCode(): Promise<{ code: string; tokens: TokenBody }> {
    const code = await codeFor(publicClient);
    return { code, tokens: await json<TokenBody>(await exchange(app(), publicClient, code)) };
  }

  it('rejects a used code and keeps its tokens within ten seconds (RFC 6749 §4.1.2)', async () => {
    const { code, tokens } = await usedCode();
    app().clock.advance(10 * SECOND - 1);
    await expectTokenError(await exchange(app(), publicClient, code), 'invalid_grant');
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);
  });

  it.each([10, 6 * 60])(
    'O78 rejects a used code and revokes its grant after %d seconds (RFC 6749 §4.1.2)',
    async (seconds) => {
      const { code, tokens } = await usedCode();
      app().clock.advance(seconds * SECOND);
      await expectTokenError(await exchange(app(), publicClient, code), 'invalid_grant');
      expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
      const refreshed = await sendRefresh(app(), publicClient, tokens.refresh_token);
      await expectTokenError(refreshed, 'invalid_grant');
    },
  );
});

onOneEngine('A code that is sent again', (database) => {
  const app = useTestApp(database, { TRUST_PROXY: '1' });

  /** The kinds of repeats that the service has counted. */
  async function repeats(): Promise<Record<string, number>> {
    const counter = app().service(Metrics).registry.getSingleMetric('oauth_code_repeats_total');
    const { values = [] } = (await counter?.get()) ?? {};
    return Object.fromEntries(values.map(({ labels, value }) => [labels.kind, value]));
  }

  it.each([
    ['confidential', '192.0.2.1', true],
    ['confidential', '192.0.2.2', false],
    ['public', '192.0.2.1', true],
    ['public', '192.0.2.2', false],
    ['public', '2001:db8::1', false],
    ['public', '2001:db8::1', true, '2001:db8::2'],
    ['public', '2001:db8:0:1::1', false, '2001:db8::1'],
  ] as const)(
    'by a %s app within ten seconds, from %s, keeps the grant: %j, and is counted and recorded (first %s)',
    async (kind, address, isKept, first: string = '192.0.2.1') => {
      const client = await app().addClient({ kind });
      const code = await newCode(app(), client);
      const send = (from: string, more = {}): Promise<Response> =>
        exchange(app(), client, code, more, { 'x-forwarded-for': from });
      const tokens = await json<TokenBody>(await send(first));
      const before = await repeats();
      app().clock.advance(SECOND);
      // A thief without the verifier or the secret ends nothing.
      if (kind === 'public') await send(address, { code_verifier: OTHER_VERIFIER });
      else await send(address, { client_secret: 'svc_sec_wrong' });
      expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);
      await expectTokenError(await send(address), 'invalid_grant');
      expect(await isTokenAccepted(app(), tokens.access_token)).toBe(isKept);
      const counted = isKept ? 'retry' : 'reuse';
      expect(await repeats()).toEqual({ ...before, [counted]: (before[counted] ?? 0) + 1 });
      const { manager } = app().dataSource;
      const { grantId = '' } =
        (await manager.findOneBy(AccessToken, { hash: sha256(tokens.access_token) })) ?? {};
      const action = isKept ? 'code.retried' : 'code.replayed';
      expect(await manager.findBy(AuditEvent, { action, subject: grantId })).toMatchObject([
        { address, clientId: client.clientId },
      ]);
    },
  );
});

onOneEngine('Grant that ends before its access token', (database) => {
  const app = useTestApp(database, { OAUTH_GRANT_SECONDS: '600' });

  it('shortens the access token and its expires_in', async () => {
    const client = await app().addClient();
    const tokens = await obtainTokens(app(), client);
    expect(tokens.expires_in).toBe(600);
    app().clock.advance(600 * SECOND);
    expect(await isTokenAccepted(app(), tokens.access_token)).toBe(false);
  });
});
