import { auth, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getMe, sendUserTo } from './helpers.js';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const stored = { state: crypto.randomUUID() };
const authProvider = {
  redirectUrl: REDIRECT_URI,
  clientMetadata: { redirect_uris: [REDIRECT_URI] },
  clientInformation: () => ({ client_id: CLIENT_ID, client_secret: CLIENT_SECRET }),
  state: () => stored.state,
  saveDiscoveryState: (discovery) => Object.assign(stored, { discovery }),
  discoveryState: () => stored.discovery,
  saveCodeVerifier: (verifier) => Object.assign(stored, { verifier }),
  codeVerifier: () => stored.verifier,
  saveTokens: (tokens) => Object.assign(stored, { tokens }),
  tokens: () => stored.tokens,
  redirectToAuthorization: async (link) => (stored.params = (await sendUserTo(link)).searchParams),
};
const serverUrl = new URL(`${ISSUER}/dev/v1`);
await auth(authProvider, { serverUrl, scope: 'profile.read posts.read' });
if (stored.params.get('state') !== stored.state) throw new Error('state differs');
await new StreamableHTTPClientTransport(serverUrl, { authProvider }).finishAuth(stored.params);
console.log(await getMe(stored.tokens.access_token));
