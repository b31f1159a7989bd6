from social_core.backends.oauth import BaseOAuth2PKCE
from social_core.exceptions import AuthCanceled, AuthException
from steps import CREDENTIALS, ISSUER, SCOPES, send_user_to, show, show_status, show_tokens, wait_for_revocation

import django_site


class Neighbourhood(BaseOAuth2PKCE):
    name = "neighbourhood"
    AUTHORIZATION_URL = f"{ISSUER}/oauth/authorize"
    ACCESS_TOKEN_URL = f"{ISSUER}/oauth/token"
    ACCESS_TOKEN_METHOD = "POST"
    REDIRECT_STATE = False
    DEFAULT_SCOPE = SCOPES
    EXTRA_DATA = [("refresh_token", "refresh_token"), ("scope", "scope")]

    def get_user_details(self, response):
        return {"username": response["id"], "first_name": response["name"]}

    def user_data(self, access_token, *args, **kwargs):
        return self.get_json(f"{ISSUER}/dev/v1/me", headers={"Authorization": f"Bearer {access_token}"})


def main():
    browser = django_site.start(
        apps=["social_django"],
        AUTHENTICATION_BACKENDS=[f"{__name__}.Neighbourhood"],
        MIDDLEWARE=django_site.MIDDLEWARE,
        SOCIAL_AUTH_NEIGHBOURHOOD_KEY=CREDENTIALS[0],
        SOCIAL_AUTH_NEIGHBOURHOOD_SECRET=CREDENTIALS[1],
    )
    django_site.add_urls("", "social_django.urls")
    from django.contrib.auth.models import User
    from social_django.utils import load_strategy

    callback = send_user_to(browser.post("/login/neighbourhood/").headers["Location"])
    try:
        browser.get(django_site.path_of(callback))
    except AuthCanceled:
        return show(denied="AuthCanceled")
    except AuthException as error:
        return show(rejected=type(error).__name__)
    account = User.objects.get().social_auth.get()
    show_tokens(account.extra_data)
    strategy = load_strategy()
    for _ in range(2):
        show_status(account.access_token)
        account.refresh_token(strategy)
        show_tokens(account.extra_data)
    # The library would send the token and the secret in the URL, too, which the service rejects.
    wait_for_revocation()
    try:
        account.refresh_token(strategy)
    except AuthException as error:
        show(error=error.provider_code)


main()
