require "json"
require "omniauth-oauth2"

class Us < OmniAuth::Strategies::OAuth2
  option :client_options, site: ENV["ISSUER"]
  option :scope, "profile.read posts.read"
  option :pkce, true
  uid { me["id"] }
  info { { name: me["name"] } }
  def me = @me ||= access_token.get("/dev/v1/me").parsed
  # The default adds the query of the redirect, so that it is not the registered URI any more.
  def callback_url = full_host + callback_path
end

use Rack::Session::Cookie, secret: ENV["SESSION_SECRET"]
use(OmniAuth::Builder) { provider Us, ENV["CLIENT_ID"], ENV["CLIENT_SECRET"] }
run lambda { |env| # the redirect URI is <your site>/auth/us/callback
  token = Rack::Protection::AuthenticityToken.token(env["rack.session"])
  form = "<form method=post action=/auth/us><button name=authenticity_token value=#{token}>Sign in"
  [200, {}, [env["omniauth.auth"]&.info&.to_json || form]]
}
