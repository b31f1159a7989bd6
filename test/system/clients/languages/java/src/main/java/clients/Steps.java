package clients;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/** What the programs of this folder print and read: one JSON object a line. */
class Steps {
  static final String ISSUER = System.getenv("ISSUER");
  static final String CLIENT_ID = System.getenv("CLIENT_ID");
  static final String CLIENT_SECRET = System.getenv("CLIENT_SECRET");
  static final String REDIRECT_URI = System.getenv("REDIRECT_URI");
  static final String SCOPE = "profile.read posts.read";

  private static final BufferedReader INPUT = new BufferedReader(new InputStreamReader(System.in));

  /** Prints a line with these members: name, value, name, value… */
  static void show(Object... members) {
    var line = new StringBuilder();
    for (int index = 0; index < members.length; index += 2) {
      var value = members[index + 1];
      var isText = value instanceof String;
      line.append(line.isEmpty() ? "{" : ",").append('"').append(members[index]).append("\":");
      line.append(isText ? '"' + value.toString() + '"' : value);
    }
    System.out.println(line.append('}'));
  }

  static void showTokens(String access, String refresh, String scope) {
    show("access", access, "refresh", refresh, "scope", scope);
  }

  static void showStatus(String accessToken) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(ISSUER + "/dev/v1/me"))
        .header("Authorization", "Bearer " + accessToken)
        .build();
    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
    show("status", response.statusCode());
  }

  /** Returns the address that the browser returned to. */
  static String sendUserTo(String link) throws IOException {
    show("link", link);
    return INPUT.readLine();
  }

  /** For libraries without revocation. */
  static void waitForRevocation() throws IOException {
    show("revoked", false);
    INPUT.readLine();
  }

  static Map<String, String> queryOf(String address) {
    var query = new HashMap<String, String>();
    for (var pair : URI.create(address).getRawQuery().split("&")) {
      var parts = pair.split("=", 2);
      query.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return query;
  }

  static String random() {
    var bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
