"""What the programs of this folder print and read: one JSON object a line."""

import json
from os import environ
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request, urlopen

ISSUER = environ["ISSUER"]
CREDENTIALS = CLIENT_ID, CLIENT_SECRET = environ["CLIENT_ID"], environ["CLIENT_SECRET"]
REDIRECT_URI = environ["REDIRECT_URI"]
SCOPES = ["profile.read", "posts.read"]


def show(**line):
    print(json.dumps(line), flush=True)


def send_user_to(link):
    """Returns the address that the browser returned to."""
    show(link=link)
    return input()


def query_of(address):
    return dict(parse_qsl(urlsplit(address).query))


def show_tokens(tokens):
    show(access=tokens["access_token"], refresh=tokens["refresh_token"], scope=tokens.get("scope"))


def show_status(access_token):
    headers = {"Authorization": f"Bearer {access_token}"}
    with urlopen(Request(f"{ISSUER}/dev/v1/me", headers=headers), timeout=25) as response:
        show(status=response.status)


def wait_for_revocation():
    """For libraries without revocation."""
    show(revoked=False)
    input()
