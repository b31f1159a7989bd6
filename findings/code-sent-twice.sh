#!/usr/bin/env bash
# An OAuth client that sends an authorization code a second time after an error that says nothing about client authentication.
#
# Version: golang.org/x/oauth2 0.34.0, with its default `AuthStyleAutoDetect`, on Go 1.26.
# Expected: a code is sent once. Another method of client authentication is worth a try only after `invalid_client`, which alone says
#   that authentication failed (RFC 6749 §5.2).
# Seen: the first exchange of a process sends the same code again, first with HTTP Basic, then with the secret in the form, after each
#   error: after a 503 with `Retry-After`, and after `invalid_grant`.
# Why it matters: a server that sees a code again may revoke the tokens that it issued for it (RFC 6749 §4.1.2). If the first response
#   was lost on the way and a gateway answered 503 instead, the repetition ends the new connection. Set `AuthStyle` to what the server
#   documents; then the code is sent once.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH="$folder/go"

go mod init check 2> setup.log
go get golang.org/x/oauth2@v0.34.0 2>> setup.log

cat > main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"golang.org/x/oauth2"
)

// Returns how often one exchange sends its code to a server that always responds with the status and the error.
func attempts(style oauth2.AuthStyle, status int, code string) int {
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("code") == "c1" {
			sent++
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5")
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":%q}`, code)
	}))
	defer server.Close()
	config := oauth2.Config{
		ClientID:     "app",
		ClientSecret: "secret",
		RedirectURL:  "http://127.0.0.1/callback",
		Endpoint:     oauth2.Endpoint{TokenURL: server.URL, AuthStyle: style},
	}
	if _, err := config.Exchange(context.Background(), "c1"); err == nil {
		panic("the exchange should fail")
	}
	return sent
}

func main() {
	unavailable := attempts(oauth2.AuthStyleAutoDetect, http.StatusServiceUnavailable, "temporarily_unavailable")
	invalid := attempts(oauth2.AuthStyleAutoDetect, http.StatusBadRequest, "invalid_grant")
	fixed := attempts(oauth2.AuthStyleInHeader, http.StatusServiceUnavailable, "temporarily_unavailable")
	fmt.Println("Sent after 503:", unavailable)
	fmt.Println("Sent after invalid_grant:", invalid)
	fmt.Println("Sent after 503, with AuthStyleInHeader:", fixed)
	if unavailable != 2 || invalid != 2 || fixed != 1 {
		fmt.Println("Changed.")
		os.Exit(1)
	}
	fmt.Println("As described.")
}
GO
go run .
