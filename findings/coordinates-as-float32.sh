#!/usr/bin/env bash
# A generator of Go clients that moves coordinates by metres, because a schema says `number` and nothing more.
#
# Version: oapi-codegen 2.8.2, on Go 1.26.
# Expected: `type: number` has no limit of precision, and JSON programs exchange doubles (RFC 8259 §6), so the field is a float64.
# Seen: the field is a float32. The program compiles, and reads and sends numbers with other digits from the eighth on, without an
#   error. With `format: double`, the field is a float64.
# Why it matters: most documents give no format. An app that reads a place and stores it again moves it, amounts above 16,777,216 change,
#   and no test with short numbers finds it. Add `format: double` to each `number` of a document.
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
  "info": { "title": "Places", "version": "1" },
  "paths": {},
  "components": {
    "schemas": {
      "Place": {
        "type": "object",
        "required": ["longitude", "longitudeWithFormat"],
        "properties": {
          "longitude": { "type": "number" },
          "longitudeWithFormat": { "type": "number", "format": "double" }
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
	sent := `{"longitude":-122.41941551,"longitudeWithFormat":-122.41941551}`
	var place Place
	if err := json.Unmarshal([]byte(sent), &place); err != nil {
		panic(err)
	}
	again, err := json.Marshal(place)
	if err != nil {
		panic(err)
	}
	fmt.Println("Read:", sent)
	fmt.Println("Sent:", string(again))
	if string(again) != `{"longitude":-122.41942,"longitudeWithFormat":-122.41941551}` {
		fmt.Println("Changed.")
		os.Exit(1)
	}
	fmt.Println("As described.")
}
GO
go run .
