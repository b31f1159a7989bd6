// recipe:begin
import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode } from 'simple-oauth2';
import type { Settings } from './settings.js';

/** Call once, when your app starts. This service uses the default paths of the library. */
export function connect({ issuer, clientId, clientSecret = '', redirectUri }: Settings) {
  const app = new AuthorizationCode({
    client: { id: clientId, secret: clientSecret },
    auth: { tokenHost: issuer },
    options: { authorizationMethod: clientSecret === '' ? 'body' : 'header' },
  });

  return {
    /** Redirect the browser to `link`. Store `state` and `verifier` in your session for this browser. */
    begin(scope: string) {
      const state = randomBytes(32).toString('base64url');
      const verifier = randomBytes(32).toString('base64url');
      const parameters = {
        redirect_uri: redirectUri,
        scope,
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      return { link: app.authorizeURL(parameters), state, verifier };
    },

    /** Call in the handler of the redirect URI. The library does not compare `state` and `iss`. */
    async finish({ searchParams }: URL, { state, verifier }: { state: string; verifier: string }) {
      const response = Object.fromEntries(searchParams);
      // Without a pending request, both could be undefined.
      if (!state || response.state !== state) throw new Error('state differs from the request.');
      if (response.iss !== issuer) throw new Error('iss differs from the issuer.');
      if (response.code === undefined) throw new Error(`Authorization failed: ${response.error}`);
      const exchange = { code: response.code, redirect_uri: redirectUri, code_verifier: verifier };
      return app.getToken(exchange);
    },

    /** Loads a stored token. Then call `token = await token.refresh()` or `await token.revoke('refresh_token')`. */
    restore: app.createToken.bind(app),
  };
}
// recipe:end
