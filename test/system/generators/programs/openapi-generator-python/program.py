import json
import os
import uuid

from openapi_client import ApiClient, Configuration, CreatePost, OauthApi, PostsApi, UsersApi
from openapi_client.exceptions import ApiException


def connect(service, token):
    return ApiClient(Configuration(host=service, access_token=token))


def error_of(call):
    try:
        call()
    except ApiException as error:
        return error.data
    raise AssertionError("The call did not fail.")


def user(service, token):
    return UsersApi(connect(service, token)).get_me().name


def unauthorized(service):
    error = error_of(UsersApi(connect(service, "wrong")).get_me)
    return error.error.actual_instance


service, later = os.environ["BASE_URL"], os.environ["LATER_URL"]
token = os.environ["ACCESS_TOKEN"]
posts = PostsApi(connect(service, token))
key = str(uuid.uuid4())
post = CreatePost(content="From a generated client", tags=["generated"])
first, repeated = [posts.create_post(post, idempotency_key=key) for _ in range(2)]
page = posts.list_posts(limit=2)
next_page = posts.list_posts(limit=2, before=page.data[-1].id)
invalid = error_of(lambda: posts.create_post(CreatePost(content=" ")))
tokens = OauthApi(connect(service, None)).token(
    grant_type="refresh_token",
    refresh_token=os.environ["REFRESH_TOKEN"],
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
)
print(
    json.dumps(
        {
            "user": user(service, token),
            "created": first.id,
            "repeated": repeated.id,
            "pages": [[post.id for post in page.data], [post.id for post in next_page.data]],
            "unauthorized": unauthorized(service),
            "invalidFields": [error.var_field for error in invalid.errors],
            "refreshed": user(service, tokens.access_token),
            "later": {"user": user(later, token), "unauthorized": unauthorized(later)},
        }
    )
)
