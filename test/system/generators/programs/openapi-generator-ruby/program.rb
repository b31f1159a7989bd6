$LOAD_PATH.unshift 'client/lib'
require 'json'
require 'uri'
require 'openapi_client'

def connect(api, service, token)
  configuration = OpenapiClient::Configuration.new
  uri = URI(service)
  configuration.scheme = uri.scheme
  configuration.host = "#{uri.host}:#{uri.port}"
  configuration.server_index = nil
  configuration.access_token = token
  # Without these, the client sends an empty user name and password to the token endpoint.
  configuration.username, configuration.password = ENV.values_at('CLIENT_ID', 'CLIENT_SECRET')
  api.new(OpenapiClient::ApiClient.new(configuration))
end

def error_of
  yield
  raise 'The call did not fail.'
rescue OpenapiClient::ApiError => e
  OpenapiClient::Error.build_from_hash(JSON.parse(e.response_body, symbolize_names: true))
end

def user(service, token)
  connect(OpenapiClient::UsersApi, service, token).get_me.name
end

def unauthorized(service)
  error_of { user(service, 'wrong') }.error
end

service, later, token = ENV.values_at('BASE_URL', 'LATER_URL', 'ACCESS_TOKEN')
posts = connect(OpenapiClient::PostsApi, service, token)
post = OpenapiClient::CreatePost.new(content: 'From a generated client', tags: ['generated'])
first, repeated = Array.new(2) { posts.create_post(post, idempotency_key: 'key-1') }
page = posts.list_posts(limit: 2).data
next_page = posts.list_posts(limit: 2, before: page.last.id).data
invalid = error_of { posts.create_post(OpenapiClient::CreatePost.new(content: ' ')) }
tokens = connect(OpenapiClient::OauthApi, service, nil).token(
  'refresh_token',
  refresh_token: ENV['REFRESH_TOKEN']
)
puts JSON.generate(
  user: user(service, token),
  created: first.id,
  repeated: repeated.id,
  pages: [page.map(&:id), next_page.map(&:id)],
  unauthorized: unauthorized(service),
  invalidFields: invalid.errors.map(&:field),
  refreshed: user(service, tokens.access_token),
  later: { user: user(later, token), unauthorized: unauthorized(later) }
)
