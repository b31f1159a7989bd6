import {
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
import { decide } from '../system/clients/decide.js';
import { UnreliableNetwork } from './unreliable-network.js';

/** An app that uses the TypeScript client, with the tokens of one user. */
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

/** Runs the flow through the pages. */
export async function authorize(
  app: TestApp,
  settings: Settings,
  user: UserWithPhone,
  scope = SCOPES.join(' '),
): Promise<Tokens> {
  const { url, pending } = await startAuthorization(settings, { scope });
  return finishAuthorization(settings, await decide(app, url, { user }), pending);
}

/** Registers an app and issues tokens for a new user, without the pages. */
export async function connectPartner(
  app: TestApp,
  overrides: Partial<Settings> = {},
): Promise<Partner> {
  const network = new UnreliableNetwork();
  const registered = await app.addClient();
  const user = await app.addUser({ name: 'Ana Lee' });
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
