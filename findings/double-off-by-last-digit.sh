#!/usr/bin/env bash
# A driver of MySQL that reads some DOUBLE values with another last digit, depending on which of its two methods reads them.
#
# Versions: mysql2 3.24.6 on Node 20.20, MariaDB 10.11. Needs mariadbd (package mariadb-server).
# Expected: a DOUBLE column returns exactly the number that was stored, with `query` and with `execute`: 17 digits identify each double.
# Seen: `execute` does. `query` gets the right text from the server, but computes some numbers of 16 and 17 digits from it itself, and
# returns their neighbour: about one in a hundred coordinates with all their digits.
# Why it matters: an API that promises to return a latitude as it was sent breaks the promise only for some users, and only on the code
# paths that use `query`, which most query builders do. Comparing the two results, as for an entity tag or an idempotent repetition,
# finds a change where there is none. A `typeCast` that converts the text with `Number` is exact.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
stop() {
  [ -z "${server:-}" ] || { kill "$server" && wait "$server" || true; }
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts mysql2@3.24.6

user=$(id -un)
mariadb-install-db --no-defaults --datadir="$folder/data" --user="$user" --auth-root-authentication-method=normal > install.log 2>&1
mariadbd --no-defaults --datadir="$folder/data" --user="$user" --skip-networking --socket="$folder/socket" > server.log 2>&1 &
server=$!
for _ in $(seq 100); do [ -S socket ] && break; sleep 0.1; done

cat > check.js <<'JS'
import mysql from 'mysql2/promise';

const COUNT = 1000;
/** The same coordinates in each run (a linear congruential generator). */
let state = 42;
const next = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
const sent = Array.from({ length: COUNT }, () => (next() - 0.5) * 360);

const connection = await mysql.createConnection({ socketPath: `${process.cwd()}/socket`, user: 'root' });
await connection.query('CREATE DATABASE places');
await connection.query('CREATE TABLE places.places (id INT PRIMARY KEY, longitude DOUBLE)');
for (const [id, longitude] of sent.entries())
  await connection.execute('INSERT INTO places.places VALUES (?, ?)', [id, longitude]);

const SELECT = 'SELECT longitude FROM places.places ORDER BY id';
const typeCast = (field, convert) => (field.type === 'DOUBLE' ? Number(field.string()) : convert());
const results = {
  execute: await connection.execute(SELECT),
  query: await connection.query(SELECT),
  'query with a typeCast': await connection.query({ sql: SELECT, typeCast }),
};
await connection.end();

const wrong = {};
for (const [method, [rows]] of Object.entries(results)) {
  const differences = rows.filter(({ longitude }, id) => longitude !== sent[id]);
  wrong[method] = differences.length;
  const id = rows.findIndex(({ longitude }, index) => longitude !== sent[index]);
  const example = id < 0 ? '' : `, such as ${rows[id].longitude} for ${sent[id]}`;
  console.log(`${method}: ${differences.length} of ${COUNT} values differ from what was stored${example}`);
}
const holds = wrong.execute === 0 && wrong.query > 0 && wrong['query with a typeCast'] === 0;
console.log(holds ? 'As described.' : 'Changed.');
process.exit(holds ? 0 : 1);
JS
node check.js
