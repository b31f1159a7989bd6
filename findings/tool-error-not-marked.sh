#!/usr/bin/env bash
# A server for AI agents, generated from an OpenAPI document, that reports an error of the API as a success and cuts the reason off.
#
# Version: openapi-mcp-generator 4.0.1, called with @modelcontextprotocol/sdk 1.32.2.
# Expected: a tool whose request fails returns `isError: true` with the response, so that the agent reads what to correct (Model Context
#   Protocol, section "Tools", "Error Handling").
# Seen: after a 400 the result has no `isError`, and only the first 200 characters of the response body.
# Why it matters: an API that lists all invalid fields writes more than that. The agent takes the call for done, or cannot see the field
#   that it must correct. An API can only begin its error body with the message that matters most.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes > setup.log
npm install --no-audit --no-fund openapi-mcp-generator@4.0.1 @modelcontextprotocol/sdk@1.32.2 axios@1.21.1 dotenv@16.6.1 \
  zod@3.25.76 json-schema-to-zod@2.8.1 typescript@5.9.3 @types/node@20.19.43 >> setup.log 2>&1

cat > api.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Notes", "version": "1.0.0" },
  "paths": {
    "/notes": {
      "post": {
        "operationId": "createNote",
        "summary": "Create a note",
        "requestBody": {
          "required": true,
          "content": { "application/json": { "schema": { "type": "object", "properties": { "text": { "type": "string" } } } } }
        },
        "responses": { "201": { "description": "The note" }, "400": { "description": "Invalid fields" } }
      }
    }
  }
}
JSON
npx openapi-mcp-generator --input api.json --output generated --base-url http://127.0.0.1:1 >> setup.log 2>&1
npx tsc -p generated >> setup.log

cat > check.mjs <<'JS'
import { createServer } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const errors = Array.from({ length: 5 }, (_, index) => ({
  field: `field${index}`,
  message: 'must have at most 100 characters.',
}));
const body = JSON.stringify({ error: 'invalid_request', errors });
const api = createServer((_request, response) => {
  response.writeHead(400, { 'content-type': 'application/json' }).end(body);
});
await new Promise((resolve) => api.listen(0, '127.0.0.1', resolve));

const program = 'generated/build/index.js';
const source = readFileSync(program, 'utf8');
writeFileSync(program, source.replaceAll('http://127.0.0.1:1"', `http://127.0.0.1:${api.address().port}"`));

const client = new Client({ name: 'check', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], stderr: 'ignore' }));
const result = await client.callTool({ name: 'createNote', arguments: { requestBody: { text: 'x' } } });
await client.close();
api.close();

const text = result.content.map((part) => part.text).join('');
const shown = errors.filter(({ field }) => text.includes(field)).length;
console.log(`isError: ${result.isError}; the body has ${body.length} characters and ${errors.length} fields, the agent sees ${shown} fields:`);
console.log(text);
if (!text.includes('400')) throw new Error('The tool did not report the 400.');
process.exitCode = result.isError !== true && shown < errors.length ? 0 : 1;
JS
node check.mjs
