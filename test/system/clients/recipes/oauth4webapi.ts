// recipe:begin
import * as oauth from 'oauth4webapi';
import type { Settings } from './settings.js';

/** Once, when your app starts. `ClientSecretPost` sends the secret in the body instead. */
export async function connect(settings: Settings, proofBy = oauth.ClientSecretBasic) {
  const { clientId, clientSecret, redirectUri } = settings;
  const issuer = new URL(settings.issuer);
  const onThisMachine = ['localhost', '127.0.0.1'].includes(issuer.hostname);
  const options = { [oauth.allowInsecureRequests]: onThisMachine };
  const metadata = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  const server = await oauth.processDiscoveryResponse(issuer, metadata);
  const client = { client_id: clientId };
  const app = [server, client, clientSecret ? proofBy(clientSecret) : oauth.None()] as const;

  return {
    /** Redirect the browser to the link. Keep state and verifier in its session until it comes back. */
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

    /** The browser is back. Compares state and iss, and throws what the member or the service refused. */
    async finish(back: URL, { state, verifier }: { state: string; verifier: string }) {
      const code = oauth.validateAuthResponse(server, client, back, state);
      const rest = [redirectUri, verifier, options] as const;
      const answer = await oauth.authorizationCodeGrantRequest(...app, code, ...rest);
      return oauth.processAuthorizationCodeResponse(server, client, answer);
    },

    /** Store the new refresh token in place of the old one before you use the access token. */
    async refresh(refreshToken: string) {
      const answer = await oauth.refreshTokenGrantRequest(...app, refreshToken, options);
      return oauth.processRefreshTokenResponse(server, client, answer);
    },

    /** Given the refresh token, ends your app's access; given an access token, that token alone. */
    async revoke(token: string) {
      await oauth.processRevocationResponse(await oauth.revocationRequest(...app, token, options));
    },
  };
}
// recipe:end
