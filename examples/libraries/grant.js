import express from 'express';
import session from 'express-session';
import grant from 'grant';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PORT, SESSION_SECRET } = process.env;
const neighbourhood = {
  oauth: 2,
  authorize_url: `${ISSUER}/oauth/authorize`,
  access_url: `${ISSUER}/oauth/token`,
  profile_url: `${ISSUER}/dev/v1/me`,
  key: CLIENT_ID,
  secret: CLIENT_SECRET,
  redirect_uri: REDIRECT_URI, // ends with /connect/neighbourhood/callback
  scope: ['profile.read', 'posts.read'],
  scope_delimiter: ' ',
  state: true,
  pkce: true,
  response: ['tokens', 'profile'],
  transport: 'session',
  callback: '/finished',
};
const store = session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false });
const app = express().use(store, grant.express({ neighbourhood }));
app.get('/finished', (req, res) => res.json(req.session.grant.response.profile)).listen(PORT);
