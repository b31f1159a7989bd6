from os import environ

from authlib.integrations.flask_client import OAuth
from flask import Flask

issuer = environ["ISSUER"]
app = Flask(__name__)
app.secret_key = environ["SESSION_SECRET"]
client = {"client_id": environ["CLIENT_ID"], "client_secret": environ["CLIENT_SECRET"]}
options = {"scope": "profile.read posts.read", "code_challenge_method": "S256"}
metadata_url = f"{issuer}/.well-known/oauth-authorization-server"
us = OAuth(app).register("us", **client, server_metadata_url=metadata_url, client_kwargs=options)


@app.route("/login")
def login():
    return us.authorize_redirect(environ["REDIRECT_URI"])


@app.route("/callback")
def callback():
    return us.get(f"{issuer}/dev/v1/me", token=us.authorize_access_token()).json()
