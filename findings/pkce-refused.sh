#!/usr/bin/env bash
# An OAuth client whose PKCE no server that follows RFC 7636 accepts, unless two settings are changed.
#
# Version: social-auth-core 7.0.0, on Python 3.11.
# Expected: a backend that only inherits from `BaseOAuth2PKCE` sends `code_challenge_method=S256`, a name that is case-sensitive, and a
# verifier of at least 43 characters (RFC 7636 §4.1, §4.3).
# Seen: it sends `s256`, and its verifier has 32 characters.
# Why it matters: a server that compares exactly rejects each sign-in, and one that ignores an unknown method stores no challenge, so
# that the code is not protected. Set PKCE_DEFAULT_CODE_CHALLENGE_METHOD to "S256" and PKCE_DEFAULT_CODE_VERIFIER_LENGTH to 64.
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
from urllib.parse import parse_qs, urlsplit

from social_core.backends.oauth import BaseOAuth2PKCE
from social_core.strategy import BaseStrategy


class Strategy(BaseStrategy):
    """Settings and a session in memory."""

    session = {}

    def get_setting(self, name):
        return {"SOCIAL_AUTH_EXAMPLE_KEY": "app", "SOCIAL_AUTH_EXAMPLE_SECRET": "secret"}[name]

    def session_get(self, name, default=None):
        return self.session.get(name, default)

    def session_set(self, name, value):
        self.session[name] = value

    def request_data(self, merge=True):
        return {}


class Example(BaseOAuth2PKCE):
    name = "example"
    AUTHORIZATION_URL = "https://server.example/authorize"
    ACCESS_TOKEN_URL = "https://server.example/token"


class Corrected(Example):
    PKCE_DEFAULT_CODE_CHALLENGE_METHOD = "S256"
    PKCE_DEFAULT_CODE_VERIFIER_LENGTH = 64


def pkce_of(backend_class):
    strategy = Strategy()
    backend = backend_class(strategy, redirect_uri="https://app.example/callback")
    query = parse_qs(urlsplit(backend.auth_url()).query)
    return query["code_challenge_method"][0], len(backend.get_code_verifier())


default, corrected = pkce_of(Example), pkce_of(Corrected)
print("By default:", default)
print("With both settings:", corrected)
holds = default == ("s256", 32) and corrected == ("S256", 64)
print("As described." if holds else "Changed.")
sys.exit(0 if holds else 1)
PY
venv/bin/python check.py
