import { createServer } from 'node:http';
import { betterAuth } from 'better-auth';
import { toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const neighbourhood = {
  providerId: 'neighbourhood', // the redirect URI is <your site>/api/auth/callback/neighbourhood
  discoveryUrl: `${ISSUER}/.well-known/oauth-authorization-server`,
  userInfoUrl: `${ISSUER}/dev/v1/me`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  scopes: ['profile.read', 'posts.read'],
  // better-auth requires an email address, which this service does not return.
  mapProfileToUser: (me) => ({ name: me.name, email: `${me.id}@users.invalid` }),
};
const auth = betterAuth({ plugins: [genericOAuth({ config: [neighbourhood] })] });
createServer(toNodeHandler(auth)).listen(PORT);
