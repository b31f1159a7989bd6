import org.openapitools.client.apis.OauthApi
import org.openapitools.client.apis.PostsApi
import org.openapitools.client.apis.UsersApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.CreatePost
import org.openapitools.client.models.Error

fun errorOf(call: () -> Unit): Error {
    try {
        call()
    } catch (error: ClientException) {
        val body = (error.response as ClientError<*>).body as String
        return Serializer.moshi.adapter(Error::class.java).fromJson(body)!!
    }
    throw IllegalStateException("The call did not fail.")
}

/** The access token is a setting of all clients. */
fun <T> withToken(token: String?, call: () -> T): T {
    ApiClient.accessToken = token
    return call()
}

fun user(service: String, token: String) = withToken(token) { UsersApi(service).getMe().name }

fun unauthorized(service: String) = errorOf { user(service, "wrong") }.error

fun main() {
    val env = System.getenv()
    val service = env.getValue("BASE_URL")
    val later = env.getValue("LATER_URL")
    val token = env.getValue("ACCESS_TOKEN")
    ApiClient.accessToken = token
    val posts = PostsApi(service)
    val post = CreatePost(content = "From a generated client", tags = listOf("generated"))
    val (first, repeated) = List(2) { posts.createPost(post, "key-1") }
    val page = posts.listPosts(limit = 2).data
    val next = posts.listPosts(limit = 2, before = page.last().id).data
    val invalid = errorOf { posts.createPost(CreatePost(content = " ")) }
    val tokens = withToken(null) {
        OauthApi(service).token(
            OauthApi.GrantTypeToken.refresh_token,
            refreshToken = env["REFRESH_TOKEN"],
            clientId = env["CLIENT_ID"],
            clientSecret = env["CLIENT_SECRET"],
        )
    }
    val outcome = mapOf(
        "user" to user(service, token),
        "created" to first.id,
        "repeated" to repeated.id,
        "pages" to listOf(page.map { it.id }, next.map { it.id }),
        "unauthorized" to unauthorized(service),
        "invalidFields" to invalid.errors!!.map { it.field },
        "refreshed" to user(service, tokens.accessToken),
        "later" to mapOf("user" to user(later, token), "unauthorized" to unauthorized(later)),
    )
    println(Serializer.moshi.adapter(Any::class.java).toJson(outcome))
}
