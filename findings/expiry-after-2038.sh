#!/usr/bin/env bash
# A generator of clients that cannot read the introspection of a token that expires after January 2038.
#
# Version: openapi-generator 7.25.0, generator `go`, on Go 1.26.
# Expected: `exp` is an integer, the number of seconds since 1970 (RFC 7662 §2.2). `type: integer` has no limit, so a client reads any time
#   of this century.
# Seen: the field is an int32, because the schema has no format. A response with `exp` 2147483648, 19 January 2038, is an error as a
#   whole: the client does not return `active` either. With `format: int64`, it works.
# Why it matters: RFC 7662 and RFC 7519 give no format either, so documents copy `type: integer`. Tokens and keys that live for years get
#   such times first, on a day that no release announces, and a resource server that cannot read the response rejects every one of them.
#   Add `format: int64` to each time.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH="$folder/go"

cat > openapi.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Introspection", "version": "1" },
  "servers": [{ "url": "http://127.0.0.1" }],
  "paths": {
    "/introspect": {
      "get": {
        "operationId": "introspect",
        "tags": ["oauth"],
        "responses": {
          "200": {
            "description": "The token",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Introspection" } } }
          }
        }
      }
    }
  },
  "components": {
    "schemas": {
      "Introspection": {
        "type": "object",
        "required": ["active"],
        "properties": {
          "active": { "type": "boolean" },
          "exp": { "type": "integer" },
          "expWithFormat": { "type": "integer", "format": "int64" }
        }
      }
    }
  }
}
JSON
mvn -q -B dependency:copy -Dmaven.repo.local="$folder/maven" -DoutputDirectory=. \
  -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 > setup.log
java -jar openapi-generator-cli-7.25.0.jar generate -g go -i openapi.json -o client \
  --global-property=apiTests=false --additional-properties=packageName=client,withGoMod=false > setup.log 2>&1
go mod init example.com/check 2>> setup.log

cat > main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"example.com/check/client"
)

func read(response string) string {
	var introspection client.Introspection
	if err := json.Unmarshal([]byte(response), &introspection); err != nil {
		return err.Error()
	}
	return fmt.Sprint("active: ", introspection.Active)
}

func main() {
	before := read(`{"active":true,"exp":2147483647}`)
	after := read(`{"active":true,"exp":2147483648}`)
	withFormat := read(`{"active":true,"expWithFormat":2147483648}`)
	fmt.Println("exp 2147483647:", before)
	fmt.Println("exp 2147483648:", after)
	fmt.Println("exp 2147483648 with a format:", withFormat)
	if before != "active: true" || after == "active: true" || withFormat != "active: true" {
		fmt.Println("Changed.")
		os.Exit(1)
	}
	fmt.Println("As described.")
}
GO
go run .
