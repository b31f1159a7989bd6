module example.org/client

go 1.24

require golang.org/x/oauth2 v0.34.0
