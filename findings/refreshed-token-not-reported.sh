#!/usr/bin/env bash
# An OAuth client that refreshes tokens by itself, and gives the app no chance to store the new refresh token.
#
# Version: golang.org/x/oauth2 0.38.0, on Go 1.26.
# Expected: a client that is made from a stored token, and refreshes it, reports the new token: in a callback, or in the token that it was
# given. RFC 6749 §6: when the server issues a new refresh token, the client must discard the old one and use the new one.
# Seen: `Config.Client` keeps the new token to itself. The next client made from the stored token sends the old refresh token again.
# Why it matters: handlers that load the token of a user from a database and call `Config.Client` work for an hour. Then the first
# request refreshes, and the second repeats a refresh token that the server has replaced, which counts as theft (RFC 9700 §4.14.2): all
# tokens of the user are revoked. Call `Token` of the token source after the requests and store the result if it differs, or wrap the
# token source; and keep one token source for each user.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH="$folder/go"

go mod init check 2> setup.log
go get golang.org/x/oauth2@v0.38.0 2>> setup.log

cat > main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

func main() {
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token" {
			return
		}
		sent = append(sent, r.PostFormValue("refresh_token"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"a%[1]d","refresh_token":"r%[1]d","token_type":"Bearer","expires_in":3600}`, len(sent)+1)
	}))
	defer server.Close()
	config := oauth2.Config{
		ClientID:     "app",
		ClientSecret: "secret",
		Endpoint:     oauth2.Endpoint{TokenURL: server.URL + "/token", AuthStyle: oauth2.AuthStyleInHeader},
	}
	stored := &oauth2.Token{AccessToken: "a1", RefreshToken: "r1", Expiry: time.Now().Add(-time.Hour)}

	// Two requests of a user to the app.
	for range 2 {
		response, err := config.Client(context.Background(), stored).Get(server.URL + "/me")
		if err != nil {
			panic(err)
		}
		response.Body.Close()
	}
	reused := strings.Join(sent, ", ")

	// One that stores what the token source returns.
	sent = nil
	for range 2 {
		source := config.TokenSource(context.Background(), stored)
		response, err := oauth2.NewClient(context.Background(), source).Get(server.URL + "/me")
		if err != nil {
			panic(err)
		}
		response.Body.Close()
		stored, _ = source.Token()
	}
	kept := strings.Join(sent, ", ")

	fmt.Println("Refresh tokens sent, with Config.Client:", reused)
	fmt.Println("Refresh tokens sent, if the app asks the token source:", kept)
	if reused != "r1, r1" || kept != "r1" {
		fmt.Println("Changed.")
		os.Exit(1)
	}
	fmt.Println("As described.")
}
GO
go run .
