#!/usr/bin/env bash
# An OAuth client that loses the refresh token at the first refresh, unless the server returns a new one.
#
# Version: simple-oauth2 5.1.0, on Node 20.20.
# Expected: `refresh_token` is optional in the response to a refresh. Without it, the client keeps the one that it has (RFC 6749 §6).
# Seen: the new token has no refresh token, and the next refresh sends an empty one.
# Why it matters: with a server that does not rotate refresh tokens, users must sign in again at the second refresh, usually two hours
# after the first sign-in, when no developer looks. A server that always returns a refresh token, rotated or not, avoids it.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts simple-oauth2@5.1.0

cat > check.js <<'JS'
import { createServer } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { AuthorizationCode } from 'simple-oauth2';

/** The refresh tokens that a client sends in two refreshes. The first is `r1`; `successor` is in each response. */
async function refreshTwice(successor) {
  const sent = [];
  const server = createServer(async (request, response) => {
    sent.push(new URLSearchParams(await text(request)).get('refresh_token'));
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', expires_in: 3600, refresh_token: successor }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new AuthorizationCode({
    client: { id: 'app', secret: 'secret' },
    auth: { tokenHost: `http://127.0.0.1:${server.address().port}` },
  });
  const first = client.createToken({ access_token: 'a', refresh_token: 'r1', expires_in: 0 });
  await (await first.refresh()).refresh();
  server.closeAllConnections();
  server.close();
  return sent;
}

const kept = await refreshTwice(undefined);
const rotated = await refreshTwice('r2');
console.log(`No refresh token in the response: sent ${JSON.stringify(kept)}`);
console.log(`A new refresh token in the response: sent ${JSON.stringify(rotated)}`);
const holds = kept[0] === 'r1' && !kept[1] && rotated[1] === 'r2';
console.log(holds ? 'As described.' : 'Changed.');
process.exit(holds ? 0 : 1);
JS
node --no-warnings check.js
