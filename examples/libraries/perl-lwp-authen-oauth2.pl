use strict;
use warnings;
use Digest::SHA 'sha256_base64';
use LWP::Authen::OAuth2;

my $us = LWP::Authen::OAuth2->new(
    client_id => $ENV{CLIENT_ID},
    client_secret => $ENV{CLIENT_SECRET} // '', # empty for a public app
    authorization_endpoint => "$ENV{ISSUER}/oauth/authorize",
    token_endpoint => "$ENV{ISSUER}/oauth/token",
    redirect_uri => $ENV{REDIRECT_URI},
    is_strict => 0, # otherwise the module refuses the parameters of PKCE
);
open my $random, '<:raw', '/dev/urandom' or die;
my ($state, $verifier) = map { read $random, my $bytes, 32; unpack 'H*', $bytes } 1, 2;
(my $challenge = sha256_base64($verifier)) =~ tr{+/}{-_};
my %pkce = (code_challenge => $challenge, code_challenge_method => 'S256');
my $link = $us->authorization_url(scope => 'profile.read posts.read', state => $state, %pkce);
print STDERR "Open $link\nThen paste the address that you returned to:\n";
my %query = URI->new(<STDIN> =~ s/\s+$//r)->query_form;
die 'state differs' if ($query{state} // '') ne $state;
$us->request_tokens(code => $query{code}, code_verifier => $verifier);
print $us->get("$ENV{ISSUER}/dev/v1/me")->content;
