<?php session_start();
require 'vendor/autoload.php';

$issuer = getenv('ISSUER');
$provider = new League\OAuth2\Client\Provider\GenericProvider([
    'clientId' => getenv('CLIENT_ID'), 'clientSecret' => getenv('CLIENT_SECRET'),
    'redirectUri' => getenv('REDIRECT_URI'),
    'urlAuthorize' => "$issuer/oauth/authorize", 'urlAccessToken' => "$issuer/oauth/token",
    'urlResourceOwnerDetails' => "$issuer/dev/v1/me",
    'scopes' => ['profile.read', 'posts.read'], 'scopeSeparator' => ' ', 'pkceMethod' => 'S256',
]);
if (!isset($_GET['code']) && !isset($_GET['error'])) {
    $link = $provider->getAuthorizationUrl();
    $_SESSION = ['state' => $provider->getState(), 'verifier' => $provider->getPkceCode()];
    exit(header("Location: $link"));
}
if (!isset($_SESSION['state']) || ($_GET['state'] ?? null) !== $_SESSION['state']) exit('state differs');
unset($_SESSION['state']);
if (isset($_GET['error'])) exit('no access');
$provider->setPkceCode($_SESSION['verifier']);
$token = $provider->getAccessToken('authorization_code', ['code' => $_GET['code']]);
echo json_encode($provider->getResourceOwner($token)->toArray());
