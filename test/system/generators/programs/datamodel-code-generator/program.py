import json
import os
import uuid
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from models import CreatedPost, CreatePost, Error, PostPage, Token, User

service, later = os.environ["BASE_URL"], os.environ["LATER_URL"]
token = os.environ["ACCESS_TOKEN"]


def call(url, token, body=None, **headers):
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        return urlopen(Request(url, body, headers)).read()
    except HTTPError as error:
        return error.read()


def create(content, key):
    post = CreatePost(content=content, tags=["generated"])
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    body = post.model_dump_json(exclude_unset=True).encode()
    return call(f"{service}/dev/v1/posts", token, body, **headers)


def posts(query):
    return PostPage.model_validate_json(call(f"{service}/dev/v1/posts?{query}", token)).data


def user(service, token):
    return User.model_validate_json(call(f"{service}/dev/v1/me", token)).name


def unauthorized(service):
    error = Error.model_validate_json(call(f"{service}/dev/v1/me", "wrong"))
    return error.model_dump(mode="json")["error"]


key = str(uuid.uuid4())
first, repeated = [
    CreatedPost.model_validate_json(create("From a generated client", key)) for _ in range(2)
]
page = posts("limit=2")
next_page = posts(f"limit=2&before={page[-1].id}")
invalid = Error.model_validate_json(create(" ", str(uuid.uuid4())))
form = {
    "grant_type": "refresh_token",
    "refresh_token": os.environ["REFRESH_TOKEN"],
    "client_id": os.environ["CLIENT_ID"],
    "client_secret": os.environ["CLIENT_SECRET"],
}
tokens = Token.model_validate_json(call(f"{service}/oauth/token", None, urlencode(form).encode()))
print(
    json.dumps(
        {
            "user": user(service, token),
            "created": first.id,
            "repeated": repeated.id,
            "pages": [[post.id for post in page], [post.id for post in next_page]],
            "unauthorized": unauthorized(service),
            "invalidFields": [error.field for error in invalid.errors],
            "refreshed": user(service, tokens.access_token),
            "later": {"user": user(later, token), "unauthorized": unauthorized(later)},
        }
    )
)
