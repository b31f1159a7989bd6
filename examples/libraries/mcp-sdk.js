import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { getMe, sendUserTo } from './helpers.js';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const stored = { state: crypto.randomUUID() };
const provider = {
  redirectUrl: REDIRECT_URI,
  clientMetadata: { redirect_uris: [REDIRECT_URI] },
  clientInformation: () => ({ client_id: CLIENT_ID, client_secret: CLIENT_SECRET }),
  state: () => stored.state,
  saveCodeVerifier: (verifier) => Object.assign(stored, { verifier }),
  codeVerifier: () => stored.verifier,
  saveTokens: (tokens) => Object.assign(stored, { tokens }),
  tokens: () => stored.tokens,
  redirectToAuthorization: async (link) => (stored.params = (await sendUserTo(link)).searchParams),
};
const request = { serverUrl: `${ISSUER}/dev/v1`, scope: 'profile.read posts.read' };
await auth(provider, request);
if (stored.params.get('state') !== stored.state) throw new Error('state differs');
if (stored.params.has('error')) throw new Error(stored.params.get('error'));
await auth(provider, { ...request, authorizationCode: stored.params.get('code') });
console.log(await getMe(stored.tokens.access_token));
