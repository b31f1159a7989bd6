import {
  allowAsTestMember,
  type Client,
  createClient,
  finishAuthorization,
  memoryStore,
  startAuthorization,
  type Tokens,
  type TokenStore,
} from '../../clients/typescript/src/index.js';
import type { Settings } from '../../clients/typescript/src/settings.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { SCOPES } from '../../src/platform/access/scopes.js';
import type { TestApp, TestClient } from '../support/test-app.js';
import { UnreliableNetwork } from './unreliable-network.js';

/** The code of the test members. */
const TEST_CODE = '424242';

/** A test app that uses the TypeScript client, with the tokens of one test member. */
export interface Partner {
  registered: TestClient;
  user: UserWithPhone;
  settings: Settings;
  network: UnreliableNetwork;
  store: TokenStore;
  client: Client;
}

export function settingsOf(
  { baseUrl }: Pick<TestApp, 'baseUrl'>,
  { clientId, secret, redirectUris: [redirectUri = ''] }: TestClient,
  network = new UnreliableNetwork(),
): Settings {
  return { issuer: baseUrl, clientId, clientSecret: secret, redirectUri, fetch: network.fetch };
}

/** Registers a test app. */
export function addTestClient(
  app: TestApp,
  kind: TestClient['kind'] = 'confidential',
): Promise<TestClient> {
  return app.addClient({ kind, test: true });
}

export function addTestUser(app: TestApp): Promise<UserWithPhone> {
  return app.addUser({ name: 'Ana Lee', testCode: TEST_CODE });
}

/** Opens the link as a test member and allows access. Returns the address of the redirect. */
export async function allow(url: string, { phone }: UserWithPhone): Promise<URL> {
  return new URL(await allowAsTestMember(url, { phone, code: TEST_CODE }));
}

/** Runs the flow through the pages. */
export async function authorize(
  settings: Settings,
  user: UserWithPhone,
  scope = SCOPES.join(' '),
): Promise<Tokens> {
  const { url, pending } = await startAuthorization(settings, { scope });
  return finishAuthorization(settings, await allow(url, user), pending);
}

/** Registers a test app and issues tokens for a new test member, without the pages. */
export async function connectPartner(
  app: TestApp,
  overrides: Partial<Settings> = {},
): Promise<Partner> {
  const network = new UnreliableNetwork();
  const registered = await addTestClient(app);
  const user = await addTestUser(app);
  const settings = { ...settingsOf(app, registered, network), ...overrides };
  const issued = await app.issueTokens(user, registered);
  const store = memoryStore({
    accessToken: issued.accessToken,
    refreshToken: issued.refreshToken,
    scopes: [...SCOPES],
    expiresAt: Date.now() + 3_600_000,
  });
  return { registered, user, settings, network, store, client: createClient(settings, store) };
}

/** Lets the access token of the store expire, for the client. */
export async function expire(store: TokenStore): Promise<void> {
  const tokens = await store.get();
  if (tokens) await store.set({ ...tokens, expiresAt: 0 });
}
