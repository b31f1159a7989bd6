package clients;

import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.AuthorizationRequest;
import com.nimbusds.oauth2.sdk.AuthorizationResponse;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.TokenRevocationRequest;
import com.nimbusds.oauth2.sdk.as.AuthorizationServerMetadata;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.token.Tokens;
import java.net.URI;

/** The flow with the Nimbus OAuth 2.0 SDK. */
public class Nimbus {
  public static void main(String[] args) throws Exception {
    var issuer = new Issuer(Steps.ISSUER);
    var metadata = AuthorizationServerMetadata.resolve(issuer);
    var state = new State();
    var verifier = new CodeVerifier();
    var redirectUri = URI.create(Steps.REDIRECT_URI);
    var link = new AuthorizationRequest.Builder(ResponseType.CODE, new ClientID(Steps.CLIENT_ID))
        .endpointURI(metadata.getAuthorizationEndpointURI())
        .redirectionURI(redirectUri)
        .scope(Scope.parse(Steps.SCOPE))
        .state(state)
        .codeChallenge(verifier, CodeChallengeMethod.S256)
        .build()
        .toURI();
    var callback = AuthorizationResponse.parse(URI.create(Steps.sendUserTo(link.toString())));
    if (!state.equals(callback.getState()) || !issuer.equals(callback.getIssuer())) {
      Steps.show("rejected", "state or iss differs");
      return;
    }
    if (!callback.indicatesSuccess()) {
      Steps.show("denied", callback.toErrorResponse().getErrorObject().getCode());
      return;
    }
    AuthorizationCode code = callback.toSuccessResponse().getAuthorizationCode();
    var tokens = request(metadata, new AuthorizationCodeGrant(code, redirectUri, verifier));
    for (int refresh = 0; refresh < 2; refresh += 1) {
      Steps.showStatus(tokens.getAccessToken().getValue());
      tokens = request(metadata, new RefreshTokenGrant(tokens.getRefreshToken()));
    }
    var revocation = new TokenRevocationRequest(
        metadata.getRevocationEndpointURI(), authentication(), tokens.getRefreshToken());
    Steps.show("revoked", revocation.toHTTPRequest().send().indicatesSuccess());
    request(metadata, new RefreshTokenGrant(tokens.getRefreshToken()));
  }

  private static ClientSecretBasic authentication() {
    return new ClientSecretBasic(new ClientID(Steps.CLIENT_ID), new Secret(Steps.CLIENT_SECRET));
  }

  /** Shows the tokens, or the error. */
  private static Tokens request(AuthorizationServerMetadata metadata, AuthorizationGrant grant)
      throws Exception {
    var request = new TokenRequest.Builder(metadata.getTokenEndpointURI(), authentication(), grant).build();
    var response = TokenResponse.parse(request.toHTTPRequest().send());
    if (!response.indicatesSuccess()) {
      Steps.show("error", response.toErrorResponse().getErrorObject().getCode());
      return null;
    }
    var tokens = response.toSuccessResponse().getTokens();
    var scope = tokens.getAccessToken().getScope();
    Steps.showTokens(tokens.getAccessToken().getValue(), tokens.getRefreshToken().getValue(), scope.toString());
    return tokens;
  }
}
