import express from 'express';
import session from 'express-session';
import passport from 'passport';
import { Strategy } from 'passport-oauth2';
import { getMe } from './helpers.js';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PORT, SESSION_SECRET } = process.env;
const settings = {
  authorizationURL: `${ISSUER}/oauth/authorize`,
  tokenURL: `${ISSUER}/oauth/token`,
  clientID: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  callbackURL: REDIRECT_URI,
  scope: ['profile.read', 'posts.read'],
  state: true,
  pkce: true,
};
const loadUser = (token, refreshToken, profile, done) =>
  getMe(token).then((user) => done(null, user), done);
const strategy = new Strategy(settings, loadUser);
const signIn = passport.use(strategy).authenticate('oauth2', { session: false });
const store = session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false });
const app = express().use(store).get('/login', signIn);
app.get('/callback', signIn, (req, res) => res.json(req.user)).listen(PORT);
