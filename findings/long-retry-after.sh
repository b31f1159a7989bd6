#!/usr/bin/env bash
# HTTP libraries that obey `Retry-After`, but repeat a request at once if it is longer than 24.8 days.
#
# Versions: got 14.6.5, axios-retry 4.5.0 with axios 1.21.1 and @azure/core-rest-pipeline 1.25.1, on Node 20.20.
# Expected: a client that obeys `Retry-After: 2` either waits 30 days for `Retry-After: 2592000`, or gives up (RFC 9110 §10.2.3).
# Seen: it sends the repeats within a second. The wait is passed to a timer of signed 32-bit milliseconds, which fires at once.
# Why it matters: a monthly quota naturally ends in 30 days. A server that says so makes these clients flood it, just when it asks
# them to stop. Servers should cap `Retry-After`, for example at a week, and name the true time in the body.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  got@14.6.5 axios@1.21.1 axios-retry@4.5.0 @azure/core-rest-pipeline@1.25.1

cat > check.js <<'JS'
import { createServer } from 'node:http';
import { once } from 'node:events';
import { createDefaultHttpClient, createPipelineFromOptions, createPipelineRequest } from '@azure/core-rest-pipeline';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import got from 'got';

const SHORT = 2;
const THIRTY_DAYS = 30 * 86_400;

const clients = {
  got: (url, signal) => got(url, { signal, retry: { limit: 2 } }),
  'axios-retry': (url, signal) => {
    const client = axios.create();
    axiosRetry(client, {
      retries: 2,
      retryDelay: axiosRetry.exponentialDelay,
      retryCondition: ({ response }) => response?.status === 429,
    });
    return client.get(url, { signal });
  },
  '@azure/core-rest-pipeline': (url, abortSignal) =>
    createPipelineFromOptions({ retryOptions: { maxRetries: 2 } }).sendRequest(
      createDefaultHttpClient(),
      createPipelineRequest({ url, abortSignal, allowInsecureConnection: true }),
    ),
};

/** Milliseconds from the first request to the second; undefined if there is none within three seconds. */
async function pauseOf(call, retryAfter) {
  const arrivals = [];
  const server = createServer((request, response) => {
    arrivals.push(performance.now());
    response.writeHead(429, { 'Retry-After': String(retryAfter) }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;
  const timer = new AbortController();
  const result = Promise.resolve(call(url, timer.signal)).catch(() => undefined);
  const timeout = new Promise((resolve) => setTimeout(resolve, 3000));
  await Promise.race([result, timeout]);
  timer.abort();
  server.closeAllConnections();
  server.close();
  const [first, second] = arrivals;
  return second === undefined ? undefined : second - first;
}

process.removeAllListeners('warning');
let hasChanged = false;
for (const [name, call] of Object.entries(clients)) {
  const short = await pauseOf(call, SHORT);
  const long = await pauseOf(call, THIRTY_DAYS);
  const obeys = short !== undefined && short >= SHORT * 1000 - 50;
  const repeatsAtOnce = long !== undefined && long < 1000;
  hasChanged ||= !obeys || !repeatsAtOnce;
  const text = (pause) => (pause === undefined ? 'no repeat in 3 s' : `repeat after ${(pause / 1000).toFixed(2)} s`);
  console.log(`${name}: Retry-After ${SHORT}: ${text(short)}; Retry-After ${THIRTY_DAYS}: ${text(long)}`);
}
console.log(hasChanged ? 'Changed: at least one library behaves differently.' : 'As described.');
process.exit(hasChanged ? 1 : 0);
JS
node --no-warnings check.js
