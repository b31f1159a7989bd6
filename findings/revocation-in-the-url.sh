#!/usr/bin/env bash
# An OAuth client that writes the client secret and the token into the URL of the request that revokes the token.
#
# Version: social-auth-core 7.0.0, on Python 3.11.
# Expected: `revoke_token` sends the parameters of `revoke_token_params` in the form only: the URL must not contain client credentials
# (RFC 6749 §2.3.1), and a revocation request is a form (RFC 7009 §2.1).
# Seen: with the default method POST, it sends them twice: in the form, and in the query of the URL. Only the default `{}` hides it.
# Why it matters: the secret and a live refresh token reach the access logs of each proxy on the way. A server that rejects parameters
# of the form in the URL refuses the revocation, so that tokens of users who disconnect stay valid. Override `revoke_token`, and send
# the form yourself.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --no-cache-dir social-auth-core==7.0.0

cat > check.py <<'PY'
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from social_core.backends.oauth import BaseOAuth2
from social_core.strategy import BaseStrategy

received = {}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        received["URL"] = sorted(dict(parse_qsl(urlsplit(self.path).query)))
        received["form"] = sorted(dict(parse_qsl(form)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()


class Strategy(BaseStrategy):
    """Settings in memory."""

    def get_setting(self, name):
        return {"SOCIAL_AUTH_EXAMPLE_KEY": "app", "SOCIAL_AUTH_EXAMPLE_SECRET": "secret"}[name]

    def request_data(self, merge=True):
        return {}

    def build_absolute_uri(self, path=None):
        return path


class Example(BaseOAuth2):
    name = "example"
    REVOKE_TOKEN_URL = f"http://127.0.0.1:{server.server_address[1]}/revoke"

    def revoke_token_params(self, token, uid):
        client_id, client_secret = self.get_key_and_secret()
        return {"token": token, "client_id": client_id, "client_secret": client_secret}


succeeded = Example(Strategy(), redirect_uri="https://app.example/callback").revoke_token("r1", "user")
server.shutdown()
print("Parameters in the form:", ", ".join(received["form"]))
print("Parameters in the URL: ", ", ".join(received["URL"]) or "none")
expected = ["client_id", "client_secret", "token"]
holds = succeeded and received == {"URL": expected, "form": expected}
print("As described." if holds else "Changed.")
sys.exit(0 if holds else 1)
PY
venv/bin/python check.py
