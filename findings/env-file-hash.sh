#!/usr/bin/env bash
# One `.env` file, other secrets: `#` in an unquoted value.
#
# Versions: Node's own parser (`node --env-file` of 20.20), dotenv 18.0.10, python-dotenv 1.2.4 and the shell.
# Expected: programs that read the same line `SECRET=first#second` get the same value, or one of them reports the line.
# Seen: the shell and python-dotenv read `first#second`; Node and dotenv read `first`, without a warning. A value that begins with
# `#`, such as a colour, is complete for the former and empty for the latter.
# Why it matters: a service that starts with `--env-file` and a command line whose shell sourced the file derive other keys from
# another pepper or sign with another secret, and nothing fails until a hash does not match. Quote every value that may contain `#`.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts dotenv@18.0.10
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check python-dotenv==1.2.4

cat > .env <<'ENV'
SECRET=first#second
COLOR=#0d5c4d
QUOTED="first#second"
COMMENT="first" # second
ENV

js='const { SECRET, COLOR, QUOTED, COMMENT } = values; console.log([SECRET, COLOR, QUOTED, COMMENT].map((value) => `[${value}]`).join(" "));'
by_node=$(env -i "$(command -v node)" --env-file=.env --eval "const values = process.env; $js")
by_dotenv=$(node --input-type=module --eval "import { readFileSync } from 'node:fs'; import { parse } from 'dotenv'; const values = parse(readFileSync('.env')); $js")
by_python=$(python/bin/python -c 'from dotenv import dotenv_values
values = dotenv_values(".env")
print(*(f"[{values[name]}]" for name in ("SECRET", "COLOR", "QUOTED", "COMMENT")))')
by_shell=$(set -a && . ./.env && printf '[%s] [%s] [%s] [%s]' "$SECRET" "$COLOR" "$QUOTED" "$COMMENT" 2>/dev/null || true)

printf '%-14s %s\n' '' 'SECRET COLOR QUOTED COMMENT' "node $(node --version)" "$by_node" dotenv "$by_dotenv" python-dotenv "$by_python" shell "$by_shell"

short='[first] [] [first#second] [first]'
complete='[first#second] [#0d5c4d] [first#second] [first]'
if [ "$by_node" = "$short" ] && [ "$by_dotenv" = "$short" ] && [ "$by_python" = "$complete" ] && [ "$by_shell" = "$complete" ]; then
  echo 'As described.'
else
  echo 'Changed: at least one program reads another value.'
  exit 1
fi
