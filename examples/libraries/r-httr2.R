library(httr2)

issuer <- Sys.getenv("ISSUER")
client <- oauth_client(
  id = Sys.getenv("CLIENT_ID"),
  secret = Sys.getenv("CLIENT_SECRET"), # leave it out for a public app
  token_url = paste0(issuer, "/oauth/token")
)
token <- oauth_flow_auth_code(
  client,
  auth_url = paste0(issuer, "/oauth/authorize"),
  scope = "profile.read posts.read",
  host_name = "127.0.0.1", # the default is localhost
  port = as.integer(Sys.getenv("PORT")) # the redirect URI is http://127.0.0.1:<port>/, with the slash
)
me <- request(paste0(issuer, "/dev/v1/me")) |> req_auth_bearer_token(token$access_token) |> req_perform()
cat(resp_body_string(me))
