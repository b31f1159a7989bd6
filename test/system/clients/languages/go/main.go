// The flow with golang.org/x/oauth2. With the parameter "concurrent", many goroutines meet an expired token instead.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
)

const goroutines = 40

var issuer = os.Getenv("ISSUER")
var input = bufio.NewScanner(os.Stdin)

func main() {
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		RedirectURL:  os.Getenv("REDIRECT_URI"),
		Scopes:       []string{"profile.read", "posts.read"},
		Endpoint:     oauth2.Endpoint{AuthURL: issuer + "/oauth/authorize", TokenURL: issuer + "/oauth/token"},
	}
	counter := &counter{}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Transport: counter})
	state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	show(map[string]any{"link": config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))})
	callback := read()
	if callback.Get("state") != state || callback.Get("iss") != issuer {
		show(map[string]any{"rejected": "state or iss differs"})
		return
	}
	if callback.Has("error") {
		show(map[string]any{"denied": callback.Get("error")})
		return
	}
	token, err := config.Exchange(ctx, callback.Get("code"), oauth2.VerifierOption(verifier))
	check(err)
	if len(os.Args) > 1 {
		concurrent(ctx, &config, token, counter)
		return
	}

	showToken(token)
	for range 2 {
		showStatus(config.Client(ctx, token))
		token, err = config.TokenSource(ctx, expired(token)).Token()
		check(err)
		showToken(token)
	}
	show(map[string]any{"revoked": false})
	read()
	_, err = config.TokenSource(ctx, expired(token)).Token()
	var failure *oauth2.RetrieveError
	if !errors.As(err, &failure) {
		panic(err)
	}
	show(map[string]any{"error": failure.ErrorCode})
}

// concurrent calls the API from many goroutines at once with an expired token: with one client, then with a client for each goroutine,
// as in an app that makes one from the stored token for each request, then with one client again.
func concurrent(ctx context.Context, config *oauth2.Config, token *oauth2.Token, counter *counter) {
	for _, isShared := range []bool{true, false, true} {
		stored := expired(token)
		shared := config.TokenSource(ctx, stored)
		token = callAtOnce(counter, func() oauth2.TokenSource {
			if isShared {
				return shared
			}
			return config.TokenSource(ctx, stored)
		})
	}
}

func callAtOnce(counter *counter, source func() oauth2.TokenSource) (token *oauth2.Token) {
	counter.tokenRequests.Store(0)
	var group sync.WaitGroup
	var mutex sync.Mutex
	start := make(chan struct{})
	accessTokens, statuses := map[string]bool{}, map[int]int{}
	for range goroutines {
		source := source()
		group.Add(1)
		go func() {
			defer group.Done()
			<-start
			response, err := oauth2.NewClient(context.Background(), source).Get(issuer + "/dev/v1/me")
			check(err)
			response.Body.Close()
			received, err := source.Token()
			check(err)
			mutex.Lock()
			defer mutex.Unlock()
			token = received
			accessTokens[received.AccessToken] = true
			statuses[response.StatusCode]++
		}()
	}
	close(start)
	group.Wait()
	show(map[string]any{"tokenRequests": counter.tokenRequests.Load(), "accessTokens": len(accessTokens), "statuses": statuses})
	return token
}

// counter counts the requests to the token endpoint.
type counter struct {
	tokenRequests atomic.Int64
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Path == "/oauth/token" {
		c.tokenRequests.Add(1)
	}
	return http.DefaultTransport.RoundTrip(request)
}

// expired returns the token as an app loads it after its access token has expired.
func expired(token *oauth2.Token) *oauth2.Token {
	stored := *token
	stored.Expiry = time.Now().Add(-time.Minute)
	return &stored
}

func showToken(token *oauth2.Token) {
	show(map[string]any{"access": token.AccessToken, "refresh": token.RefreshToken, "scope": token.Extra("scope")})
}

func showStatus(client *http.Client) {
	response, err := client.Get(issuer + "/dev/v1/me")
	check(err)
	defer response.Body.Close()
	show(map[string]any{"status": response.StatusCode})
}

func show(line map[string]any) {
	text, err := json.Marshal(line)
	check(err)
	fmt.Println(string(text))
}

// read returns the query of the address that the browser returned to.
func read() url.Values {
	input.Scan()
	address, err := url.Parse(input.Text())
	check(err)
	return address.Query()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
