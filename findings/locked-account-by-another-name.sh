#!/usr/bin/env bash
# A driver of MySQL and MariaDB that reports a locked account of MariaDB by the name of another error.
#
# Versions: mysql2 3.24.6 on Node 20.20, MariaDB 10.11. Needs mariadbd (package mariadb-server).
# Expected: an error has the code of what happened, such as ER_ACCOUNT_HAS_BEEN_LOCKED, on both servers. The two have used different
# numbers for new errors since 2013, and the driver knows from the handshake which of them it talks to.
# Seen: the driver has one list of names, MySQL's. From 1900 on, MariaDB's numbers mean something else or have no name: a locked account
# (4151) is ER_BULK_PARSER_INCOMPLETE_ESCAPE_SEQUENCE, an error of bulk imports. The message of the server is right.
# Why it matters: services decide by the code what to tell the operator, and whether to try again. A check for the documented name never
# matches on MariaDB, and a table of retryable codes can match by accident. Compare the number, after finding out which server it is.
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

const socketPath = `${process.cwd()}/socket`;
const connection = await mysql.createConnection({ socketPath, user: 'root' });
const [[{ version }]] = await connection.query('SELECT VERSION() AS version');
await connection.query("CREATE USER partner@localhost IDENTIFIED BY 'a-long-password'");
await connection.query('ALTER USER partner@localhost ACCOUNT LOCK');
await connection.end();

const error = await mysql
  .createConnection({ socketPath, user: 'partner', password: 'a-long-password' })
  .then(() => undefined, (failure) => failure);
console.log(`${version}: "${error?.message}" has the number ${error?.errno} and the code ${error?.code}`);
const holds =
  error?.errno === 4151 &&
  error.code === 'ER_BULK_PARSER_INCOMPLETE_ESCAPE_SEQUENCE' &&
  error.message.includes('locked');
console.log(holds ? 'As described.' : 'Changed.');
process.exit(holds ? 0 : 1);
JS
node check.js
