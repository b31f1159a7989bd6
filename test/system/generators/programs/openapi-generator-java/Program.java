import com.google.gson.Gson;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.OauthApi;
import org.openapitools.client.api.PostsApi;
import org.openapitools.client.api.UsersApi;
import org.openapitools.client.model.CreatePost;
import org.openapitools.client.model.CreatedPost;
import org.openapitools.client.model.DeleteComment400Response;
import org.openapitools.client.model.DeleteComment401Response;
import org.openapitools.client.model.FieldError;
import org.openapitools.client.model.PostItem;

public class Program {
  private interface Call {
    void run() throws ApiException;
  }

  private static ApiClient connect(String service, String token) {
    ApiClient client = new ApiClient();
    client.setBasePath(service);
    client.setAccessToken(token);
    return client;
  }

  private static String bodyOf(Call call) {
    try {
      call.run();
    } catch (ApiException error) {
      return error.getResponseBody();
    }
    throw new IllegalStateException("The call did not fail.");
  }

  private static String user(String service, String token) throws ApiException {
    return new UsersApi(connect(service, token)).getMe(null, null, null).getName();
  }

  private static String unauthorized(String service) throws Exception {
    String body = bodyOf(() -> user(service, "wrong"));
    return DeleteComment401Response.fromJson(body).getError().getString();
  }

  private static List<String> ids(List<PostItem> posts) {
    return posts.stream().map(PostItem::getId).toList();
  }

  public static void main(String[] parameters) throws Exception {
    Map<String, String> env = System.getenv();
    String service = env.get("BASE_URL");
    String later = env.get("LATER_URL");
    String token = env.get("ACCESS_TOKEN");
    PostsApi posts = new PostsApi(connect(service, token));
    CreatePost post = new CreatePost().content("From a generated client").tags(List.of("generated"));
    CreatedPost first = posts.createPost(post, "key-1", null, null);
    CreatedPost repeated = posts.createPost(post, "key-1", null, null);
    List<PostItem> page = posts.listPosts(null, 2, null, null, null, null).getData();
    List<PostItem> next = posts.listPosts(null, 2, page.get(1).getId(), null, null, null).getData();
    String invalid = bodyOf(() -> posts.createPost(new CreatePost().content(" "), null, null, null));
    String refreshed =
        new OauthApi(connect(service, null))
            .token("refresh_token", null, null, null, null, null, env.get("REFRESH_TOKEN"), null,
                env.get("CLIENT_ID"), env.get("CLIENT_SECRET"))
            .getAccessToken();
    Map<String, Object> outcome =
        Map.of(
            "user", user(service, token),
            "created", first.getId(),
            "repeated", repeated.getId(),
            "pages", List.of(ids(page), ids(next)),
            "unauthorized", unauthorized(service),
            "invalidFields",
                DeleteComment400Response.fromJson(invalid).getErrors().stream().map(FieldError::getField).toList(),
            "refreshed", user(service, refreshed),
            "later", Map.of("user", user(later, token), "unauthorized", unauthorized(later)));
    System.out.println(new Gson().toJson(outcome));
  }
}
