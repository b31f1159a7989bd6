import json
import os
import uuid

from developer_api_client import AuthenticatedClient, Client
from developer_api_client.api.oauth import token as token_endpoint
from developer_api_client.api.posts import create_post, list_posts
from developer_api_client.api.users import get_me
from developer_api_client.models import CreatePost, TokenBody, TokenBodyGrantType


def user(service, token):
    return get_me.sync(client=AuthenticatedClient(base_url=service, token=token)).name


def unauthorized(service):
    return get_me.sync(client=AuthenticatedClient(base_url=service, token="wrong")).error


service, later = os.environ["BASE_URL"], os.environ["LATER_URL"]
token = os.environ["ACCESS_TOKEN"]
client = AuthenticatedClient(base_url=service, token=token)
key = str(uuid.uuid4())
post = CreatePost(content="From a generated client", tags=["generated"])
first, repeated = [
    create_post.sync(client=client, body=post, idempotency_key=key) for _ in range(2)
]
page = list_posts.sync(client=client, limit=2)
next_page = list_posts.sync(client=client, limit=2, before=page.data[-1].id)
invalid = create_post.sync(client=client, body=CreatePost(content=" "))
tokens = token_endpoint.sync(
    client=Client(base_url=service),
    body=TokenBody(
        grant_type=TokenBodyGrantType.REFRESH_TOKEN,
        refresh_token=os.environ["REFRESH_TOKEN"],
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
    ),
)
print(
    json.dumps(
        {
            "user": user(service, token),
            "created": first.id,
            "repeated": repeated.id,
            "pages": [[post.id for post in page.data], [post.id for post in next_page.data]],
            "unauthorized": unauthorized(service),
            "invalidFields": [error.field for error in invalid.errors],
            "refreshed": user(service, tokens.access_token),
            "later": {"user": user(later, token), "unauthorized": unauthorized(later)},
        }
    )
)
