use openapi::apis::{configuration::Configuration, oauth_api, posts_api, users_api, Error};
use openapi::models;
use serde_json::json;
use std::env::var;

fn connect(service: &str, token: Option<&str>) -> Configuration {
    Configuration {
        base_path: service.to_string(),
        oauth_access_token: token.map(str::to_string),
        ..Configuration::default()
    }
}

fn error_of<T, E>(result: Result<T, Error<E>>) -> models::Error {
    match result {
        Err(Error::ResponseError(response)) => serde_json::from_str(&response.content).unwrap(),
        _ => panic!("The call did not fail."),
    }
}

async fn user(service: &str, token: &str) -> String {
    let configuration = connect(service, Some(token));
    users_api::get_me(&configuration, None, None, None).await.unwrap().name
}

async fn unauthorized(service: &str) -> String {
    let configuration = connect(service, Some("wrong"));
    error_of(users_api::get_me(&configuration, None, None, None).await).error
}

async fn page(configuration: &Configuration, before: Option<&str>) -> Vec<String> {
    let posts = posts_api::list_posts(configuration, None, Some(2), before, None, None, None);
    posts.await.unwrap().data.into_iter().map(|post| post.id).collect()
}

fn post(content: &str) -> models::CreatePost {
    models::CreatePost {
        content: Some(Some(content.to_string())),
        tags: Some(Some(vec!["generated".to_string()])),
        ..models::CreatePost::default()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (service, later) = (var("BASE_URL").unwrap(), var("LATER_URL").unwrap());
    let token = var("ACCESS_TOKEN").unwrap();
    let configuration = connect(&service, Some(&token));
    let create = |content| posts_api::create_post(&configuration, post(content), Some("key-1"), None, None);
    let first = create("From a generated client").await.unwrap();
    let repeated = create("From a generated client").await.unwrap();
    let first_page = page(&configuration, None).await;
    let next_page = page(&configuration, Some(&first_page[1])).await;
    let invalid = posts_api::create_post(&configuration, post(" "), None, None, None).await;
    let invalid_fields: Vec<String> =
        error_of(invalid).errors.unwrap().into_iter().map(|error| error.field).collect();
    let tokens = oauth_api::token(
        &connect(&service, None),
        "refresh_token",
        None,
        None,
        None,
        None,
        None,
        var("REFRESH_TOKEN").ok().as_deref(),
        None,
        var("CLIENT_ID").ok().as_deref(),
        var("CLIENT_SECRET").ok().as_deref(),
    )
    .await
    .unwrap();
    let outcome = json!({
        "user": user(&service, &token).await,
        "created": first.id,
        "repeated": repeated.id,
        "pages": [first_page, next_page],
        "unauthorized": unauthorized(&service).await,
        "invalidFields": invalid_fields,
        "refreshed": user(&service, &tokens.access_token).await,
        "later": { "user": user(&later, &token).await, "unauthorized": unauthorized(&later).await },
    });
    println!("{outcome}");
}
