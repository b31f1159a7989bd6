package main

import (
	"context"
	"encoding/json"
	"os"

	"example.com/program/api"
	"github.com/ogen-go/ogen/ogenerrors"
)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The access token, without the credentials of the app: the form of the token endpoint has those.
type credentials string

func (token credentials) OAuth2(context.Context, api.OperationName) (api.OAuth2, error) {
	return api.OAuth2{Token: string(token)}, nil
}

func (credentials) App(context.Context, api.OperationName) (api.App, error) {
	return api.App{}, ogenerrors.ErrSkipClientSecurity
}

func connect(service, token string) *api.Client {
	client, err := api.NewClient(service, credentials(token))
	check(err)
	return client
}

func user(service, token string) string {
	response, err := connect(service, token).GetMe(ctx, api.GetMeParams{})
	check(err)
	return response.(*api.UserHeaders).Response.Name
}

func unauthorized(service string) string {
	response, err := connect(service, "wrong").GetMe(ctx, api.GetMeParams{})
	check(err)
	return response.(*api.GetMeUnauthorized).Response.Error
}

func create(service, token, key, content string) api.CreatePostRes {
	post := api.CreatePost{Content: api.NewOptNilString(content), Tags: api.NewOptNilStringArray([]string{"generated"})}
	response, err := connect(service, token).CreatePost(ctx, &post, api.CreatePostParams{IdempotencyKey: api.NewOptString(key)})
	check(err)
	return response
}

func page(service, token string, before api.OptString) []string {
	response, err := connect(service, token).ListPosts(ctx, api.ListPostsParams{Limit: api.NewOptInt(2), Before: before})
	check(err)
	ids := []string{}
	for _, post := range response.(*api.PostPageHeaders).Response.Data {
		ids = append(ids, post.ID)
	}
	return ids
}

func refresh(service string) string {
	response, err := connect(service, "").Token(ctx, &api.TokenReq{
		GrantType:    api.TokenReqGrantTypeRefreshToken,
		RefreshToken: api.NewOptString(os.Getenv("REFRESH_TOKEN")),
		ClientID:     api.NewOptString(os.Getenv("CLIENT_ID")),
		ClientSecret: api.NewOptString(os.Getenv("CLIENT_SECRET")),
	}, api.TokenParams{})
	check(err)
	return response.(*api.TokenHeaders).Response.AccessToken
}

func main() {
	service, later, token := os.Getenv("BASE_URL"), os.Getenv("LATER_URL"), os.Getenv("ACCESS_TOKEN")
	first := create(service, token, "key-1", "From a generated client").(*api.CreatedPostHeaders).Response
	repeated := create(service, token, "key-1", "From a generated client").(*api.CreatedPostHeaders).Response
	invalidFields := []string{}
	for _, violation := range create(service, token, "key-2", " ").(*api.CreatePostBadRequest).Response.Errors {
		invalidFields = append(invalidFields, violation.Field)
	}
	firstPage := page(service, token, api.OptString{})
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"user":          user(service, token),
		"created":       first.ID,
		"repeated":      repeated.ID,
		"pages":         [][]string{firstPage, page(service, token, api.NewOptString(firstPage[1]))},
		"unauthorized":  unauthorized(service),
		"invalidFields": invalidFields,
		"refreshed":     user(service, refresh(service)),
		"later":         map[string]string{"user": user(later, token), "unauthorized": unauthorized(later)},
	}))
}
