package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
)

// sendUserTo stands for your redirect. It prints the link, and reads the address that the browser returned to.
func sendUserTo(link string) url.Values {
	fmt.Println("Open", link, "\nThen paste the address that you returned to:")
	var callbackURL string
	fmt.Scanln(&callbackURL)
	parsed, err := url.Parse(callbackURL)
	check(err)
	return parsed.Query()
}

// random returns a value for state or code_verifier.
func random() string {
	bytes := make([]byte, 32)
	rand.Read(bytes)
	return base64.RawURLEncoding.EncodeToString(bytes)
}

// challengeOf returns the code_challenge of a code_verifier.
func challengeOf(verifier string) string {
	hash := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
