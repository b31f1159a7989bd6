#!/usr/bin/env bash
# An OAuth client that loses access at the first refresh, if the user allowed fewer scopes than the app requested.
#
# Version: ScribeJava 8.3.3, on Java 17 with Maven.
# Expected: a refresh sends no scope, or those of the token: it must not include a scope that was not granted (RFC 6749 §6). The token
# response named the granted scope, and the client returns it from `getScope()`.
# Seen: `refreshAccessToken` sends the `defaultScope` of the service, which is also that of the link, so the server answers
# `invalid_scope`. If the scope is set at the link only, the refresh sends none, and works.
# Why it matters: the app works for as long as the first access token lives, usually an hour, and then only for users who allowed
# everything. Libraries on top of it, such as pac4j-oauth, set the default scope. Set the scope with
# `createAuthorizationUrlBuilder().scope(…)`, or pass the granted scope to `refreshAccessToken`.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>check</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.github.scribejava</groupId>
      <artifactId>scribejava-core</artifactId>
      <version>8.3.3</version>
    </dependency>
  </dependencies>
</project>
XML
cat > Check.java <<'JAVA'
import com.github.scribejava.core.builder.ServiceBuilder;
import com.github.scribejava.core.builder.api.DefaultApi20;
import com.github.scribejava.core.model.OAuth2AccessTokenErrorResponse;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

public class Check {
  private static String url;

  /** A server on which the user allowed `read`, but not `write`. */
  static HttpServer server() throws Exception {
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/token", exchange -> {
      var form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      var isRefused = form.contains("grant_type=refresh_token") && form.contains("write");
      var body = isRefused
          ? "{\"error\":\"invalid_scope\"}"
          : "{\"access_token\":\"a\",\"refresh_token\":\"r\",\"token_type\":\"Bearer\",\"expires_in\":3600,\"scope\":\"read\"}";
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(isRefused ? 400 : 200, body.length());
      exchange.getResponseBody().write(body.getBytes());
      exchange.close();
    });
    server.start();
    return server;
  }

  static String refresh(boolean isDefaultScope) throws Exception {
    var builder = new ServiceBuilder("app").apiSecret("secret").callback("https://app.example/callback");
    if (isDefaultScope) builder.defaultScope("read write");
    try (var service = builder.build(new Example())) {
      var link = service.createAuthorizationUrlBuilder();
      if (!isDefaultScope) link.scope("read write");
      if (!link.build().contains("scope=read%20write")) throw new IllegalStateException(link.build());
      var tokens = service.getAccessToken("c1");
      try {
        service.refreshAccessToken(tokens.getRefreshToken());
        return tokens.getScope() + ", then refreshed";
      } catch (OAuth2AccessTokenErrorResponse error) {
        return tokens.getScope() + ", then " + error.getError().getErrorString();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    var server = server();
    url = "http://127.0.0.1:" + server.getAddress().getPort();
    var asDefault = refresh(true);
    var atLink = refresh(false);
    server.stop(0);
    System.out.println("Default scope \"read write\": " + asDefault);
    System.out.println("Scope \"read write\" at the link: " + atLink);
    var holds = asDefault.equals("read, then invalid_scope") && atLink.equals("read, then refreshed");
    System.out.println(holds ? "As described." : "Changed.");
    System.exit(holds ? 0 : 1);
  }

  static class Example extends DefaultApi20 {
    @Override
    public String getAccessTokenEndpoint() {
      return url + "/token";
    }

    @Override
    protected String getAuthorizationBaseUrl() {
      return url + "/authorize";
    }
  }
}
JAVA
mvn --quiet --batch-mode -Dmaven.repo.local="$folder/repository" \
  org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies
java -cp 'target/dependency/*' Check.java
