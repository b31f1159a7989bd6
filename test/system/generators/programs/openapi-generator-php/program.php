<?php

use OpenAPI\Client\Api\{OauthApi, PostsApi, UsersApi};
use OpenAPI\Client\{ApiException, Configuration};
use OpenAPI\Client\Model\CreatePost;

require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    require 'client/lib/' . str_replace(['OpenAPI\\Client\\', '\\'], ['', '/'], $class) . '.php';
});

function connect(string $api, string $service, ?string $token): object
{
    $configuration = (new Configuration())->setHost($service)->setAccessToken($token);
    return new $api(null, $configuration);
}

function errorOf(callable $call): object
{
    try {
        $call();
    } catch (ApiException $error) {
        return $error->getResponseObject();
    }
    throw new LogicException('The call did not fail.');
}

function user(string $service, string $token): string
{
    return connect(UsersApi::class, $service, $token)->getMe()->getName();
}

function unauthorized(string $service): string
{
    return errorOf(fn() => user($service, 'wrong'))->getError();
}

function ids(array $posts): array
{
    return array_map(fn($post) => $post->getId(), $posts);
}

[$service, $later, $token] = array_map('getenv', ['BASE_URL', 'LATER_URL', 'ACCESS_TOKEN']);
$posts = connect(PostsApi::class, $service, $token);
$post = new CreatePost(['content' => 'From a generated client', 'tags' => ['generated']]);
$first = $posts->createPost($post, 'key-1');
$repeated = $posts->createPost($post, 'key-1');
$page = $posts->listPosts(limit: 2)->getData();
$next = $posts->listPosts(limit: 2, before: $page[1]->getId())->getData();
$invalid = errorOf(fn() => $posts->createPost(new CreatePost(['content' => ' '])));
$tokens = connect(OauthApi::class, $service, '')->token(
    'refresh_token',
    refresh_token: getenv('REFRESH_TOKEN'),
    client_id: getenv('CLIENT_ID'),
    client_secret: getenv('CLIENT_SECRET'),
);
echo json_encode([
    'user' => user($service, $token),
    'created' => $first->getId(),
    'repeated' => $repeated->getId(),
    'pages' => [ids($page), ids($next)],
    'unauthorized' => unauthorized($service),
    'invalidFields' => array_map(fn($error) => $error->getField(), $invalid->getErrors()),
    'refreshed' => user($service, $tokens->getAccessToken()),
    'later' => ['user' => user($later, $token), 'unauthorized' => unauthorized($later)],
]);
