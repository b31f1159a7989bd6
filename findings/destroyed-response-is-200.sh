#!/usr/bin/env bash
# A server that wants to send no response, and sends an empty one with status 200.
#
# Versions: Bun 1.4.5, with its `node:http`. For comparison: Deno 2.9.6 and Node.
# Expected: `destroy()` of a response that has not begun closes the connection, and the client sees that there is no response. That is
#   what `node:http` does, and what `pipeline` of `node:stream` does if the source of a response fails.
# Seen: with Bun, once the handler has waited for anything, the client gets `HTTP/1.1 200 OK` without a body.
# Why it matters: programs destroy a response when they do not know its outcome, for example because the database was lost during the
#   transaction. A client that gets no response repeats the request; one that gets 200 takes it for done. A revocation (RFC 7009
#   §2.2) has an empty 200 as its success: the app then believes that the token is revoked.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > npm.log
npm install --silent --no-audit --no-fund --ignore-scripts @deno/linux-x64-glibc@2.9.6 @oven/bun-linux-x64@1.4.5

cat > server.mjs <<'JS'
import { createServer } from 'node:http';
import process from 'node:process';
import { Readable, pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const failing = () =>
  new Readable({
    read() {
      setTimeout(() => this.destroy(new Error('The database was lost.')), 20);
    },
  });
createServer(async (request, response) => {
  if (request.url === '/pipeline') return pipeline(failing(), response, () => undefined);
  await sleep(20);
  response.destroy();
}).listen(Number(process.env.SERVER_PORT), '127.0.0.1');
JS

# A client that shows the bytes of the response.
cat > client.mjs <<'JS'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
const [program, ...parameters] = process.argv.slice(2);
const server = spawn(program, parameters, { stdio: 'ignore', env: { ...process.env, SERVER_PORT: port } });

/** The first line of the response; undefined if the server does not listen yet. */
async function firstLine(path) {
  let bytes = '';
  const connection = connect(port, '127.0.0.1').on('data', (chunk) => (bytes += chunk));
  connection.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`);
  const isOpen = await once(connection, 'close').then(() => true, ({ code }) => code !== 'ECONNREFUSED');
  return isOpen ? bytes.split('\r\n')[0] || 'no response' : undefined;
}

for (let count = 0; count < 100 && (await firstLine('/ready')) === undefined; count += 1) await sleep(100);
console.log(`destroy: ${await firstLine('/')}, pipeline: ${await firstLine('/pipeline')}`);
server.kill('SIGKILL');
JS

deno=node_modules/@deno/linux-x64-glibc/deno
bun=node_modules/@oven/bun-linux-x64/bin/bun
in_bun=$(node client.mjs "$bun" server.mjs)
in_deno=$(node client.mjs "$deno" run --quiet --allow-net --allow-env server.mjs)
in_node=$(node client.mjs node server.mjs)
printf '%s: %s\n' "Bun $("$bun" --version)" "$in_bun" "Deno $("$deno" eval --no-config 'console.log(Deno.version.deno)')" "$in_deno" \
  "Node $(node --version)" "$in_node"
silent='destroy: no response, pipeline: no response'
ok='HTTP/1.1 200 OK'
if [ "$in_bun" = "destroy: $ok, pipeline: $ok" ] && [ "$in_deno" = "$silent" ] && [ "$in_node" = "$silent" ]; then
  echo 'As described.'
else
  echo 'Changed.'
  exit 1
fi
