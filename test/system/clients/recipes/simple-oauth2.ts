// recipe:begin
import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode } from 'simple-oauth2';
import type { Settings } from './settings.js';

/** Once, when your app starts. The paths that the library assumes are those of this service. */
export function connect({ issuer, clientId, clientSecret = '', redirectUri }: Settings) {
  const app = new AuthorizationCode({
    client: { id: clientId, secret: clientSecret },
    auth: { tokenHost: issuer },
    options: { authorizationMethod: clientSecret === '' ? 'body' : 'header' },
  });

  return {
    /** Redirect the browser to the link. Keep state and verifier in its session until it comes back. */
    begin(scope: string) {
      const state = randomBytes(32).toString('base64url');
      const verifier = randomBytes(32).toString('base64url');
      const question = {
        redirect_uri: redirectUri,
        scope,
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      return { link: app.authorizeURL(question), state, verifier };
    },

    /** The browser is back. The library compares neither state nor iss, so this does. */
    async finish({ searchParams }: URL, { state, verifier }: { state: string; verifier: string }) {
      const answer = Object.fromEntries(searchParams);
      if (answer.state !== state) throw new Error('This answers another request.');
      if (answer.iss !== issuer) throw new Error('Another server answered.');
      if (answer.code === undefined) throw new Error(`Refused: ${answer.error}`);
      const proof = { code: answer.code, redirect_uri: redirectUri, code_verifier: verifier };
      return app.getToken(proof);
    },

    /** The stored token again. Later: `token = await token.refresh()`; in the end: `await token.revoke('refresh_token')`. */
    restore: app.createToken.bind(app),
  };
}
// recipe:end
