import OAuth2Server from '@node-oauth/oauth2-server';
import express from 'express';
import { createPool } from 'mysql2/promise';
import { LIFETIMES } from '../token-tables.js';
import { peerSettings } from '../settings.js';
import { MysqlModel } from './mysql-model.js';
import { RateLimitAndAudit } from '../rate-limit-and-audit.js';
import { observe, tokenEndpoint } from './token-endpoint.js';

const { port, databaseUrl, poolSize } = peerSettings();
const pool = createPool({ uri: databaseUrl, connectionLimit: poolSize, timezone: 'Z' });
const server = new OAuth2Server({
  model: new MysqlModel(pool),
  accessTokenLifetime: LIFETIMES.accessToken,
  refreshTokenLifetime: LIFETIMES.refreshToken,
  requireClientAuthentication: { authorization_code: false, refresh_token: false },
  alwaysIssueNewRefreshToken: true,
});

const app = express();
app.disable('x-powered-by');
app.post(
  '/oauth/token',
  observe,
  express.urlencoded({ extended: false }),
  tokenEndpoint(server, new RateLimitAndAudit(pool)),
);
app.listen(port, '127.0.0.1');
