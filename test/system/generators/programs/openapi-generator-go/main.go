package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"example.com/program/client"
	"golang.org/x/oauth2"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func connect(service, token string) (*client.APIClient, context.Context) {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: service}}
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})
	return client.NewAPIClient(configuration), context.WithValue(context.Background(), client.ContextOAuth2, source)
}

// Returns the body of an error response.
func errorOf(err error) any {
	var failure *client.GenericOpenAPIError
	if !errors.As(err, &failure) {
		panic(err)
	}
	return failure.Model()
}

func user(service, token string) string {
	api, ctx := connect(service, token)
	me, _, err := api.UsersAPI.GetMe(ctx).Execute()
	check(err)
	return me.Name
}

func unauthorized(service string) string {
	api, ctx := connect(service, "wrong")
	_, _, err := api.UsersAPI.GetMe(ctx).Execute()
	return *errorOf(err).(client.DeleteComment401Response).Error.String
}

func create(service, token, key, content string) (*client.CreatedPost, error) {
	api, ctx := connect(service, token)
	post := client.NewCreatePost()
	post.SetContent(content)
	post.SetTags([]string{"generated"})
	created, _, err := api.PostsAPI.CreatePost(ctx).IdempotencyKey(key).CreatePost(*post).Execute()
	return created, err
}

func page(service, token string, before *string) []string {
	api, ctx := connect(service, token)
	request := api.PostsAPI.ListPosts(ctx).Limit(2)
	if before != nil {
		request = request.Before(*before)
	}
	posts, _, err := request.Execute()
	check(err)
	ids := []string{}
	for _, post := range posts.Data {
		ids = append(ids, post.Id)
	}
	return ids
}

func refresh(service string) string {
	api, _ := connect(service, "")
	tokens, _, err := api.OauthAPI.Token(context.Background()).
		GrantType("refresh_token").
		RefreshToken(os.Getenv("REFRESH_TOKEN")).
		ClientId(os.Getenv("CLIENT_ID")).
		ClientSecret(os.Getenv("CLIENT_SECRET")).
		Execute()
	check(err)
	return tokens.AccessToken
}

func main() {
	service, later, token := os.Getenv("BASE_URL"), os.Getenv("LATER_URL"), os.Getenv("ACCESS_TOKEN")
	first, err := create(service, token, "key-1", "From a generated client")
	check(err)
	repeated, err := create(service, token, "key-1", "From a generated client")
	check(err)
	_, err = create(service, token, "key-2", " ")
	invalidFields := []string{}
	for _, violation := range errorOf(err).(client.DeleteComment400Response).Errors {
		invalidFields = append(invalidFields, violation.Field)
	}
	firstPage := page(service, token, nil)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"user":          user(service, token),
		"created":       first.Id,
		"repeated":      repeated.Id,
		"pages":         [][]string{firstPage, page(service, token, &firstPage[1])},
		"unauthorized":  unauthorized(service),
		"invalidFields": invalidFields,
		"refreshed":     user(service, refresh(service)),
		"later":         map[string]string{"user": user(later, token), "unauthorized": unauthorized(later)},
	}))
}
