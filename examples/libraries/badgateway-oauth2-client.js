import { generateCodeVerifier, OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client';
import { sendUserTo } from './helpers.js';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const client = new OAuth2Client({
  server: ISSUER,
  discoveryEndpoint: '/.well-known/oauth-authorization-server',
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
});
const codeVerifier = await generateCodeVerifier();
const request = { redirectUri: REDIRECT_URI, state: crypto.randomUUID(), codeVerifier };
const scope = ['profile.read', 'posts.read'];
const link = await client.authorizationCode.getAuthorizeUri({ ...request, scope });
const callbackUrl = await sendUserTo(link);
const token = await client.authorizationCode.getTokenFromCodeRedirect(callbackUrl, request);
const api = new OAuth2Fetch({ client, getNewToken: () => token, scheduleRefresh: false });
console.log(await (await api.fetch(`${ISSUER}/dev/v1/me`)).json());
