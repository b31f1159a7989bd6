import express from 'express';
import session from 'express-session';
import * as client from 'openid-client';
import { Strategy } from 'openid-client/passport';
import passport from 'passport';
import { getMe } from './helpers.js';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PORT, SESSION_SECRET } = process.env;
const options = { algorithm: 'oauth2' };
if (ISSUER.startsWith('http://127.0.0.1')) options.execute = [client.allowInsecureRequests];
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, null, options);
const settings = { config, name: 'us', callbackURL: REDIRECT_URI, scope: 'profile.read' };
const loadUser = async (tokens, done) => done(null, await getMe(tokens.access_token));
const strategy = new Strategy(settings, loadUser);
strategy.authorizationRequestParams = () => new URLSearchParams({ state: client.randomState() });
const signIn = passport.use(strategy).authenticate('us', { session: false });
const store = session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false });
const app = express().use(store).get('/login', signIn);
app.get('/callback', signIn, (req, res) => res.json(req.user)).listen(PORT);
