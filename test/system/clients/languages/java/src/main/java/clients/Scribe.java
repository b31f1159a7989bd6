package clients;

import com.github.scribejava.core.builder.ServiceBuilder;
import com.github.scribejava.core.builder.api.DefaultApi20;
import com.github.scribejava.core.model.OAuth2AccessToken;
import com.github.scribejava.core.model.OAuth2AccessTokenErrorResponse;
import com.github.scribejava.core.model.OAuthRequest;
import com.github.scribejava.core.model.Verb;
import com.github.scribejava.core.oauth.AccessTokenRequestParams;
import com.github.scribejava.core.revoke.TokenTypeHint;

/** The flow with ScribeJava. With the parameter "default-scope", the scope is that of the service instead of the link. */
public class Scribe {
  public static void main(String[] args) throws Exception {
    var usesDefaultScope = args.length > 0;
    var builder = new ServiceBuilder(Steps.CLIENT_ID).apiSecret(Steps.CLIENT_SECRET).callback(Steps.REDIRECT_URI);
    if (usesDefaultScope) builder.defaultScope(Steps.SCOPE);
    try (var service = builder.build(new Neighbourhood())) {
      var state = Steps.random();
      var link = service.createAuthorizationUrlBuilder().state(state).initPKCE();
      if (!usesDefaultScope) link.scope(Steps.SCOPE);
      var callback = Steps.queryOf(Steps.sendUserTo(link.build()));
      if (!state.equals(callback.get("state")) || !Steps.ISSUER.equals(callback.get("iss"))) {
        Steps.show("rejected", "state or iss differs");
        return;
      }
      if (callback.containsKey("error")) {
        Steps.show("denied", callback.get("error"));
        return;
      }
      var verifier = link.getPkce().getCodeVerifier();
      var tokens = service.getAccessToken(
          AccessTokenRequestParams.create(callback.get("code")).pkceCodeVerifier(verifier));
      show(tokens);
      for (int refresh = 0; refresh < 2; refresh += 1) {
        var request = new OAuthRequest(Verb.GET, Steps.ISSUER + "/dev/v1/me");
        service.signRequest(tokens, request);
        try (var response = service.execute(request)) {
          Steps.show("status", response.getCode());
        }
        tokens = service.refreshAccessToken(tokens.getRefreshToken());
        show(tokens);
      }
      service.revokeToken(tokens.getRefreshToken(), TokenTypeHint.REFRESH_TOKEN);
      Steps.show("revoked", true);
      service.refreshAccessToken(tokens.getRefreshToken());
    } catch (OAuth2AccessTokenErrorResponse error) {
      Steps.show("error", error.getError().getErrorString());
    }
  }

  private static void show(OAuth2AccessToken tokens) {
    Steps.showTokens(tokens.getAccessToken(), tokens.getRefreshToken(), tokens.getScope());
  }

  private static class Neighbourhood extends DefaultApi20 {
    @Override
    public String getAccessTokenEndpoint() {
      return Steps.ISSUER + "/oauth/token";
    }

    @Override
    protected String getAuthorizationBaseUrl() {
      return Steps.ISSUER + "/oauth/authorize";
    }

    @Override
    public String getRevokeTokenEndpoint() {
      return Steps.ISSUER + "/oauth/revoke";
    }
  }
}
