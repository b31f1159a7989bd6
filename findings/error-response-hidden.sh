#!/usr/bin/env bash
# An OAuth client that reports each error of the token endpoint as a failed request, with one of its HTTP clients.
#
# Version: oauth2 5.0.0 (Rust) with its features `ureq` and `reqwest-blocking`, on Rust 1.95.
# Expected: a response with status 400 and `{"error":"invalid_grant"}` is `RequestTokenError::ServerResponse` with the code, whatever
# HTTP client the app selects (RFC 6749 §5.2).
# Seen: with `reqwest`, it is. With `ureq`, which treats each status from 400 on as an error, it is `RequestTokenError::Request`, as for
# a lost connection, and the code is not read.
# Why it matters: an app retries after a lost connection, and sends the user to sign in again after `invalid_grant`. With `ureq` it
# repeats a refresh token that the server has refused, for ever, or signs the user out each time the network fails. Use `reqwest`, or
# pass a closure as HTTP client that turns `ureq::Error::Status` into a response.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export CARGO_HOME="$folder/cargo"
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "check"
version = "0.1.0"
edition = "2021"

[dependencies]
oauth2 = { version = "=5.0.0", default-features = false, features = ["ureq", "reqwest-blocking"] }

[profile.dev]
debug = false
TOML
cat > src/main.rs <<'RUST'
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::exit;
use std::thread;

use oauth2::basic::BasicClient;
use oauth2::{ClientId, RefreshToken, RequestTokenError, SyncHttpClient, TokenUrl};

/// A server that refuses each refresh.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !String::from_utf8_lossy(&request).contains("refresh_token=r1") {
                let count = stream.read(&mut buffer).unwrap();
                if count == 0 {
                    break;
                }
                request.extend_from_slice(&buffer[..count]);
            }
            let body = r#"{"error":"invalid_grant"}"#;
            let head = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close";
            write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    format!("http://{address}")
}

/// What a refresh reports.
fn refresh(url: &str, http: &impl SyncHttpClient) -> String {
    let client = BasicClient::new(ClientId::new("app".into())).set_token_uri(TokenUrl::new(url.into()).unwrap());
    match client.exchange_refresh_token(&RefreshToken::new("r1".into())).request(http) {
        Err(RequestTokenError::ServerResponse(response)) => format!("ServerResponse, {}", response.error()),
        Err(RequestTokenError::Request(_)) => "Request".into(),
        Err(_) => "another error".into(),
        Ok(_) => "tokens".into(),
    }
}

fn main() {
    let url = server();
    let ureq = refresh(&url, &oauth2::ureq::agent());
    let reqwest = refresh(&url, &oauth2::reqwest::blocking::Client::new());
    // Nothing listens on this port any more.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unreachable = refresh(&format!("http://{closed}"), &oauth2::ureq::agent());
    println!("invalid_grant, with reqwest: {reqwest}");
    println!("invalid_grant, with ureq: {ureq}");
    println!("no server, with ureq: {unreachable}");
    let holds = reqwest == "ServerResponse, invalid_grant" && ureq == "Request" && unreachable == "Request";
    println!("{}", if holds { "As described." } else { "Changed." });
    exit(if holds { 0 } else { 1 });
}
RUST
cargo run --quiet
