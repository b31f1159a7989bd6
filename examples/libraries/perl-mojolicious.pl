use Mojolicious::Lite -signatures;

app->secrets([$ENV{SESSION_SECRET}]);
my %urls = (authorize_url => "$ENV{ISSUER}/oauth/authorize?response_type=code", token_url => "$ENV{ISSUER}/oauth/token");
plugin OAuth2 => {us => {key => $ENV{CLIENT_ID}, secret => $ENV{CLIENT_SECRET}, %urls}};
get '/login' => sub ($c) {
  open my $random, '<:raw', '/dev/urandom' or die;
  read $random, my $bytes, 32;
  my $state = $c->session->{state} = unpack 'H*', $bytes;
  my %request = (redirect_uri => $ENV{REDIRECT_URI}, scope => 'profile.read posts.read', state => $state);
  $c->redirect_to($c->oauth2->auth_url(us => \%request));
};
get '/callback' => sub ($c) {
  my $state = delete $c->session->{state};
  return $c->render(text => 'state differs') if !$state || ($c->param('state') // '') ne $state;
  $c->oauth2->get_token_p(us => {redirect_uri => $ENV{REDIRECT_URI}, redirect => 0})->then(sub ($tokens) {
    $c->ua->get_p("$ENV{ISSUER}/dev/v1/me" => {Authorization => "Bearer $tokens->{access_token}"});
  })->then(sub ($tx) { $c->render(json => $tx->res->json) }, sub ($error) { $c->render(text => $error) });
};
app->start;
