from requests_oauth2client import AuthorizationResponseError, InvalidGrant, OAuth2Client
from requests_oauth2client import MismatchingIssuer, MismatchingState
from steps import CLIENT_ID, CLIENT_SECRET, ISSUER, REDIRECT_URI, SCOPES, send_user_to, show, show_status


def show_tokens(tokens):
    show(access=tokens.access_token, refresh=tokens.refresh_token, scope=tokens.scope)


def main():
    client = OAuth2Client.from_discovery_endpoint(
        f"{ISSUER}/.well-known/oauth-authorization-server",
        issuer=ISSUER,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        redirect_uri=REDIRECT_URI,
        testing=True,  # accepts http
    )
    request = client.authorization_request(scope=SCOPES)
    try:
        code = request.validate_callback(send_user_to(str(request.uri)))
    except AuthorizationResponseError as error:
        return show(denied=error.error)
    except (MismatchingIssuer, MismatchingState):
        return show(rejected="state or iss differs")
    tokens = client.authorization_code(code)
    show_tokens(tokens)
    for _ in range(2):
        show_status(tokens.access_token)
        tokens = client.refresh_token(tokens)
        show_tokens(tokens)
    show(revoked=client.revoke_refresh_token(tokens.refresh_token))
    try:
        client.refresh_token(tokens)
    except InvalidGrant as error:
        show(error=error.error)


main()
