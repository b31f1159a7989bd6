#!/usr/bin/env bash
# A CSV parser that skips a record which is too long, and silently all valid records after it.
#
# Versions: csv-parse 7.0.3, on Node 20.20.
# Expected: with `skip_records_with_error`, a record longer than `max_record_size` is skipped and reported once, and the parser
# continues with the next line, as it does after a record with a wrong number of fields.
# Seen: no record after the long one is returned, although each is valid, and the stream ends without an error. Read as one chunk, the
# parser reports one skipped record; read in small chunks, it reports one skip per chunk, each with the number of the same line.
# Why it matters: an import of users with one long field returns only the users before it, and says that one record was skipped. How
# many skips it reports depends on how the file was read. An importer must compare the number of lines that it read with the number
# of records and skips, or check the length of records itself.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts csv-parse@7.0.3

cat > check.js <<'JS'
import { Readable } from 'node:stream';
import { parse } from 'csv-parse';

const MAX_CHARACTERS = 100;

/** Parses three people, with `second` in place of one, in chunks of `size` bytes. */
async function read(second, size) {
  const text = `name,street\nAna,Elm Street\n${second}\nBen,Oak Street\nCleo,Ash Street\n`;
  const chunks = [];
  for (let start = 0; start < text.length; start += size)
    chunks.push(Buffer.from(text.slice(start, start + size)));
  let skips = 0;
  const parser = parse({
    columns: true,
    max_record_size: MAX_CHARACTERS,
    skip_records_with_error: true,
    on_skip: () => (skips += 1),
  });
  const names = [];
  for await (const { name } of Readable.from(chunks).pipe(parser)) names.push(name);
  return `records: ${names.join(' ')}; skips: ${skips}`;
}

const cases = [
  ['one field too few', 'Dora', 10_000, 'records: Ana Ben Cleo; skips: 1'],
  ['too long, one chunk', `Dora,${'x'.repeat(300)}`, 10_000, 'records: Ana; skips: 1'],
  ['too long, chunks of 64 bytes', `Dora,${'x'.repeat(300)}`, 64, 'records: Ana; skips: 5'],
];
let isAsDescribed = true;
for (const [title, second, size, described] of cases) {
  const seen = await read(second, size);
  console.log(`${title.padEnd(30)} ${seen}`);
  isAsDescribed &&= seen === described;
}
console.log(isAsDescribed ? 'As described.' : 'Changed.');
process.exitCode = isAsDescribed ? 0 : 1;
JS
node check.js
