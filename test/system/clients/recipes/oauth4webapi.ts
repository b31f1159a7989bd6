// recipe:begin
import * as oauth from 'oauth4webapi';
import type { Settings } from './settings.js';

/** Call once, when your app starts. `ClientSecretPost` sends the secret in the body instead of the header. */
export async function connect(settings: Settings, clientAuth = oauth.ClientSecretBasic) {
  const { clientId, clientSecret, redirectUri } = settings;
  const issuer = new URL(settings.issuer);
  const isLocal = ['localhost', '127.0.0.1'].includes(issuer.hostname);
  const options = { [oauth.allowInsecureRequests]: isLocal };
  const metadata = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  const server = await oauth.processDiscoveryResponse(issuer, metadata);
  const client = { client_id: clientId };
  const app = [server, client, clientSecret ? clientAuth(clientSecret) : oauth.None()] as const;

  return {
    /** Redirect the browser to `link`. Store `state` and `verifier` in your session for this browser. */
    async begin(scope: string) {
      const state = oauth.generateRandomState();
      const verifier = oauth.generateRandomCodeVerifier();
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { link: `${server.authorization_endpoint}?${query}`, state, verifier };
    },

    /** Call in the handler of the redirect URI. Throws if `state` or `iss` differs, or if the response is an error. */
    async finish(callbackUrl: URL, { state, verifier }: { state: string; verifier: string }) {
      const code = oauth.validateAuthResponse(server, client, callbackUrl, state);
      const rest = [redirectUri, verifier, options] as const;
      const response = await oauth.authorizationCodeGrantRequest(...app, code, ...rest);
      return oauth.processAuthorizationCodeResponse(server, client, response);
    },

    /** Replace the stored refresh token before you use the new access token. */
    async refresh(refreshToken: string) {
      const response = await oauth.refreshTokenGrantRequest(...app, refreshToken, options);
      return oauth.processRefreshTokenResponse(server, client, response);
    },

    /** A refresh token: revokes all tokens of this authorization. An access token: revokes only that token. */
    async revoke(token: string) {
      await oauth.processRevocationResponse(await oauth.revocationRequest(...app, token, options));
    },
  };
}
// recipe:end
