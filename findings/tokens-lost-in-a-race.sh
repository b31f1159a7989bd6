#!/usr/bin/env bash
# An OAuth client that throws its new tokens away, because it refreshed the old ones several times at once.
#
# Version: spring-security-oauth2-client 7.0.6, on Java 17 with Maven.
# Expected: when several requests meet an expired access token, one of them refreshes it, and the others use the result. At least, the
# `invalid_grant` for a second use of the old refresh token does not touch the tokens that the first use has returned.
# Seen: each thread sends the same refresh token. The server, which rotates refresh tokens, answers the first and refuses the others.
# Their failure removes the stored client of the user, with the new tokens that the first thread has just stored.
# Why it matters: a page that loads four things at once signs the user out of the connection whenever the access token has expired. It
# does not happen in development, where one request is made at a time. Serialize `authorize` for each user, or keep the tokens in
# `setAuthorizationFailureHandler` if the stored refresh token is not the one that was refused. A server helps if it returns the same
# tokens for repeats within seconds.
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
      <groupId>org.springframework.security</groupId>
      <artifactId>spring-security-oauth2-client</artifactId>
      <version>7.0.6</version>
    </dependency>
    <dependency>
      <groupId>tools.jackson.core</groupId>
      <artifactId>jackson-databind</artifactId>
      <version>3.1.4</version>
    </dependency>
  </dependencies>
</project>
XML
cat > Check.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.oauth2.client.AuthorizedClientServiceOAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.InMemoryOAuth2AuthorizedClientService;
import org.springframework.security.oauth2.client.OAuth2AuthorizeRequest;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientProviderBuilder;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.InMemoryClientRegistrationRepository;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.OAuth2AccessToken;
import org.springframework.security.oauth2.core.OAuth2RefreshToken;

public class Check {
  static final AtomicInteger refreshes = new AtomicInteger();

  /** Accepts a refresh token once. Waits for other requests, for at most two seconds. */
  static HttpServer server(int threads) throws Exception {
    var arrived = new CountDownLatch(threads);
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/token", exchange -> {
      exchange.getRequestBody().readAllBytes();
      var isFirst = refreshes.incrementAndGet() == 1;
      try {
        arrived.countDown();
        arrived.await(2, TimeUnit.SECONDS);
        if (!isFirst) Thread.sleep(500);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
      var body = isFirst
          ? "{\"access_token\":\"a2\",\"refresh_token\":\"r2\",\"token_type\":\"Bearer\",\"expires_in\":3600}"
          : "{\"error\":\"invalid_grant\"}";
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(isFirst ? 200 : 400, body.length());
      exchange.getResponseBody().write(body.getBytes());
      exchange.close();
    });
    server.start();
    return server;
  }

  /** What is stored after this number of threads needed an access token at once. */
  static String stored(int threads) throws Exception {
    refreshes.set(0);
    var server = server(threads);
    var registration = ClientRegistration.withRegistrationId("us")
        .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
        .clientId("app")
        .clientSecret("secret")
        .redirectUri("https://app.example/callback")
        .authorizationUri("https://server.example/authorize")
        .tokenUri("http://127.0.0.1:" + server.getAddress().getPort() + "/token")
        .build();
    var registrations = new InMemoryClientRegistrationRepository(registration);
    var clients = new InMemoryOAuth2AuthorizedClientService(registrations);
    var user = new TestingAuthenticationToken("user", null);
    var past = Instant.now().minusSeconds(7200);
    var expired = new OAuth2AccessToken(OAuth2AccessToken.TokenType.BEARER, "a1", past, past.plusSeconds(3600));
    clients.saveAuthorizedClient(
        new OAuth2AuthorizedClient(registration, "user", expired, new OAuth2RefreshToken("r1", past)), user);
    var manager = new AuthorizedClientServiceOAuth2AuthorizedClientManager(registrations, clients);
    manager.setAuthorizedClientProvider(
        OAuth2AuthorizedClientProviderBuilder.builder().authorizationCode().refreshToken().build());
    var pool = Executors.newFixedThreadPool(threads);
    var calls = IntStream.range(0, threads).mapToObj(index -> pool.submit(() -> manager.authorize(
        OAuth2AuthorizeRequest.withClientRegistrationId("us").principal(user).build()))).toList();
    var succeeded = 0;
    for (Future<OAuth2AuthorizedClient> call : calls) {
      try {
        if (call.get() != null) succeeded += 1;
      } catch (java.util.concurrent.ExecutionException refused) {
        // The refresh failed.
      }
    }
    pool.shutdown();
    server.stop(0);
    ((java.util.concurrent.ExecutorService) server.getExecutor()).shutdown();
    OAuth2AuthorizedClient client = clients.loadAuthorizedClient("us", "user");
    var token = client == null ? "nothing" : client.getAccessToken().getTokenValue();
    return refreshes + " refreshes, " + succeeded + " succeeded, stored: " + token;
  }

  public static void main(String[] args) throws Exception {
    var alone = stored(1);
    var together = stored(4);
    System.out.println("One thread: " + alone);
    System.out.println("Four threads: " + together);
    var holds = alone.equals("1 refreshes, 1 succeeded, stored: a2")
        && together.equals("4 refreshes, 1 succeeded, stored: nothing");
    System.out.println(holds ? "As described." : "Changed.");
    System.exit(holds ? 0 : 1);
  }
}
JAVA
mvn --quiet --batch-mode -Dmaven.repo.local="$folder/repository" \
  org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies
java -cp 'target/dependency/*' Check.java
