#!/usr/bin/env bash
# A generator of Go clients that offers the text "<nil>" as a value of an enumeration that may be null.
#
# Version: oapi-codegen 2.8.2, on Go 1.26.
# Expected: an enumeration of `type: [string, "null"]` lists null among its values (JSON Schema, OpenAPI 3.1). The client has a constant
#   for each text, and sends null for an absent value.
# Seen: there is one constant more, whose value is the text "<nil>", and `Valid` accepts this text. A program that uses the
#   constant compiles and sends "<nil>".
# Why it matters: servers that check their input refuse the request; others store the text. A form that offers all values of the type
#   shows it to users. Documents of version 3.0 with `nullable` and a null in the list are read in the same way.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH="$folder/go"

cat > openapi.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "Posts", "version": "1" },
  "paths": {},
  "components": {
    "schemas": {
      "Post": {
        "type": "object",
        "properties": {
          "visibility": { "type": ["string", "null"], "enum": ["public", "private", null] }
        }
      }
    }
  }
}
JSON
go mod init check 2> setup.log
go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 \
  -generate types,skip-prune -package main -o types.go openapi.json 2>> setup.log

cat > main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	visibility := PostVisibility("<nil>")
	sent, err := json.Marshal(Post{Visibility: &visibility})
	if err != nil {
		panic(err)
	}
	fmt.Println("Sent:", string(sent), "valid:", visibility.Valid())
	if !visibility.Valid() || PostVisibility("other").Valid() {
		fmt.Println("Changed.")
		os.Exit(1)
	}
	fmt.Println("As described.")
}
GO
go run .
