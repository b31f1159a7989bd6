import android.app.Activity
import android.net.Uri
import net.openid.appauth.*

fun signIn(activity: Activity, service: AuthorizationService, issuer: String, clientId: String) {
    val server = AuthorizationServiceConfiguration(
        Uri.parse("$issuer/oauth/authorize"), Uri.parse("$issuer/oauth/token"),
    )
    val redirectUri = Uri.parse("com.example.app:/callback")
    val request = AuthorizationRequest.Builder(server, clientId, "code", redirectUri)
        .setScope("profile.read posts.read").build()
    activity.startActivityForResult(service.getAuthorizationRequestIntent(request), 1)
}

/** Call in onActivityResult. Then state.performActionWithFreshTokens calls the API. */
fun finish(service: AuthorizationService, data: android.content.Intent, state: AuthState) {
    val response = AuthorizationResponse.fromIntent(data)
    state.update(response, AuthorizationException.fromIntent(data))
    val exchange = response?.createTokenExchangeRequest() ?: return
    service.performTokenRequest(exchange) { tokens, error -> state.update(tokens, error) }
}
