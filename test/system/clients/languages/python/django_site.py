"""A Django site in memory, for the programs of this folder: `client` is a browser on it."""

from urllib.parse import urlsplit

import django
from django.conf import settings
from django.http import JsonResponse
from django.test import Client
from django.urls import include, path
from steps import REDIRECT_URI

AUTH = "django.contrib.auth"


def start(apps, **values):
    """Starts a site with these apps and settings. Returns a browser."""
    settings.configure(
        ALLOWED_HOSTS=["*"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages", AUTH, *apps],
        LOGIN_REDIRECT_URL="/profile",
        ROOT_URLCONF=__name__,
        SECRET_KEY="a secret of 32 characters or more",
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
            }
        ],
        **values,
    )
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return Client(HTTP_HOST=urlsplit(REDIRECT_URI).netloc)


MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    f"{AUTH}.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
urlpatterns = [path("profile", lambda request: JsonResponse({}))]


def add_urls(prefix, target):
    urlpatterns.append(path(prefix, include(target)))


def path_of(address):
    url = urlsplit(address)
    return f"{url.path}?{url.query}"
