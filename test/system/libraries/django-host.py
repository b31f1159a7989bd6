"""A Django site with the recipe for `allauth` or `social`, the first parameter. Runs in the folder of the recipes."""

import pathlib
import shutil
import sys
import tempfile
from os import environ

import django
from django.conf import settings
from django.core.management import call_command
from django.http import JsonResponse
from django.urls import include, path

IS_ALLAUTH = sys.argv[1] == "allauth"
CREDENTIALS = environ["CLIENT_ID"], environ["CLIENT_SECRET"]
AUTH = "django.contrib.auth"
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    f"{AUTH}.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
PROCESSORS = ["django.template.context_processors.request", f"{AUTH}.context_processors.auth"]
CONTRIB = ["auth", "contenttypes", "messages", "sessions", "sites"]
ALLAUTH = ["allauth", "allauth.account", "allauth.socialaccount", "neighbourhood"]
ALLAUTH_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
URLS = """
from allauth.socialaccount.providers.oauth2.urls import default_urlpatterns
from .provider import Neighbourhood
urlpatterns = default_urlpatterns(Neighbourhood)
"""

# The package of the recipe, as in a project.
FOLDER = pathlib.Path(tempfile.mkdtemp())
PACKAGE = FOLDER / "neighbourhood"
PACKAGE.mkdir()
(PACKAGE / "__init__.py").touch()
(PACKAGE / "urls.py").write_text(URLS)
shutil.copy("python-django-allauth-provider.py", PACKAGE / "provider.py")
shutil.copy("python-django-allauth-views.py", PACKAGE / "views.py")
shutil.copy("python-social-auth.py", PACKAGE / "backend.py")
sys.path.insert(0, str(FOLDER))

settings.configure(
    ALLOWED_HOSTS=["*"],
    AUTHENTICATION_BACKENDS=[ALLAUTH_BACKEND if IS_ALLAUTH else "neighbourhood.backend.Neighbourhood"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{FOLDER}/site.sqlite"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=[f"django.contrib.{name}" for name in CONTRIB] + (ALLAUTH if IS_ALLAUTH else ["social_django"]),
    LOGIN_REDIRECT_URL="/profile",
    MIDDLEWARE=MIDDLEWARE,
    ROOT_URLCONF=__name__,
    SECRET_KEY=environ["SESSION_SECRET"],
    SITE_ID=1,
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"context_processors": PROCESSORS},
        }
    ],
    # The settings that the recipes need.
    SOCIALACCOUNT_PROVIDERS={
        "neighbourhood": {"APP": {"client_id": CREDENTIALS[0], "secret": CREDENTIALS[1], "key": ""}}
    },
    SOCIAL_AUTH_NEIGHBOURHOOD_KEY=CREDENTIALS[0],
    SOCIAL_AUTH_NEIGHBOURHOOD_SECRET=CREDENTIALS[1],
)


def profile(request):
    user = request.user
    return JsonResponse({"name": user.first_name if user.is_authenticated else None})


django.setup()
urlpatterns = [
    path("profile", profile),
    path("accounts/", include("allauth.urls"))
    if IS_ALLAUTH
    else path("", include("social_django.urls", namespace="social")),
]
call_command("migrate", verbosity=0)
try:
    call_command("runserver", f"127.0.0.1:{environ['PORT']}", "--noreload")
finally:
    shutil.rmtree(FOLDER)
