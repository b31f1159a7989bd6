import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import {
  AuthorizationRequiredError,
  createClient,
  disconnect,
  memoryStore,
  NoResponseError,
  OAuthError,
  type Tokens,
  type TokenStore,
} from '../../clients/typescript/src/index.js';
import { Grant, RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { onOneEngine } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';
import { connectPartner, expire, type Partner } from './partner.js';
import { unavailable } from './unreliable-network.js';

const TOKEN = /^POST \/oauth\/token$/;

/** A lock of several store objects. */
function takeTurns(): NonNullable<TokenStore['lock']> {
  let turn = Promise.resolve<unknown>(undefined);
  return (work) => {
    const result = turn.then(work);
    turn = result;
    return result;
  };
}

onOneEngine('Refresh with the TypeScript client', (database) => {
  const app = useTestApp(database);

  /** The number of refresh tokens that were issued to this app. */
  async function refreshTokensOf(clientId: string): Promise<number> {
    const { manager } = app().dataSource;
    const { id: grantId } = await manager.findOneByOrFail(Grant, { clientId });
    return manager.countBy(RefreshToken, { grantId });
  }

  it('refreshes once for parallel calls of two clients with the same store', async () => {
    const { settings, store, network, client, registered } = await connectPartner(app());
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
    const { store, network, client, registered } = await connectPartner(app());
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
    const { store, network, client } = await connectPartner(app(), { maxRetries: 20 });
    await expire(store);
    network.fail(TOKEN, ...Array.from({ length: 20 }, () => 'request lost' as const));
    await expect(client.getMe()).rejects.toThrow(
      'POST /oauth/token got no response because the network failed.',
    );
    expect(network.count(TOKEN)).toBeLessThanOrEqual(4);
  });

  it.each([500, 502])('repeats a refresh only once after a %i and two seconds', async (status) => {
    const { store, network, client } = await connectPartner(app());
    await expire(store);
    network.fail(TOKEN, ...Array.from({ length: 3 }, () => unavailable('2', status)));
    await expect(client.getMe()).rejects.toMatchObject({ status });
    expect(network.count(TOKEN)).toBe(2);
  });

  describe('In a later call', () => {
    /** An app whose first call lost two token requests or their responses, and makes the next call after a while. */
    async function afterFailedCall(
      fault: 'request lost' | 'response lost',
      { seconds }: { seconds: number },
    ): Promise<Partner> {
      const partner = await connectPartner(app(), { maxRetries: 1 });
      const { store, network, client } = partner;
      await expire(store);
      network.fail(TOKEN, fault, fault);
      await expect(client.getMe()).rejects.toThrow(NoResponseError);
      expect(network.count(TOKEN)).toBe(2);
      app().clock.advance(seconds * 1000);
      const now = performance.now.bind(performance);
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1000);
      onTestFinished(() => clock.mockRestore());
      return partner;
    }

    it('gets the tokens of lost responses with one more request', async () => {
      const { client, network, store, registered } = await afterFailedCall('response lost', {
        seconds: 3,
      });
      expect(await client.getMe()).toHaveProperty('name');
      expect(network.count(TOKEN)).toBe(3);
      await expire(store);
      await client.getMe();
      expect(await refreshTokensOf(registered.clientId)).toBe(3);
    });

    it('repeats no request that the service would take for theft', async () => {
      const { client, network, store, registered } = await afterFailedCall('response lost', {
        seconds: 3,
      });
      network.fail(TOKEN, 'response lost', 'response lost');
      await expect(client.getMe()).rejects.toThrow(NoResponseError);
      expect(network.count(TOKEN)).toBe(3);
      expect(await store.get()).toBeDefined();
      const { clientId } = registered;
      const grant = await app().dataSource.manager.findOneByOrFail(Grant, { clientId });
      expect(grant.revokedAt).toBeNull();
    });

    it.each([
      { seconds: 3, recovers: false },
      // The service would no longer repeat a response.
      { seconds: 31, recovers: true },
    ])(
      'sends one request each time while none arrives, and repeats again after 30 seconds ($seconds)',
      async ({ seconds, recovers }) => {
        const { client, network } = await afterFailedCall('request lost', { seconds });
        network.fail(TOKEN, 'request lost');
        if (!recovers) {
          await expect(client.getMe()).rejects.toThrow(NoResponseError);
          expect(network.count(TOKEN)).toBe(3);
        }
        expect(await client.getMe()).toHaveProperty('name');
        expect(network.count(TOKEN)).toBe(4);
      },
    );
  });

  describe('If the store cannot save the new tokens', () => {
    /** A store that fails to save tokens the first `failures` times, with the access token expired. */
    async function connectWithFailingStore(failures: number): Promise<Partner> {
      const partner = await connectPartner(app());
      await expire(partner.store);
      let left = failures;
      const store: TokenStore = {
        ...partner.store,
        set: (tokens) => {
          left -= 1;
          if (left >= 0) throw new Error('The disk is full.');
          return partner.store.set(tokens);
        },
      };
      return { ...partner, store, client: createClient(partner.settings, store) };
    }

    it('saves them in the next call, without another refresh', async () => {
      const { client, network, store } = await connectWithFailingStore(2);
      const before = (await store.get()) as Tokens;
      for (let i = 0; i < 2; i += 1) await expect(client.getMe()).rejects.toThrow('disk is full');
      app().clock.advance(60_000);
      expect(await client.getMe()).toHaveProperty('name');
      expect(network.count(TOKEN)).toBe(1);
      expect((await store.get())?.refreshToken).not.toBe(before.refreshToken);
      await expire(store);
      await client.getMe();
      expect(network.count(TOKEN)).toBe(2);
    });

    it('saves no tokens over those of a new authorization', async () => {
      const { client, network, store, settings, user, registered } =
        await connectWithFailingStore(1);
      await expect(client.getMe()).rejects.toThrow('disk is full');
      const issued = await app().issueTokens(user, registered);
      const tokens = { ...issued, scopes: ['profile.read'], expiresAt: Date.now() + 3_600_000 };
      await store.set(tokens);
      expect(await createClient(settings, store).getMe()).toHaveProperty('name');
      expect(await store.get()).toEqual(tokens);
      expect(network.count(TOKEN)).toBe(1);
    });
  });

  it('refreshes again when a shared refresh returns the token that was just rejected', async () => {
    const { settings, store, network } = await connectPartner(app());
    const valid = (await store.get()) as Tokens;
    const rejected = { ...valid, accessToken: valid.accessToken.replace(/.{4}$/, 'AAAA') };
    const stale = { ...valid, accessToken: valid.accessToken.replace(/.{4}$/, 'BBBB') };
    let current = stale;
    let reads = 0;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Another process stores tokens while a first call waits for the lock. The API rejects them for a second call.
    const shared: TokenStore = {
      get: () => {
        reads += 1;
        return current;
      },
      set: (tokens) => {
        current = tokens;
      },
      clear: () => undefined,
      lock: async (work) => {
        await held;
        return work();
      },
    };
    const client = createClient(settings, shared);
    const first = client.getMe().catch((error: unknown) => error);
    // Before the request, and after its rejection.
    await expect.poll(() => reads).toBe(2);
    current = rejected;
    const second = client.getMe();
    await expect.poll(() => reads).toBe(4);
    await setImmediate();
    release();
    expect((await second).name).toBe('Ana Lee');
    expect(await first).toMatchObject({ code: 'invalid_token' });
    expect(network.count(TOKEN)).toBe(1);
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
    const other = memoryStore({ ...stale, expiresAt: 0 });
    await createClient(settings, other).getMe();
    const fresh = (await other.get()) as Tokens;
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
    const lock = takeTurns();
    // Two store objects for the same row, as in two processes.
    const clients = [1, 2].map(() => createClient(settings, { ...store, lock }));
    await Promise.all(clients.map((client) => client.getMe()));
    expect(network.count(TOKEN)).toBe(1);
  });

  it('disconnects inside the lock of the store, after the refresh of another process', async () => {
    const { settings, store, network } = await connectPartner(app());
    await expire(store);
    const changes: string[] = [];
    const row: TokenStore = {
      get: () => store.get(),
      set: async (tokens) => {
        await sleep(200);
        changes.push('set');
        await store.set(tokens);
      },
      clear: async () => {
        changes.push('clear');
        await store.clear();
      },
      lock: takeTurns(),
    };
    const call = createClient(settings, row).getMe();
    while (network.count(TOKEN) === 0) await setImmediate();
    await disconnect(settings, { ...row });
    await call.catch(() => undefined);
    expect(changes.slice(0, 2)).toEqual(['set', 'clear']);
    expect(await store.get()).toBeUndefined();
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
