from allauth.socialaccount.providers.base import ProviderAccount
from allauth.socialaccount.providers.oauth2.provider import OAuth2Provider


class Neighbourhood(OAuth2Provider):
    id, name, account_class = "neighbourhood", "The neighbourhood", ProviderAccount

    def get_default_scope(self):
        return ["profile.read"]

    def extract_uid(self, data):
        return data["id"]

    def extract_common_fields(self, data):
        return {"username": data["id"], "first_name": data["name"]}


provider_classes = [Neighbourhood]
