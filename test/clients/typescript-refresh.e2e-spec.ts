import { setImmediate } from 'node:timers/promises';
import {
  AuthorizationRequiredError,
  createClient,
  disconnect,
  OAuthError,
  refreshTokens,
  type Tokens,
  type TokenStore,
} from '../../clients/typescript/src/index.js';
import { Grant, RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';
import { connectPartner, expire } from './partner.js';
import { unavailable } from './unreliable-network.js';

const TOKEN = /^POST \/oauth\/token$/;

onOneEngine('Refresh with the TypeScript client', (database) => {
  const app = useTestApp(database);

  /** The number of refresh tokens that were issued to this app. */
  async function refreshTokensOf(clientId: string): Promise<number> {
    const { manager } = app().dataSource;
    const { id: grantId } = await manager.findOneByOrFail(Grant, { clientId });
    return manager.countBy(RefreshToken, { grantId });
  }

  it('refreshes once for parallel calls of two clients with the same store', async () => {
    const { settings, store, network, client, app: registered } = await connectPartner(app());
    await expire(store);
    const other = createClient(settings, store);
    const calls = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? client : other).getMe());
    expect(new Set((await Promise.all(calls)).map(({ name }) => name))).toEqual(
      new Set(['Ana Lee']),
    );
    expect(network.count(TOKEN)).toBe(1);
    expect(await refreshTokensOf(registered.clientId)).toBe(2);
    await expire(store);
    await client.getMe();
    expect(network.count(TOKEN)).toBe(2);
  });

  it('refreshes once when the API rejects the access token of parallel calls', async () => {
    const { store, network, client } = await connectPartner(app());
    const tokens = (await store.get()) as Tokens;
    await store.set({ ...tokens, accessToken: tokens.accessToken.replace(/.{4}$/, 'AAAA') });
    await Promise.all([
      client.getMe(),
      client.getQuota(),
      client.createPost({ body: { content: 'Hi' } }),
    ]);
    expect(network.count(TOKEN)).toBe(1);
    expect(network.count(/\/posts$/)).toBe(2);
  });

  it('O96 gets the stored tokens after a lost response, and the next refresh works', async () => {
    const { store, network, client, app: registered } = await connectPartner(app());
    await expire(store);
    network.fail(TOKEN, 'response lost');
    await client.getMe();
    expect(network.count(TOKEN)).toBe(2);
    expect(await refreshTokensOf(registered.clientId)).toBe(2);
    await expire(store);
    await client.getMe();
    expect(await refreshTokensOf(registered.clientId)).toBe(3);
  });

  it('repeats a refresh after a 503, and keeps the tokens while the service is unavailable', async () => {
    const { settings, store, network } = await connectPartner(app());
    await expire(store);
    const before = await store.get();
    network.fail(TOKEN, ...Array.from({ length: 3 }, () => unavailable('0')));
    const impatient = createClient({ ...settings, maxRetries: 1 }, store);
    await expect(impatient.getMe()).rejects.toMatchObject({ name: 'OAuthError', status: 503 });
    expect(await store.get()).toEqual(before);
    expect(await impatient.getMe()).toHaveProperty('name');
  });

  it('gives up a refresh before a repetition looks like the use of a stolen token', async () => {
    const { settings, store, network } = await connectPartner(app());
    const { refreshToken } = (await store.get()) as Tokens;
    network.fail(TOKEN, ...Array.from({ length: 20 }, () => 'request lost' as const));
    await expect(refreshTokens({ ...settings, maxRetries: 20 }, refreshToken)).rejects.toThrow(
      'POST /oauth/token got no response because the network failed.',
    );
    expect(network.count(TOKEN)).toBeLessThanOrEqual(4);
  });

  it.each([500, 502])('repeats a refresh only once after a %i and two seconds', async (status) => {
    const { settings, store, network } = await connectPartner(app());
    const { refreshToken } = (await store.get()) as Tokens;
    network.fail(TOKEN, ...Array.from({ length: 3 }, () => unavailable('2', status)));
    await expect(refreshTokens(settings, refreshToken)).rejects.toMatchObject({ status });
    expect(network.count(TOKEN)).toBe(2);
  });

  it('keeps the stored tokens when the response has none', async () => {
    const { store, network, client } = await connectPartner(app());
    await expire(store);
    const before = await store.get();
    network.fail(TOKEN, Response.json({ access_token: 'svcat_x' }));
    const error: unknown = await client.getMe().catch((e) => e);
    expect(error).toBeInstanceOf(OAuthError);
    expect(error).toMatchObject({ code: 'unknown_error', status: 200 });
    expect(await store.get()).toEqual(before);
  });

  it('accepts a store that returns null and has an accessToken of its own', async () => {
    const { settings } = await connectPartner(app());
    const store = {
      accessToken: '',
      get: () => null,
      set: () => undefined,
      clear: () => undefined,
    };
    await expect(createClient(settings, store).getMe()).rejects.toThrow(AuthorizationRequiredError);
    await disconnect(settings, store);
  });

  it('clears the store when the app disconnects during a refresh', async () => {
    const { settings, store, network, client } = await connectPartner(app());
    await expire(store);
    const call = client.getMe().catch((error: unknown) => error);
    // The refresh begins after the store has returned the tokens.
    while (network.count(TOKEN) === 0) await setImmediate();
    await disconnect(settings, store);
    await call;
    expect(await store.get()).toBeUndefined();
  });

  it('clears the store when the user has disconnected the app', async () => {
    const { settings, store, client } = await connectPartner(app());
    const { refreshToken } = (await store.get()) as Tokens;
    const body = new URLSearchParams({ token: refreshToken });
    const credentials = btoa(`${settings.clientId}:${settings.clientSecret}`);
    const headers = { authorization: `Basic ${credentials}` };
    await app().fetch('/oauth/revoke', { method: 'POST', headers, body });
    const error: unknown = await client.getMe().catch((e) => e);
    expect(error).toBeInstanceOf(AuthorizationRequiredError);
    expect((error as Error).cause).toBeInstanceOf(OAuthError);
    expect(await store.get()).toBeUndefined();
  });

  it('keeps the tokens that another process stored meanwhile', async () => {
    const { settings, store, client, network } = await connectPartner(app());
    const stale = (await store.get()) as Tokens;
    await expire(store);
    const fresh = await refreshTokens(settings, stale.refreshToken);
    network.fail(TOKEN, Response.json({ error: 'invalid_grant' }, { status: 400 }));
    network.slow(50);
    const call = client.getMe();
    await store.set(fresh);
    expect(await call).toHaveProperty('name');
    expect(await store.get()).toEqual(fresh);
  });

  it('refreshes inside the lock of the store, and reads the store again there', async () => {
    const { settings, store, network } = await connectPartner(app());
    await expire(store);
    let turn = Promise.resolve<unknown>(undefined);
    const lock: TokenStore['lock'] = (work) => {
      const result = turn.then(work);
      turn = result;
      return result;
    };
    // Two store objects for the same row, as in two processes.
    const clients = [1, 2].map(() => createClient(settings, { ...store, lock }));
    await Promise.all(clients.map((client) => client.getMe()));
    expect(network.count(TOKEN)).toBe(1);
  });

  it('does not abort the refresh of others when one call is aborted', async () => {
    const { store, network, client } = await connectPartner(app());
    await expire(store);
    network.slow(100);
    const controller = new AbortController();
    const aborted = client.getMe({}, { signal: controller.signal });
    const patient = client.getMe();
    setTimeout(() => controller.abort(), 20);
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    expect(await patient).toHaveProperty('name');
    expect(network.count(TOKEN)).toBe(1);
  });
});
