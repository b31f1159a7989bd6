#!/usr/bin/env bash
# A web security library that sends a user who cancels the sign-in back to the sign-in.
#
# Version: pac4j-oauth 6.3.1, on Java 17 with Maven.
# Expected: after `error=access_denied` in the redirect (RFC 6749 §4.1.2.1), the app can show that the user declined: the callback logic
# reports the error, or leads to a page that does.
# Seen: the error becomes a line of the log and an absence of credentials, as if the redirect had no parameters. The callback leads to
# the protected page that the user had opened, which redirects to the authorization server again.
# Why it matters: a user who cancels sees the consent page again, and cannot get back to the app. The developer, who never cancels, does
# not notice. Handle the parameter `error` before the callback logic.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p src/main/java
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>check</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.pac4j</groupId>
      <artifactId>pac4j-oauth</artifactId>
      <version>6.3.1</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
XML
cat > src/main/java/Check.java <<'JAVA'
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.pac4j.core.client.Clients;
import org.pac4j.core.config.Config;
import org.pac4j.core.context.WebContext;
import org.pac4j.core.context.session.SessionStore;
import org.pac4j.core.engine.DefaultCallbackLogic;
import org.pac4j.core.engine.DefaultSecurityLogic;
import org.pac4j.core.exception.http.WithLocationAction;
import org.pac4j.core.http.callback.NoParameterCallbackUrlResolver;
import org.pac4j.oauth.client.GenericOAuth20Client;

public class Check {
  static final String PAGE = "https://app.example/account";
  static final String CALLBACK = "https://app.example/callback";
  static final Map<Object, Object> session = new HashMap<>();
  static final Map<Object, Object> attributes = new HashMap<>();
  static String url;
  static Map<String, String> query;

  public static void main(String[] args) {
    var client = new GenericOAuth20Client();
    client.setKey("app");
    client.setSecret("secret");
    client.setAuthUrl("https://server.example/authorize");
    client.setTokenUrl("https://server.example/token");
    client.setProfileUrl("https://server.example/me");
    client.setScope("profile");
    client.setWithState(true);
    client.setCallbackUrlResolver(new NoParameterCallbackUrlResolver());
    var config = new Config(new Clients(CALLBACK, client));
    config.setWebContextFactory(parameters -> webContext());
    config.setSessionStoreFactory(parameters -> sessionStore());
    config.setHttpActionAdapter((action, context) -> action);

    var first = open(config);
    var state = first.replaceFirst(".*[?&]state=([^&]+).*", "$1");
    visit(CALLBACK, Map.of("error", "access_denied", "state", state));
    var result = new DefaultCallbackLogic().perform(config, "/", false, client.getName(), null);
    var afterCancel = ((WithLocationAction) result).getLocation();
    var second = open(config);
    System.out.println("The protected page leads to " + first.replaceFirst("\\?.*", ""));
    System.out.println("The redirect with access_denied leads to " + afterCancel);
    System.out.println("The protected page leads to " + second.replaceFirst("\\?.*", ""));
    var server = "https://server.example/authorize";
    var holds = first.startsWith(server) && afterCancel.equals(PAGE) && second.startsWith(server);
    System.out.println(holds ? "As described." : "Changed.");
    System.exit(holds ? 0 : 1);
  }

  /** Opens the protected page. Returns where it leads to. */
  static String open(Config config) {
    visit(PAGE, Map.of());
    var name = config.getClients().findAllClients().get(0).getName();
    var result = new DefaultSecurityLogic()
        .perform(config, (context, store, profiles) -> "the page", name, "none", "none", null);
    return result instanceof WithLocationAction action ? action.getLocation() : result.toString();
  }

  static void visit(String address, Map<String, String> parameters) {
    url = address;
    query = parameters;
    attributes.clear();
  }

  static WebContext webContext() {
    return proxy(WebContext.class, (method, parameters) -> switch (method) {
      case "getRequestParameter" -> Optional.ofNullable(query.get((String) parameters[0]));
      case "getRequestAttribute" -> Optional.ofNullable(attributes.get(parameters[0]));
      case "setRequestAttribute" -> attributes.put(parameters[0], parameters[1]);
      case "getRequestHeader", "getResponseHeader", "getQueryString" -> Optional.empty();
      case "getRequestMethod" -> "GET";
      case "getRequestURL", "getFullRequestURL" -> url;
      case "getPath" -> url.replace("https://app.example", "");
      case "getRequestParameters" -> Map.of();
      case "getRequestCookies" -> java.util.List.of();
      default -> null;
    });
  }

  static SessionStore sessionStore() {
    return proxy(SessionStore.class, (method, parameters) -> switch (method) {
      case "getSessionId" -> Optional.of("session");
      case "get" -> Optional.ofNullable(session.get(parameters[1]));
      case "set" -> parameters[2] == null ? session.remove(parameters[1]) : session.put(parameters[1], parameters[2]);
      case "getTrackableSession", "buildFromTrackableSession" -> Optional.empty();
      default -> false;
    });
  }

  interface Answers {
    Object of(String method, Object[] parameters);
  }

  static <T> T proxy(Class<T> type, Answers answers) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, parameters) -> {
      var answer = answers.of(method.getName(), parameters);
      if (method.getReturnType() == void.class) return null;
      return method.getReturnType() == boolean.class && answer == null ? Boolean.FALSE : answer;
    }));
  }
}
JAVA
mvn --quiet --batch-mode -Dmaven.repo.local="$folder/repository" compile \
  org.codehaus.mojo:exec-maven-plugin:3.7.0:exec -Dexec.executable=java -Dexec.args='-cp %classpath Check'
