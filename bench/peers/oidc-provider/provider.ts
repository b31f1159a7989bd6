import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Provider, type AdapterFactory, type FindAccount, type JWK } from 'oidc-provider';
import { CLIENT_ID, REDIRECT_URI, SCOPES } from '../../credentials.js';
import { LIFETIMES } from '../token-tables.js';

/** The dependencies of the provider. */
export interface ProviderOptions {
  issuer: string;
  adapter: AdapterFactory;
  findAccount: FindAccount;
}

/**
 * An OAuth authorization server without OpenID Connect: without the scope `openid` there is no ID token. Refresh tokens need no
 * `offline_access` and outlive the session.
 */
export function createProvider({ issuer, adapter, findAccount }: ProviderOptions): Provider {
  return new Provider(issuer, {
    adapter,
    findAccount,
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: 'none',
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    scopes: SCOPES.split(' '),
    routes: { token: '/oauth/token' },
    ttl: {
      AuthorizationCode: LIFETIMES.code,
      AccessToken: LIFETIMES.accessToken,
      RefreshToken: LIFETIMES.refreshToken,
      Grant: LIFETIMES.grant,
      Session: LIFETIMES.session,
    },
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    jwks: { keys: [signingKey()] },
  });
}

/** The library requires a signing key, even if it signs nothing. */
function signingKey(): JWK {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'jwk' });
}
