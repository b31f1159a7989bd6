from os import environ

import requests
from allauth.socialaccount.providers.oauth2 import views

issuer = environ["ISSUER"]


class Adapter(views.OAuth2Adapter):
    provider_id = "neighbourhood"
    authorize_url = f"{issuer}/oauth/authorize"
    access_token_url = f"{issuer}/oauth/token"

    def complete_login(self, request, app, token, **kwargs):
        headers = {"Authorization": f"Bearer {token.token}"}
        me = requests.get(f"{issuer}/dev/v1/me", headers=headers).json()
        return self.get_provider().sociallogin_from_response(request, me)


oauth2_login = views.OAuth2LoginView.adapter_view(Adapter)
oauth2_callback = views.OAuth2CallbackView.adapter_view(Adapter)
