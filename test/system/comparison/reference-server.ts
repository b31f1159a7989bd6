import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ClientMetadata, type Configuration, errors, Provider } from 'oidc-provider';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import type { AppConfig } from '../../../src/platform/config/app-config.js';
import { Browser } from '../../support/browser.js';
import { freePort } from '../../support/free-port.js';
import type { TestClient } from '../../support/test-app.js';
import { responseOf } from './our-server.js';
import type { Apps, TestedServer } from './tested-server.js';
import { MemoryStore } from './memory-store.js';

const USER_ID = 'usr_reference';

/** `oidc-provider`, configured to behave like our server as far as possible. */
export interface ReferenceServer extends TestedServer {
  stop(): Promise<void>;
}

/** Starts the reference on a free loopback port with the same apps. Its users sign in and decide without a page. */
export async function startReferenceServer(
  apps: Apps,
  lifetimes: AppConfig['lifetimes'],
): Promise<ReferenceServer> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const store = new MemoryStore();
  const provider = new Provider(baseUrl, configuration(apps, lifetimes, store));
  const handleProtocol = provider.callback();
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact(provider, request, response);
    else void handleProtocol(request, response);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');

  const send: TestedServer['fetch'] = (path, init = {}) =>
    fetch(new URL(path, baseUrl), { redirect: 'manual', ...init });
  return {
    baseUrl,
    apps,
    fetch: send,
    async decide(link, decision) {
      const browser = new Browser({
        baseUrl,
        fetch: send,
        sms: { count: () => 0, password: noPassword },
      });
      let page = await browser.open(link);
      while (page.location !== null && new URL(page.location, baseUrl).origin === baseUrl)
        page = await browser.open(withDecision(page.location, decision));
      return responseOf(page);
    },
    advance: (seconds) => store.age(seconds),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Replaces the sign-in page and the consent page: decides without a user. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  if (request.url?.endsWith('?decision=deny')) {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
    return;
  }
  const grant = new provider.Grant({ accountId: USER_ID, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, {
    login: { accountId: USER_ID },
    consent: { grantId },
  });
}

function configuration(
  apps: Apps,
  lifetimes: AppConfig['lifetimes'],
  store: MemoryStore,
): Configuration {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  return {
    adapter: (kind) => store.adapter(kind),
    clients: Object.values(apps).map(metadataOf),
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['a key for tests'] },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      introspection: '/oauth/introspect',
    },
    scopes: [...SCOPES],
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    pkce: { required: (_, { tokenEndpointAuthMethod }) => tokenEndpointAuthMethod === 'none' },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    renderError(ctx) {
      ctx.type = 'html';
      ctx.body = '<!doctype html><title>Error</title>';
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      introspection: {
        enabled: true,
        allowedPolicy: (_, client, token) => token.clientId === client.clientId,
      },
      revocation: { enabled: true, allowedPolicy: mayRevoke },
    },
    ttl: {
      AuthorizationCode: lifetimes.code,
      AccessToken: lifetimes.accessToken,
      RefreshToken: lifetimes.refreshIdle,
      Grant: lifetimes.grant,
      Interaction: lifetimes.signIn,
      Session: lifetimes.session,
    },
  };
}

function metadataOf({ clientId, secret, kind, redirectUris, scopes }: TestClient): ClientMetadata {
  return {
    client_id: clientId,
    client_secret: secret,
    redirect_uris: [...redirectUris],
    application_type: kind === 'public' ? 'native' : 'web',
    token_endpoint_auth_method: kind === 'public' ? 'none' : 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    id_token_signed_response_alg: 'ES256',
    scope: scopes.join(' '),
  };
}

/** Rejects tokens of other apps with an error, as our server does. By default, `oidc-provider` does so only for confidential apps. */
function mayRevoke(
  _: unknown,
  { clientId }: { clientId: string },
  token: { clientId?: string },
): boolean {
  if (token.clientId === clientId) return true;
  throw new errors.InvalidRequest('The token belongs to another app.');
}

function withDecision(location: string, decision: string): string {
  return location.includes('/interaction/') ? `${location}?decision=${decision}` : location;
}

function noPassword(): never {
  throw new Error('The reference server has no sign-in by phone.');
}
