package main

import (
	"context"
	"golang.org/x/oauth2"
	"io"
	"os"
)

func main() {
	ctx, issuer, state, verifier := context.Background(), os.Getenv("ISSUER"), random(), random()
	config := oauth2.Config{
		ClientID: os.Getenv("CLIENT_ID"), ClientSecret: os.Getenv("CLIENT_SECRET"),
		RedirectURL: os.Getenv("REDIRECT_URI"), Scopes: []string{"profile.read", "posts.read"},
		Endpoint: oauth2.Endpoint{AuthURL: issuer + "/oauth/authorize", TokenURL: issuer + "/oauth/token", AuthStyle: oauth2.AuthStyleInParams},
	}
	method := oauth2.SetAuthURLParam("code_challenge_method", "S256")
	challenge := oauth2.SetAuthURLParam("code_challenge", challengeOf(verifier))
	callback := sendUserTo(config.AuthCodeURL(state, challenge, method))
	if callback.Get("state") != state {
		panic("state differs")
	}
	token, err := config.Exchange(ctx, callback.Get("code"), oauth2.SetAuthURLParam("code_verifier", verifier))
	check(err)
	response, err := config.Client(ctx, token).Get(issuer + "/dev/v1/me")
	check(err)
	io.Copy(os.Stdout, response.Body)
}
