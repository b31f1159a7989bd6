//! The flow with `openidconnect`, without OpenID Connect.

use clients::{
    address, http_client, send_user_to, setting, show, show_status, show_tokens, wait_for_revocation, SCOPES,
};
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreJsonWebKeySet, CoreProviderMetadata, CoreTokenResponse,
};
use openidconnect::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, RedirectUrl, RequestTokenError, Scope, TokenUrl,
};
use serde_json::json;

fn show_response(tokens: &CoreTokenResponse) {
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
    let http = http_client();
    let issuer = IssuerUrl::new(setting("ISSUER")).unwrap();
    // The service has no OpenID Connect, so that the endpoints must be set.
    CoreProviderMetadata::discover(&issuer, &http).unwrap_err();
    let client = CoreClient::new(
        ClientId::new(setting("CLIENT_ID")),
        issuer,
        CoreJsonWebKeySet::default(),
    )
    .set_client_secret(ClientSecret::new(setting("CLIENT_SECRET")))
    .set_auth_uri(AuthUrl::new(address("/oauth/authorize")).unwrap())
    .set_token_uri(TokenUrl::new(address("/oauth/token")).unwrap())
    .set_redirect_uri(RedirectUrl::new(setting("REDIRECT_URI")).unwrap())
    .disable_openid_scope();
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (link, state, _) = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            CsrfToken::new_random,
            Nonce::new_random,
        )
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
    wait_for_revocation();
    match client
        .exchange_refresh_token(tokens.refresh_token().unwrap())
        .request(&http)
    {
        Err(RequestTokenError::ServerResponse(response)) => show(json!({ "error": response.error().to_string() })),
        other => panic!("{other:?}"),
    }
}
