#!/usr/bin/env bash
# A generator of PHP clients that rejects each valid response with a time, because the document says more exactly how times look.
#
# Version: openapi-generator 7.25.0, generator `php`, on PHP 8.2.
# Expected: a client that checks a `pattern` checks it on the text of the response (JSON Schema Validation §6.3.3). A time with
#   milliseconds and Z matches.
# Seen: with `format: date-time` beside the pattern, the client first converts the text to a DateTime, and then checks the pattern on
#   another text of this time, without milliseconds and with +00:00. It throws an InvalidArgumentException on every response.
# Why it matters: an API promises UTC and milliseconds with a pattern, as for `expires_at` of a token. The client compiles, and its first
#   call fails after the server has executed it: the token or the post exists, and the app does not know.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > openapi.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Tokens", "version": "1" },
  "servers": [{ "url": "http://127.0.0.1" }],
  "paths": {
    "/token": {
      "get": {
        "operationId": "getToken",
        "responses": {
          "200": {
            "description": "The token",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Token" } } }
          }
        }
      }
    }
  },
  "components": {
    "schemas": {
      "Token": {
        "type": "object",
        "required": ["expires_at"],
        "properties": {
          "expires_at": {
            "type": "string",
            "format": "date-time",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"
          },
          "issued_at": { "type": "string", "format": "date-time" }
        }
      }
    }
  }
}
JSON
mvn -q -B dependency:copy -Dmaven.repo.local="$folder/maven" -DoutputDirectory=. \
  -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 > setup.log
java -jar openapi-generator-cli-7.25.0.jar generate -g php -i openapi.json -o client > setup.log 2>&1

cat > check.php <<'PHP'
<?php

spl_autoload_register(function (string $class): void {
    require 'client/lib/' . str_replace(['OpenAPI\\Client\\', '\\'], ['', '/'], $class) . '.php';
});

function read(string $response): string
{
    try {
        OpenAPI\Client\ObjectSerializer::deserialize($response, 'OpenAPI\Client\Model\Token');
        return 'read';
    } catch (InvalidArgumentException $error) {
        return $error->getMessage();
    }
}

$time = '2026-11-29T10:00:00.000Z';
$withPattern = read(json_encode(['expires_at' => $time]));
$without = read(json_encode(['issued_at' => $time]));
echo "With a pattern: $withPattern\nWithout: $without\n";
$holds = str_contains($withPattern, 'must conform to the pattern') && $without === 'read';
echo $holds ? "As described.\n" : "Changed.\n";
exit($holds ? 0 : 1);
PHP
php check.php
