#!/usr/bin/env bash
# The parser of rate-limit headers does not read those of the current draft, and says so with NaN.
#
# Versions: ratelimit-header-parser 0.1.0 with express-rate-limit 8.7.5, of the same organization, and Express 5.3.0 on Node 20.20.
# Expected: `RateLimit: "10-in-1min"; r=9; t=60`, which express-rate-limit sends with `standardHeaders: 'draft-8'`, is read as 9
# remaining requests, or as unknown (undefined), as for a response without such headers.
# Seen: limit, used and remaining are NaN, and reset is an invalid date. The headers of draft 7 are read correctly.
# Why it matters: each comparison with NaN is false. A client that waits if `remaining < 1` never waits, and `??` does not replace the
# value. APIs that follow the current draft should name the remaining number in the body of a 429, too, and clients should check with
# Number.isFinite.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  ratelimit-header-parser@0.1.0 express-rate-limit@8.7.5 express@5.3.0

cat > check.js <<'JS'
import { once } from 'node:events';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { parseRateLimit } from 'ratelimit-header-parser';

/** What the parser reads from the first response of a service that allows ten requests. */
async function readFrom(standardHeaders) {
  const app = express();
  if (standardHeaders !== undefined)
    app.use(rateLimit({ windowMs: 60_000, limit: 10, standardHeaders, legacyHeaders: false }));
  app.get('/', (request, response) => response.end());
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${server.address().port}/`);
  server.close();
  const read = parseRateLimit(response);
  console.log(standardHeaders, response.headers.get('ratelimit'), read);
  return read;
}

const none = await readFrom(undefined);
const draft7 = await readFrom('draft-7');
const draft8 = await readFrom('draft-8');
const holds =
  none === undefined && draft7.remaining === 9 && Number.isNaN(draft8.remaining) && Number.isNaN(draft8.limit);
console.log(holds ? 'As described.' : 'This has changed.');
process.exit(holds ? 0 : 1);
JS
node check.js
