#!/usr/bin/env bash
# An OAuth client that asks the user to sign in again because the token endpoint was unavailable for a moment.
#
# Version: @badgateway/oauth2-client 3.3.1, on Node 20.20.
# Expected: only `invalid_grant` says that a refresh token does not work any more (RFC 6749 §5.2). After 503 with `Retry-After`, the
# client keeps the token, and reports the error or tries again later.
# Seen: OAuth2Fetch treats each error of a refresh alike. It calls `getNewToken`, the function that starts a new sign-in, although
# the same refresh token works a moment later.
# Why it matters: each restart of an authorization server without a second process sends users to its sign-in page, where they get a
# one-time password by SMS that nobody needed. `getNewToken` should return null while a sign-in is not certain to be needed.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts @badgateway/oauth2-client@3.3.1

cat > check.js <<'JS'
import { createServer } from 'node:http';
import { once } from 'node:events';
import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client';

const UNAVAILABLE = [503, { error: 'temporarily_unavailable' }];
const REFRESHED = [200, { access_token: 'a2', refresh_token: 'r2', token_type: 'Bearer', expires_in: 3600 }];

console.warn = () => undefined;

/** How often a request with an expired access token leads to a new sign-in, with this response of the token endpoint. */
async function signIns([status, body]) {
  const server = createServer((request, response) => {
    const isToken = request.url === '/token';
    response.writeHead(isToken ? status : 200, { 'Content-Type': 'application/json', 'Retry-After': '1' });
    response.end(JSON.stringify(isToken ? body : {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  let count = 0;
  const api = new OAuth2Fetch({
    client: new OAuth2Client({ clientId: 'app', clientSecret: 'secret', tokenEndpoint: `${url}/token` }),
    getStoredToken: () => ({ accessToken: 'a1', refreshToken: 'r1', expiresAt: Date.now() - 1000 }),
    getNewToken: () => {
      count += 1;
      return null;
    },
    scheduleRefresh: false,
  });
  await api.fetch(`${url}/me`).catch(() => undefined);
  server.closeAllConnections();
  server.close();
  return count;
}

const refreshed = await signIns(REFRESHED);
const unavailable = await signIns(UNAVAILABLE);
console.log(`Refresh succeeds: ${refreshed} sign-ins. Token endpoint returns 503: ${unavailable} sign-ins.`);
const holds = refreshed === 0 && unavailable === 1;
console.log(holds ? 'As described.' : 'Changed.');
process.exit(holds ? 0 : 1);
JS
node --no-warnings check.js
