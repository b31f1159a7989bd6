import { ExpressAuth } from '@auth/express';
import express from 'express';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const neighbourhood = {
  id: 'neighbourhood', // the redirect URI is <your site>/auth/callback/neighbourhood
  name: 'The neighbourhood',
  type: 'oauth',
  issuer: ISSUER,
  authorization: { url: `${ISSUER}/oauth/authorize`, params: { scope: 'profile.read posts.read' } },
  token: `${ISSUER}/oauth/token`,
  userinfo: `${ISSUER}/dev/v1/me`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  checks: ['pkce', 'state'],
  profile: ({ id, name, photoUrl }) => ({ id, name, image: photoUrl }),
};
const app = express().use('/auth', ExpressAuth({ providers: [neighbourhood] }));
app.listen(PORT);
