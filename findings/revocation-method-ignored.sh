#!/usr/bin/env bash
# An OAuth client that demands to know how it should authenticate at the revocation endpoint, and then does it in another way.
#
# Version: httpx-oauth 0.17.0, on Python 3.11.
# Expected: with `revocation_endpoint_auth_method="client_secret_basic"`, which the client demands together with the revocation endpoint,
# `revoke_token` sends HTTP Basic (`revocation_endpoint_auth_methods_supported`, RFC 8414 §2).
# Seen: `revoke_token` uses `token_endpoint_auth_method`, by default the secret in the form. The other setting has no effect.
# Why it matters: at a server with different methods at the two endpoints, each revocation fails with 401, and the tokens of users who
# disconnect stay valid. The setting looks right in each review. Override `build_request`, or use one method for both endpoints.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --no-cache-dir httpx-oauth==0.17.0

cat > check.py <<'PY'
import asyncio
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from httpx_oauth.oauth2 import OAuth2

sent = {}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        is_basic = self.headers.get("Authorization", "").startswith("Basic ")
        sent[self.path] = "Basic" if is_basic else "form" if "client_secret=" in form else "nothing"
        body = b'{"access_token": "a", "token_type": "Bearer"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}"


async def methods(token, revocation):
    """How a client with these two settings authenticates at the two endpoints."""
    client = OAuth2(
        "app",
        "secret",
        f"{url}/authorize",
        f"{url}/token",
        revoke_token_endpoint=f"{url}/revoke",
        token_endpoint_auth_method=token,
        revocation_endpoint_auth_method=revocation,
    )
    await client.get_access_token("code", "https://app.example/callback")
    await client.revoke_token("token")
    return sent["/token"], sent["/revoke"]


one = asyncio.run(methods("client_secret_post", "client_secret_basic"))
other = asyncio.run(methods("client_secret_basic", "client_secret_post"))
server.shutdown()
print("Token endpoint form, revocation endpoint Basic:", one)
print("Token endpoint Basic, revocation endpoint form:", other)
holds = one == ("form", "form") and other == ("Basic", "Basic")
print("As described." if holds else "Changed.")
sys.exit(0 if holds else 1)
PY
venv/bin/python check.py
