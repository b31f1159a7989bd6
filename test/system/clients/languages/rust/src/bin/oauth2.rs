//! The flow with `oauth2`.

use clients::{
    address, http_client, send_user_to, setting, show, show_status, show_tokens, wait_for_revocation, SCOPES,
};
use oauth2::basic::{BasicClient, BasicTokenResponse};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, PkceCodeChallenge, RedirectUrl, RequestTokenError,
    RevocationUrl, Scope, StandardRevocableToken, TokenResponse, TokenUrl,
};
use serde_json::json;

fn show_response(tokens: &BasicTokenResponse) {
    let scopes = tokens
        .scopes()
        .map(|scopes| scopes.iter().map(|scope| scope.to_string()).collect());
    show_tokens(
        tokens.access_token().secret(),
        tokens.refresh_token().unwrap().secret(),
        scopes,
    );
}

fn main() {
    let client = BasicClient::new(ClientId::new(setting("CLIENT_ID")))
        .set_client_secret(ClientSecret::new(setting("CLIENT_SECRET")))
        .set_auth_uri(AuthUrl::new(address("/oauth/authorize")).unwrap())
        .set_token_uri(TokenUrl::new(address("/oauth/token")).unwrap())
        .set_revocation_url(RevocationUrl::new(address("/oauth/revoke")).unwrap())
        .set_redirect_uri(RedirectUrl::new(setting("REDIRECT_URI")).unwrap());
    let http = http_client();
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (link, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scopes(SCOPES.map(|scope| Scope::new(scope.into())))
        .set_pkce_challenge(challenge)
        .url();
    let Some(query) = send_user_to(&link, state.secret()) else {
        return;
    };
    let code = AuthorizationCode::new(query["code"].clone());
    let mut tokens = client
        .exchange_code(code)
        .set_pkce_verifier(verifier)
        .request(&http)
        .unwrap();
    show_response(&tokens);
    for _ in 0..2 {
        show_status(&http, tokens.access_token().secret());
        tokens = client
            .exchange_refresh_token(tokens.refresh_token().unwrap())
            .request(&http)
            .unwrap();
        show_response(&tokens);
    }
    let refresh_token = tokens.refresh_token().unwrap();
    let revocable = StandardRevocableToken::RefreshToken(refresh_token.clone());
    match client.revoke_token(revocable) {
        Ok(revocation) => {
            revocation.request(&http).unwrap();
            show(json!({ "revoked": true }));
        }
        // It demands https.
        Err(_) => wait_for_revocation(),
    }
    match client.exchange_refresh_token(refresh_token).request(&http) {
        Err(RequestTokenError::ServerResponse(response)) => show(json!({ "error": response.error().to_string() })),
        other => panic!("{other:?}"),
    }
}
