#!/usr/bin/env bash
# An MCP client that hides why its sign-in failed: after `invalid_client` it deletes the client that an operator registered for it.
#
# Version: @modelcontextprotocol/client 2.4.0, on Node 20.20.
# Expected: `invalid_client` says that the client failed to authenticate (RFC 6749 §5.2), for example because its secret has been
# replaced. The caller gets this error, and keeps the registration and the tokens, which work again with the right secret.
# Seen: `auth` takes each client for one that it registered itself (RFC 7591). It discards the client and the member's tokens, and
# tries again without them. With an authorization code, the caller gets "Existing OAuth client information is required…"; with a
# refresh token, an error about dynamic registration, which the server never offered. Neither error has the code `invalid_client`.
# Why it matters: where operators register apps by hand, a replaced secret is the usual cause. The partner looks for a fault in the
# registration of the client, and all members must sign in again, although one setting was wrong. A provider for such an app should
# keep the client in `invalidateCredentials`: then the request is sent twice, but the caller gets `invalid_client`.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/client@2.4.0

cat > check.js <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { auth } from '@modelcontextprotocol/client';

console.warn = () => undefined;

let url;
let tokenRequests = 0;
const server = createServer((request, response) => {
  const [status, body] = answer(request.url);
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
url = `http://127.0.0.1:${server.address().port}`;

/** An authorization server without dynamic registration, which does not accept the client's secret any more. */
function answer(path) {
  if (path === '/token') {
    tokenRequests += 1;
    return [401, { error: 'invalid_client', error_description: 'The client secret is wrong.' }];
  }
  if (!path.startsWith('/.well-known/oauth-authorization-server')) return [404, {}];
  return [
    200,
    {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
    },
  ];
}

/** A sign-in or refresh of a registered client, which keeps its state as the documentation of the package says. */
async function attempt(options, tokens) {
  tokenRequests = 0;
  const stored = { client: { client_id: 'app', client_secret: 'replaced' }, tokens };
  const provider = {
    redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1:9/callback'], client_name: 'An app' },
    clientInformation: () => stored.client,
    saveClientInformation: (client) => (stored.client = client),
    tokens: () => stored.tokens,
    saveTokens: (saved) => (stored.tokens = saved),
    codeVerifier: () => 'v'.repeat(43),
    saveCodeVerifier: () => undefined,
    discoveryState: () => stored.discovery,
    saveDiscoveryState: (discovery) => (stored.discovery = discovery),
    redirectToAuthorization: () => undefined,
    invalidateCredentials: (scope) => delete stored[scope],
  };
  stored.discovery = { authorizationServerUrl: url, authorizationServerMetadata: answer('/.well-known/oauth-authorization-server')[1] };
  const error = await auth(provider, { serverUrl: url, ...options }).catch((thrown) => thrown);
  return {
    error: error.message,
    code: error.code ?? 'none',
    client: stored.client === undefined ? 'deleted' : 'kept',
    tokens: stored.tokens === undefined ? 'none' : 'kept',
    tokenRequests,
  };
}

const exchange = await attempt({ authorizationCode: 'c1' });
const refresh = await attempt({}, { access_token: 'a1', refresh_token: 'r1', token_type: 'Bearer' });
server.close();
server.closeAllConnections();
console.log('exchange:', exchange);
console.log('refresh: ', refresh);
const hides = ({ code, client, tokenRequests }) =>
  code !== 'invalid_client' && client === 'deleted' && tokenRequests === 1;
const holds = hides(exchange) && hides(refresh) && refresh.tokens === 'none';
console.log(holds ? 'As described.' : 'Changed.');
process.exitCode = holds ? 0 : 1;
JS
node check.js
