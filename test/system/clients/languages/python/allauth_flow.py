import re
import sys
import types

import requests
from steps import CREDENTIALS, ISSUER, SCOPES, send_user_to, show, show_status

import django_site

PACKAGE = "neighbourhood"


def add_module(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def main():
    package = types.ModuleType(PACKAGE)
    package.__path__ = []
    sys.modules[PACKAGE] = package
    browser = django_site.start(
        apps=["allauth", "allauth.account", "allauth.socialaccount"],
        AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
        MIDDLEWARE=[*django_site.MIDDLEWARE, "allauth.account.middleware.AccountMiddleware"],
        ACCOUNT_EMAIL_VERIFICATION="none",
        SOCIALACCOUNT_STORE_TOKENS=True,
        SOCIALACCOUNT_PROVIDERS={
            PACKAGE: {
                "APPS": [{"client_id": CREDENTIALS[0], "secret": CREDENTIALS[1]}],
                "SCOPE": SCOPES,
                "OAUTH_PKCE_ENABLED": True,
            }
        },
    )
    from allauth.socialaccount.models import SocialToken
    from allauth.socialaccount.providers import registry
    from allauth.socialaccount.providers.base import ProviderAccount
    from allauth.socialaccount.providers.oauth2 import views
    from allauth.socialaccount.providers.oauth2.provider import OAuth2Provider
    from allauth.socialaccount.providers.oauth2.urls import default_urlpatterns

    class Adapter(views.OAuth2Adapter):
        provider_id = PACKAGE
        authorize_url = f"{ISSUER}/oauth/authorize"
        access_token_url = f"{ISSUER}/oauth/token"

        def complete_login(self, request, app, token, **kwargs):
            headers = {"Authorization": f"Bearer {token.token}"}
            me = requests.get(f"{ISSUER}/dev/v1/me", headers=headers, timeout=25).json()
            return self.get_provider().sociallogin_from_response(request, me)

    class Neighbourhood(OAuth2Provider):
        id, name, account_class, oauth2_adapter_class = PACKAGE, "The neighbourhood", ProviderAccount, Adapter
        package = PACKAGE

        def extract_uid(self, data):
            return data["id"]

        def extract_common_fields(self, data):
            return {"username": data["id"], "first_name": data["name"]}

    views_module = {
        "oauth2_login": views.OAuth2LoginView.adapter_view(Adapter),
        "oauth2_callback": views.OAuth2CallbackView.adapter_view(Adapter),
    }
    add_module(f"{PACKAGE}.views", **views_module)
    add_module(f"{PACKAGE}.urls", urlpatterns=default_urlpatterns(Neighbourhood))
    registry.register(Neighbourhood)
    django_site.add_urls("accounts/", "allauth.urls")

    link = browser.post(f"/accounts/{PACKAGE}/login/").headers["Location"]
    page = browser.get(django_site.path_of(send_user_to(link)), follow=True)
    if page.redirect_chain and page.redirect_chain[-1][0].endswith("/cancelled/"):
        return show(denied="cancelled")
    token = SocialToken.objects.first()
    if token is None:
        return show(rejected=re.search("<title>(.*?)</title>", page.content.decode(), re.S)[1].strip())
    show(access=token.token, refresh=token.token_secret, scope=None)
    show_status(token.token)


main()
