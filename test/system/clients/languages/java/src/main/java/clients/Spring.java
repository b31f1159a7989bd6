package clients;

import static org.springframework.security.oauth2.client.web.client.RequestAttributeClientRegistrationIdResolver.clientRegistrationId;

import jakarta.servlet.http.HttpServletRequest;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.client.ClientAuthorizationException;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizedClientRepository;
import org.springframework.security.oauth2.client.web.client.OAuth2ClientHttpRequestInterceptor;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/**
 * A Spring Boot site whose members sign in with the service, and a browser that visits it. With the parameter "concurrent", the browser
 * sends many requests at once when the access token expires within a minute, so that each of them refreshes it.
 */
@SpringBootApplication
@RestController
public class Spring {
  private static final HttpClient BROWSER =
      HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

  private final RestClient api;
  private final OAuth2AuthorizedClientRepository clients;

  Spring(OAuth2AuthorizedClientManager manager, OAuth2AuthorizedClientRepository clients) {
    api = RestClient.builder().requestInterceptor(new OAuth2ClientHttpRequestInterceptor(manager)).build();
    this.clients = clients;
  }

  /** Calls the API, after a refresh if the access token is valid for less than a minute. */
  @GetMapping("/me")
  String me() {
    var request = api.get().uri(Steps.ISSUER + "/dev/v1/me").attributes(clientRegistrationId("us"));
    return String.valueOf(request.retrieve().toBodilessEntity().getStatusCode().value());
  }

  @ExceptionHandler(ClientAuthorizationException.class)
  String refused(ClientAuthorizationException error) {
    return error.getError().getErrorCode();
  }

  /** Shows the stored tokens. */
  @GetMapping("/tokens")
  void tokens(Authentication user, HttpServletRequest request) {
    OAuth2AuthorizedClient client = clients.loadAuthorizedClient("us", user, request);
    var access = client.getAccessToken();
    var scope = String.join(" ", access.getScopes());
    Steps.showTokens(access.getTokenValue(), client.getRefreshToken().getTokenValue(), scope);
  }

  public static void main(String[] args) throws Exception {
    var site = URI.create(Steps.REDIRECT_URI).resolve("/");
    var oauth2 = "spring.security.oauth2.client.";
    var application = new SpringApplication(Spring.class);
    application.setDefaultProperties(Map.of(
        "server.address", site.getHost(),
        "server.port", site.getPort(),
        "spring.main.banner-mode", "off",
        oauth2 + "registration.us.client-id", Steps.CLIENT_ID,
        oauth2 + "registration.us.client-secret", Steps.CLIENT_SECRET,
        oauth2 + "registration.us.scope", Steps.SCOPE.replace(' ', ','),
        oauth2 + "provider.us.issuer-uri", Steps.ISSUER,
        oauth2 + "provider.us.user-info-uri", Steps.ISSUER + "/dev/v1/me",
        oauth2 + "provider.us.user-name-attribute", "id"));
    try (var running = application.run()) {
      visit(site, args.length > 0);
    }
  }

  private static void visit(URI site, boolean isConcurrent) throws Exception {
    var link = get(site.resolve("/oauth2/authorization/us")).headers().firstValue("Location").orElseThrow();
    var callback = URI.create(Steps.sendUserTo(link));
    var target = get(callback).headers().firstValue("Location").orElseThrow();
    if (target.endsWith("/login?error")) {
      Steps.show(callback.getQuery().contains("error=") ? "denied" : "rejected", "login page");
      return;
    }
    get(site.resolve("/tokens"));
    if (isConcurrent) {
      Thread.sleep(3_000);
      var request = HttpRequest.newBuilder(site.resolve("/me")).build();
      var calls = Stream.generate(() -> BROWSER.sendAsync(request, HttpResponse.BodyHandlers.ofString()));
      for (var call : calls.limit(8).toList()) Steps.show("status", Integer.valueOf(call.get().body()));
      get(site.resolve("/tokens"));
      return;
    }
    for (int call = 0; call < 2; call += 1) {
      Steps.show("status", Integer.valueOf(get(site.resolve("/me")).body()));
      get(site.resolve("/tokens"));
    }
    Steps.waitForRevocation();
    Steps.show("error", get(site.resolve("/me")).body());
  }

  private static HttpResponse<String> get(URI address) throws Exception {
    return BROWSER.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
  }
}
