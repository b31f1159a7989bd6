import * as client from 'openid-client';
import { getMe, sendUserTo } from './helpers.js';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const options = { algorithm: 'oauth2' };
if (ISSUER.startsWith('http://127.0.0.1')) options.execute = [client.allowInsecureRequests];
const server = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, null, options);
const [pkceCodeVerifier, expectedState] = [client.randomPKCECodeVerifier(), client.randomState()];
const link = client.buildAuthorizationUrl(server, {
  redirect_uri: REDIRECT_URI,
  scope: 'profile.read posts.read',
  state: expectedState,
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: 'S256',
});
const checks = { pkceCodeVerifier, expectedState };
const tokens = await client.authorizationCodeGrant(server, await sendUserTo(link), checks);
console.log(await getMe(tokens.access_token));
