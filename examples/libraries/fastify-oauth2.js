import oauth2 from '@fastify/oauth2';
import Fastify from 'fastify';
import { getMe } from './helpers.js';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PORT } = process.env;
const app = Fastify().register(oauth2, {
  name: 'neighbourhood',
  discovery: { issuer: `${ISSUER}/.well-known/oauth-authorization-server` },
  credentials: { client: { id: CLIENT_ID, secret: CLIENT_SECRET } },
  scope: ['profile.read', 'posts.read'],
  startRedirectPath: '/login',
  callbackUri: REDIRECT_URI,
});
app.get('/callback', async (request) => {
  const { token } = await app.neighbourhood.getAccessTokenFromAuthorizationCodeFlow(request);
  return getMe(token.access_token);
});
await app.listen({ port: Number(PORT) });
