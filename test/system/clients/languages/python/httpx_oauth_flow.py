import asyncio
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from httpx_oauth.oauth2 import OAuth2, RefreshTokenError
from steps import CREDENTIALS, ISSUER, REDIRECT_URI, SCOPES, query_of, send_user_to, show, show_status, show_tokens

TOKEN_URL = f"{ISSUER}/oauth/token"


async def main():
    client = OAuth2(
        *CREDENTIALS,
        f"{ISSUER}/oauth/authorize",
        TOKEN_URL,
        refresh_token_endpoint=TOKEN_URL,
        revoke_token_endpoint=f"{ISSUER}/oauth/revoke",
        revocation_endpoint_auth_method="client_secret_post",
    )
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    link = await client.get_authorization_url(REDIRECT_URI, state, SCOPES, challenge, "S256")
    callback = query_of(send_user_to(link))
    if callback["state"] != state or callback["iss"] != ISSUER:
        return show(rejected="state or iss differs")
    if "error" in callback:
        return show(denied=callback["error"])
    tokens = await client.get_access_token(callback["code"], REDIRECT_URI, verifier)
    show_tokens(tokens)
    for _ in range(2):
        show_status(tokens["access_token"])
        tokens = await client.refresh_token(tokens["refresh_token"])
        show_tokens(tokens)
    await client.revoke_token(tokens["refresh_token"], "refresh_token")
    show(revoked=True)
    try:
        await client.refresh_token(tokens["refresh_token"])
    except RefreshTokenError as error:
        show(error=error.response.json()["error"])


asyncio.run(main())
