#!/usr/bin/env bash
# An HTTP client that sends a POST a second time, by itself, after the server has received the first one.
#
# Versions: Deno 2.9.6, with its `fetch` and with `node:http`. For comparison: Bun 1.4.5 and Node.
# Expected: a client does not repeat a request whose method is not idempotent, unless it knows that the first one was not executed
#   (RFC 9110 §9.2.2). If the connection closes without a response, it does not know, and the call fails.
# Seen: if the connection was used before, Deno sends the POST again on a new connection, and the caller sees only the second response.
#   On a new connection it does not. Bun and Node send each POST once.
# Why it matters: a server that stops, or a proxy that loses the server behind it, closes connections like this. A token endpoint gets the
#   authorization code or the rotated refresh token twice, which looks like theft and may end the access (RFC 9700 §2.2.2, RFC 6749
#   §4.1.2). An API without `Idempotency-Key` publishes twice, although the app has no retries.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > npm.log
npm install --silent --no-audit --no-fund --ignore-scripts @deno/linux-x64-glibc@2.9.6 @oven/bun-linux-x64@1.4.5

# The server reads each request to its end. It closes the connection without a response when it gets a code for the first time.
cat > server.mjs <<'JS'
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const received = [];
createServer(async (request, response) => {
  const body = await text(request);
  if (request.url === '/received') response.end(JSON.stringify(received.splice(0)));
  else if (request.method === 'GET') response.end('ready');
  else {
    received.push(body);
    if (received.filter((each) => each === body).length === 1) request.socket.destroy();
    else response.writeHead(400).end('{"error":"invalid_grant"}');
  }
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port);
});
JS

cat > client.mjs <<'JS'
import { Agent, request } from 'node:http';
import process from 'node:process';

const origin = `http://127.0.0.1:${process.env.SERVER_PORT}`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const clients = {
  fetch: async (method, path, body) => {
    const response = await fetch(origin + path, { method, body });
    return `${response.status} ${await response.text()}`;
  },
  'node:http': (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request(origin + path, { agent, method }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve(`${response.statusCode} ${text}`));
      });
      sent.on('error', reject);
      sent.end(body);
    }),
};
const results = {};
for (const [name, send] of Object.entries(clients)) {
  await send('GET', '/ready');
  const seen = await send('POST', '/token', 'code=c1').catch(() => 'an error');
  const received = JSON.parse((await send('GET', '/received')).slice(4));
  results[name] = { requests: received.length, seen };
}
console.log(JSON.stringify(results));
process.exit(0);
JS

node server.mjs > port &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
until [ -s port ]; do sleep 0.1; done
SERVER_PORT=$(cat port)
export SERVER_PORT
deno=node_modules/@deno/linux-x64-glibc/deno
bun=node_modules/@oven/bun-linux-x64/bin/bun
in_deno=$("$deno" run --quiet --allow-net --allow-env client.mjs)
in_bun=$("$bun" client.mjs)
in_node=$(node client.mjs)
printf '%s: %s\n' "Deno $("$deno" eval --no-config 'console.log(Deno.version.deno)')" "$in_deno" "Bun $("$bun" --version)" "$in_bun" \
  "Node $(node --version)" "$in_node"
twice='{"fetch":{"requests":2,"seen":"400 {\"error\":\"invalid_grant\"}"},"node:http":{"requests":2,"seen":"400 {\"error\":\"invalid_grant\"}"}}'
once='{"fetch":{"requests":1,"seen":"an error"},"node:http":{"requests":1,"seen":"an error"}}'
if [ "$in_deno" = "$twice" ] && [ "$in_bun" = "$once" ] && [ "$in_node" = "$once" ]; then
  echo 'As described.'
else
  echo 'Changed.'
  exit 1
fi
