//! What the programs of this folder print and read: one JSON object a line.

use std::collections::HashMap;
use std::env;
use std::io::stdin;

use oauth2::reqwest::blocking::{Client, ClientBuilder};
use oauth2::reqwest::redirect::Policy;
use oauth2::url::Url;
use serde_json::{json, Value};

pub const SCOPES: [&str; 2] = ["profile.read", "posts.read"];

pub fn setting(name: &str) -> String {
    env::var(name).expect(name)
}

/// The address of a path of the service.
pub fn address(path: &str) -> String {
    format!("{}{path}", setting("ISSUER"))
}

pub fn show(line: Value) {
    println!("{line}");
}

pub fn show_tokens(access: &str, refresh: &str, scopes: Option<Vec<String>>) {
    show(json!({ "access": access, "refresh": refresh, "scope": scopes.map(|scopes| scopes.join(" ")) }));
}

/// A client for the token endpoint, which must not follow redirects.
pub fn http_client() -> Client {
    ClientBuilder::new().redirect(Policy::none()).build().unwrap()
}

pub fn show_status(http: &Client, access: &str) {
    let response = http.get(address("/dev/v1/me")).bearer_auth(access).send().unwrap();
    show(json!({ "status": response.status().as_u16() }));
}

/// Returns the query of the address that the browser returned to, unless the state or the issuer is not the expected one, or the user
/// declined.
pub fn send_user_to(link: &Url, state: &str) -> Option<HashMap<String, String>> {
    show(json!({ "link": link.as_str() }));
    let callback = Url::parse(read().trim()).unwrap();
    let query: HashMap<String, String> = callback.query_pairs().into_owned().collect();
    if query["state"] != state || query["iss"] != setting("ISSUER") {
        show(json!({ "rejected": "state or iss differs" }));
        return None;
    }
    if let Some(error) = query.get("error") {
        show(json!({ "denied": error }));
        return None;
    }
    Some(query)
}

pub fn wait_for_revocation() {
    show(json!({ "revoked": false }));
    read();
}

fn read() -> String {
    let mut line = String::new();
    stdin().read_line(&mut line).unwrap();
    line
}
