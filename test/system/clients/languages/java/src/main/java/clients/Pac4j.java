package clients;

import com.github.scribejava.core.model.OAuth2AccessTokenErrorResponse;
import com.github.scribejava.core.oauth.OAuth20Service;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.pac4j.core.context.CallContext;
import org.pac4j.core.context.WebContext;
import org.pac4j.core.context.session.SessionStore;
import org.pac4j.core.exception.http.WithLocationAction;
import org.pac4j.core.http.callback.NoParameterCallbackUrlResolver;
import org.pac4j.oauth.client.GenericOAuth20Client;
import org.pac4j.oauth.credentials.OAuth20Credentials;
import org.pac4j.oauth.profile.OAuth20Profile;

/** The flow with pac4j. */
public class Pac4j {
  private static Map<String, String> query = Map.of();

  public static void main(String[] args) throws Exception {
    var client = new GenericOAuth20Client();
    client.setKey(Steps.CLIENT_ID);
    client.setSecret(Steps.CLIENT_SECRET);
    client.setAuthUrl(Steps.ISSUER + "/oauth/authorize");
    client.setTokenUrl(Steps.ISSUER + "/oauth/token");
    client.setProfileUrl(Steps.ISSUER + "/dev/v1/me");
    client.setScope(Steps.SCOPE);
    client.setWithState(true);
    client.setCallbackUrl(Steps.REDIRECT_URI);
    client.setCallbackUrlResolver(new NoParameterCallbackUrlResolver());
    var context = new CallContext(webContext(), sessionStore());

    var action = (WithLocationAction) client.getRedirectionAction(context).orElseThrow();
    query = Steps.queryOf(Steps.sendUserTo(action.getLocation()));
    var credentials = client.getCredentials(context).orElse(null);
    if (credentials == null) {
      Steps.show(query.containsKey("error") ? "denied" : "rejected", "no credentials");
      return;
    }
    try {
      credentials = client.validateCredentials(context, credentials).orElseThrow();
      var profile = (OAuth20Profile) client.getUserProfile(context, credentials).orElseThrow();
      var tokens = ((OAuth20Credentials) credentials).toAccessToken();
      Steps.showTokens(profile.getAccessToken(), profile.getRefreshToken(), tokens.getScope());
      // pac4j does not refresh. Below it is ScribeJava, with the scope of the client as default scope.
      var service = (OAuth20Service) client.getConfiguration().buildService(context.webContext(), client);
      for (int refresh = 0; refresh < 2; refresh += 1) {
        Steps.showStatus(tokens.getAccessToken());
        tokens = service.refreshAccessToken(tokens.getRefreshToken());
        Steps.showTokens(tokens.getAccessToken(), tokens.getRefreshToken(), tokens.getScope());
      }
      Steps.waitForRevocation();
      service.refreshAccessToken(tokens.getRefreshToken());
    } catch (OAuth2AccessTokenErrorResponse error) {
      Steps.show("error", error.getError().getErrorString());
    }
  }

  /** The request that the browser sent last. */
  private static WebContext webContext() {
    return proxy(WebContext.class, (method, parameters) -> switch (method) {
      case "getRequestParameter" -> Optional.ofNullable(query.get((String) parameters[0]));
      case "getFullRequestURL" -> Steps.REDIRECT_URI;
      case "getRequestAttribute", "getRequestHeader", "getResponseHeader" -> Optional.empty();
      default -> null;
    });
  }

  private static SessionStore sessionStore() {
    var session = new HashMap<Object, Object>();
    return proxy(SessionStore.class, (method, parameters) -> switch (method) {
      case "get" -> Optional.ofNullable(session.get(parameters[1]));
      case "set" -> session.put(parameters[1], parameters[2]);
      default -> null;
    });
  }

  private interface Answers {
    Object of(String method, Object[] parameters);
  }

  private static <T> T proxy(Class<T> type, Answers answers) {
    Object proxy = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, parameters) -> {
      var answer = answers.of(method.getName(), parameters);
      return method.getReturnType() == void.class ? null : answer;
    });
    return type.cast(proxy);
  }
}
