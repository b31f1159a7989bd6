from os import environ

from requests_oauthlib import OAuth2Session

# Otherwise fetch_token raises an error, and the tokens are lost, if the user grants fewer scopes.
environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"
issuer = environ["ISSUER"]
us = OAuth2Session(
    environ["CLIENT_ID"],
    redirect_uri=environ["REDIRECT_URI"],
    scope=["profile.read", "posts.read"],
)
link, state = us.authorization_url(f"{issuer}/oauth/authorize")
callback_url = input(f"Open {link}\nThen paste the address that you returned to:\n")
us.fetch_token(
    f"{issuer}/oauth/token",
    authorization_response=callback_url,  # the session compares its state
    client_secret=environ["CLIENT_SECRET"],
)
print(us.get(f"{issuer}/dev/v1/me").json())
