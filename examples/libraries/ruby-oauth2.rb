require "digest"
require "oauth2"
require "securerandom"

client = OAuth2::Client.new(
  ENV["CLIENT_ID"], ENV["CLIENT_SECRET"],
  site: ENV["ISSUER"], authorize_url: "/oauth/authorize", token_url: "/oauth/token"
)
state, verifier = SecureRandom.urlsafe_base64(32), SecureRandom.urlsafe_base64(32)
link = client.auth_code.authorize_url(
  redirect_uri: ENV["REDIRECT_URI"], scope: "profile.read posts.read", state: state,
  code_challenge: Digest::SHA256.base64digest(verifier).tr("+/", "-_").delete("="),
  code_challenge_method: "S256"
)
warn "Open #{link}", "Then paste the address that you returned to:"
query = URI.decode_www_form(URI(gets.chomp).query).to_h
raise "state differs" unless query["state"] == state
options = { redirect_uri: ENV["REDIRECT_URI"], code_verifier: verifier }
puts client.auth_code.get_token(query["code"], options).get("/dev/v1/me").parsed
