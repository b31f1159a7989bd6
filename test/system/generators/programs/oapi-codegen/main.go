package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func connect(service, token string) *ClientWithResponses {
	client, err := NewClientWithResponses(service, WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}))
	check(err)
	return client
}

func user(service, token string) string {
	response, err := connect(service, token).GetMeWithResponse(ctx, nil)
	check(err)
	return response.JSON200.Name
}

func unauthorized(service string) string {
	response, err := connect(service, "wrong").GetMeWithResponse(ctx, nil)
	check(err)
	code, err := response.JSON401.Error.AsGetMe401JSONResponseBodyError1()
	check(err)
	return code
}

func create(service, token, key, content string) *CreatePostResponse {
	tags := []string{"generated"}
	params := CreatePostParams{IdempotencyKey: &key}
	response, err := connect(service, token).CreatePostWithResponse(ctx, &params, CreatePost{Content: &content, Tags: &tags})
	check(err)
	return response
}

func page(service, token string, before *string) []string {
	limit := 2
	response, err := connect(service, token).ListPostsWithResponse(ctx, &ListPostsParams{Limit: &limit, Before: before})
	check(err)
	ids := []string{}
	for _, post := range response.JSON200.Data {
		ids = append(ids, post.Id)
	}
	return ids
}

func refresh(service string) string {
	token, id, secret := os.Getenv("REFRESH_TOKEN"), os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET")
	response, err := connect(service, "").TokenWithFormdataBodyWithResponse(ctx, nil, TokenFormdataRequestBody{
		GrantType:    TokenFormdataBodyGrantTypeRefreshToken,
		RefreshToken: &token,
		ClientId:     &id,
		ClientSecret: &secret,
	})
	check(err)
	return response.JSON200.AccessToken
}

func main() {
	service, later, token := os.Getenv("BASE_URL"), os.Getenv("LATER_URL"), os.Getenv("ACCESS_TOKEN")
	first := create(service, token, "key-1", "From a generated client").JSON201
	repeated := create(service, token, "key-1", "From a generated client").JSON201
	invalidFields := []string{}
	for _, violation := range *create(service, token, "key-2", " ").JSON400.Errors {
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
