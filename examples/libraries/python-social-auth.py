from os import environ

from social_core.backends.oauth import BaseOAuth2

issuer = environ["ISSUER"]


class Neighbourhood(BaseOAuth2):
    name = "neighbourhood"  # the redirect URI is <your site>/complete/neighbourhood/
    AUTHORIZATION_URL = f"{issuer}/oauth/authorize"
    ACCESS_TOKEN_URL = f"{issuer}/oauth/token"
    ACCESS_TOKEN_METHOD = "POST"
    DEFAULT_SCOPE = ["profile.read"]
    REDIRECT_STATE = False  # otherwise it adds a parameter to the redirect URI
    EXTRA_DATA = [("refresh_token", "refresh_token"), ("expires_in", "expires")]

    def get_user_details(self, response):
        return {"username": response["id"], "first_name": response["name"]}

    def user_data(self, access_token, *args, **kwargs):
        headers = {"Authorization": f"Bearer {access_token}"}
        return self.get_json(f"{issuer}/dev/v1/me", headers=headers)
