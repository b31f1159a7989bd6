import {
  allowAsTestMember,
  AuthorizationRequiredError,
  CallbackError,
  ClientError,
  createClient,
  disconnect,
  finishAuthorization,
  memoryStore,
  OAuthError,
  revokeToken,
  startAuthorization,
} from '../../clients/typescript/src/index.js';
import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';
import { decide, forged } from '../system/clients/decide.js';
import { addTestClient, addTestUser, allow, authorize, settingsOf } from './partner.js';
import { unavailable, UnreliableNetwork } from './unreliable-network.js';

const SCOPE = 'profile.read posts.write';

onOneEngine('Authorization with the TypeScript client', (database) => {
  const app = useTestApp(database);

  async function register(kind: 'confidential' | 'public' = 'public') {
    return settingsOf(app(), await addTestClient(app(), kind));
  }

  /** Allows access as a new test member. */
  async function allowed(url: string): Promise<URL> {
    return allow(url, await addTestUser(app()));
  }

  describe.each(['confidential', 'public'] as const)('as a %s app', (kind) => {
    it('completes the flow with PKCE and calls the API', async () => {
      const settings = await register(kind);
      const user = await addTestUser(app());
      const before = Date.now();
      const tokens = await authorize(settings, user, SCOPE);
      expect(tokens.scopes).toEqual(SCOPE.split(' '));
      expect(tokens.expiresAt - before).toBeGreaterThanOrEqual(3_600_000);
      expect(await createClient(settings, memoryStore(tokens)).getMe()).toMatchObject({
        name: 'Ana Lee',
      });
    });

    it('revokes one token, or all of the authorization', async () => {
      const settings = await register(kind);
      const tokens = await authorize(settings, await addTestUser(app()), SCOPE);
      const store = memoryStore(tokens);
      const client = createClient(settings, store);
      await revokeToken(settings, tokens.accessToken);
      await client.getMe();
      expect(await store.get()).not.toEqual(tokens);
      await disconnect(settings, store);
      expect(await store.get()).toBeUndefined();
      await expect(client.getMe()).rejects.toThrow(AuthorizationRequiredError);
    });
  });

  it('sends a new state and a new S256 challenge with each request', async () => {
    const settings = await register();
    const requests = await Promise.all(
      [1, 2].map(() =>
        startAuthorization(settings, { scope: SCOPE, prompt: 'login', uiLocales: 'es' }),
      ),
    );
    const [first, second] = requests.map(({ url }) => new URL(url).searchParams);
    expect(Object.fromEntries(first ?? [])).toMatchObject({
      response_type: 'code',
      scope: SCOPE,
      prompt: 'login',
      ui_locales: 'es',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'code_challenge']) {
      expect(first?.get(name)).toMatch(/^[\w-]{43}$/);
      expect(first?.get(name)).not.toBe(second?.get(name));
    }
  });

  it('accepts an issuer with a trailing slash', async () => {
    const settings = await register();
    const withSlash = { ...settings, issuer: `${settings.issuer}/` };
    expect(await authorize(withSlash, await addTestUser(app()))).toHaveProperty('accessToken');
  });

  it('rejects a redirect with a wrong, repeated or missing parameter, and accepts the original (RFC 9207)', async () => {
    const settings = await register();
    const { url, pending } = await startAuthorization(settings, { scope: SCOPE });
    const redirect = await allowed(url);
    const without = (name: string): URL => {
      const copy = new URL(redirect);
      copy.searchParams.delete(name);
      return copy;
    };
    const repeated = new URL(redirect);
    repeated.searchParams.append('code', 'x');
    const wrong: [URL, string][] = [
      [forged(redirect, 'state', 'x'), 'state'],
      [without('state'), 'state'],
      [forged(redirect, 'iss', 'https://evil.example'), 'iss'],
      [without('iss'), 'iss'],
      [without('code'), 'code'],
      [repeated, 'code'],
    ];
    for (const [callback, parameter] of wrong) {
      const error: unknown = await finishAuthorization(settings, callback, pending).catch((e) => e);
      expect(error).toBeInstanceOf(CallbackError);
      expect(error).toMatchObject({ name: 'CallbackError', parameter });
    }
    const empty = { ...pending, state: '' };
    const missing = { verifier: pending.verifier } as typeof pending;
    for (const [callback, noRequest] of [
      [forged(redirect, 'state', ''), empty],
      [without('state'), missing],
    ] as const)
      await expect(finishAuthorization(settings, callback, noRequest)).rejects.toMatchObject({
        name: 'CallbackError',
        parameter: 'state',
      });
    const path = redirect.href.slice(redirect.origin.length);
    expect(await finishAuthorization(settings, path, pending)).toHaveProperty('refreshToken');
  });

  it('repeats an exchange after a failure, but not when the repeat would look like a stolen code', async () => {
    const network = new UnreliableNetwork();
    const settings = settingsOf(app(), await addTestClient(app()), network);
    const { url, pending } = await startAuthorization(settings, { scope: SCOPE });
    const redirect = await allowed(url);
    const token = /^POST \/oauth\/token$/;
    network.fail(token, unavailable('9'));
    await expect(finishAuthorization(settings, redirect, pending)).rejects.toMatchObject({
      status: 503,
    });
    expect(network.count(token)).toBe(1);
    network.fail(token, unavailable('0', 502));
    expect(await finishAuthorization(settings, redirect, pending)).toHaveProperty('refreshToken');
    expect(network.count(token)).toBe(3);
  });

  it('reports the error of a redirect as OAuthError, after the checks', async () => {
    // A member declines, so the app is no test app.
    const settings = settingsOf(app(), await app().addClient());
    const { url, pending } = await startAuthorization(settings, { scope: SCOPE });
    const redirect = await decide(app(), url, { decision: 'deny' });
    const denied: unknown = await finishAuthorization(settings, redirect, pending).catch((e) => e);
    expect(denied).toBeInstanceOf(OAuthError);
    expect(denied).toMatchObject({ code: 'access_denied', status: undefined });
    await expect(
      finishAuthorization(settings, forged(redirect, 'state', 'x'), pending),
    ).rejects.toThrow(CallbackError);
  });

  it('reports errors of the token endpoint as OAuthError with status and request id', async () => {
    const settings = await register('confidential');
    const { url, pending } = await startAuthorization(settings, { scope: SCOPE });
    const redirect = await allowed(url);
    const wrongSecret = { ...settings, clientSecret: 'svc_sec_wrong:%' };
    await expect(finishAuthorization(wrongSecret, redirect, pending)).rejects.toMatchObject({
      name: 'OAuthError',
      code: 'invalid_client',
      status: 401,
      requestId: expect.stringMatching(/^req_/),
    });
    await finishAuthorization(settings, redirect, pending);
    await expect(finishAuthorization(settings, redirect, pending)).rejects.toMatchObject({
      code: 'invalid_grant',
      status: 400,
    });
  });

  it('throws ClientError when a test member cannot allow access, and names the page', async () => {
    const user = await addTestUser(app());
    const { url } = await startAuthorization(await register(), { scope: SCOPE });
    const wrong = await allowAsTestMember(url, { phone: user.phone, code: '131313' }).catch(
      (e) => e,
    );
    expect(wrong).toBeInstanceOf(ClientError);
    expect(wrong).toMatchObject({
      message: expect.stringMatching(/^The page "Error.*" .* 400\.$/),
    });
    const real = settingsOf(app(), await app().addClient());
    const { url: link } = await startAuthorization(real, { scope: SCOPE });
    await expect(allow(link, user)).rejects.toThrow(ClientError);
    const unknown = await startAuthorization({ ...real, clientId: 'x' }, { scope: SCOPE });
    await expect(allow(unknown.url, user)).rejects.toThrow(ClientError);
  });
});
