from os import environ

from flask import Flask
from flask_dance.consumer import OAuth2ConsumerBlueprint

# Otherwise the sign-in fails, and the tokens are lost, if the user grants fewer scopes.
environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"
issuer = environ["ISSUER"]
urls = {"authorization_url": f"{issuer}/oauth/authorize", "token_url": f"{issuer}/oauth/token"}
client = {"client_id": environ["CLIENT_ID"], "client_secret": environ["CLIENT_SECRET"]}
options = {"base_url": issuer, "scope": "profile.read posts.read", "redirect_url": "/me"}
us = OAuth2ConsumerBlueprint("us", __name__, **urls, **client, **options)
app = Flask(__name__)
app.secret_key = environ["SESSION_SECRET"]
app.register_blueprint(us)  # the redirect URI is <your site>/us/authorized


@app.route("/me")
def me():
    return us.session.get("/dev/v1/me").json()
