#!/usr/bin/env bash
# A generator of Rust clients that reports every error as the first documented one: a 401 arrives as `Status400`.
#
# Version: openapi-generator 7.25.0, generator `rust` with its default settings, on Rust 1.95.
# Expected: the client returns the variant of the error that belongs to the status of the response: `Status401` for a 401.
# Seen: the client parses the body into an untagged enumeration and does not look at the status. If all errors have the same schema, as
#   errors of RFC 6749 §5.2 and RFC 9457 do, the first variant always fits.
# Why it matters: an app that refreshes its tokens on `Status401` never does, and treats an expired access token as a faulty request. An
#   app that shows the errors of a form on `Status400` shows them for an outage, too. Compare `status` beside the variant.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export CARGO_HOME="$folder/cargo"

cat > openapi.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Users", "version": "1" },
  "servers": [{ "url": "http://127.0.0.1" }],
  "paths": {
    "/me": {
      "get": {
        "operationId": "getMe",
        "tags": ["users"],
        "responses": {
          "200": {
            "description": "The user",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/User" } } }
          },
          "400": {
            "description": "A faulty request",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Problem" } } }
          },
          "401": {
            "description": "No valid access token",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Problem" } } }
          }
        }
      }
    }
  },
  "components": {
    "schemas": {
      "User": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } },
      "Problem": { "type": "object", "required": ["error"], "properties": { "error": { "type": "string" } } }
    }
  }
}
JSON
mvn -q -B dependency:copy -Dmaven.repo.local="$folder/maven" -DoutputDirectory=. \
  -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 > setup.log
java -jar openapi-generator-cli-7.25.0.jar generate -g rust -i openapi.json -o client > setup.log 2>&1

cat > Cargo.toml <<'TOML'
[package]
name = "check"
version = "1.0.0"
edition = "2021"

[dependencies]
openapi = { path = "client", default-features = false }
tokio = { version = "1", features = ["macros", "rt"] }
TOML
mkdir src
cat > src/main.rs <<'RUST'
use openapi::apis::{configuration::Configuration, users_api::get_me, Error};
use std::io::{Read, Write};
use std::net::TcpListener;

/// Answers one request with a 401.
fn serve(listener: TcpListener) {
    let (mut connection, _) = listener.accept().unwrap();
    let _ = connection.read(&mut [0; 4096]).unwrap();
    let body = r#"{"error":"invalid_token"}"#;
    write!(
        connection,
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_path = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || serve(listener));
    let configuration = Configuration { base_path, ..Configuration::default() };
    let Err(Error::ResponseError(response)) = get_me(&configuration).await else {
        panic!("The call should fail.");
    };
    server.join().unwrap();
    let variant = format!("{:?}", response.entity.unwrap());
    println!("Status: {}, variant: {variant}", response.status);
    let holds = response.status == 401 && variant.starts_with("Status400");
    println!("{}", if holds { "As described." } else { "Changed." });
    std::process::exit(if holds { 0 } else { 1 });
}
RUST
cargo run --quiet
