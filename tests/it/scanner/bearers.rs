//! Who is let in: server keys, and access tokens the identity provider vouches for, however it behaves.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::support::scanner::{ACME, GLOBEX, TestScanner, answer, assert_refused, spawn_scanner, spawn_scanner_with};
use crate::support::userinfo::Userinfo;

const SEARCH: &str = "/api/v1/tasks/search";

async fn with_userinfo() -> (TestScanner, Userinfo) {
    let userinfo = Userinfo::start().await;
    let url = userinfo.url.clone();
    (spawn_scanner_with(|settings| settings.userinfo_url = url).await, userinfo)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_or_a_wrong_credential_is_401() {
    let scanner = spawn_scanner().await;
    let search = || scanner.request(Method::POST, SEARCH).json(&json!({}));
    assert_refused(answer(search()).await, 401, 4010);
    assert_refused(answer(search().bearer_auth("wrong")).await, 401, 4010);
    assert_refused(answer(search().bearer_auth("")).await, 401, 4010);
    assert_refused(answer(search().basic_auth("acme", Some(ACME))).await, 401, 4010);
    assert_refused(answer(search().header("authorization", ACME)).await, 401, 4010);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scheme_is_read_in_any_case() {
    let scanner = spawn_scanner().await;
    let (status, _) = answer(scanner.request(Method::POST, SEARCH).header("authorization", format!("bEaReR {ACME}"))).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_key_acts_as_its_account() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "a.jar", crate::support::jar::library("g", "a", "1")).await;
    let (_, detail) = scanner.get(ACME, &format!("/api/v1/tasks/{task}")).await;
    assert_eq!(detail["createdBy"], "acme");
    assert_refused(scanner.get(GLOBEX, &format!("/api/v1/tasks/{task}")).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_acts_as_its_user_in_the_account_of_the_organization() {
    let (scanner, _userinfo) = with_userinfo().await;
    let task = scanner.scanned("alice", "a.jar", crate::support::jar::library("g", "a", "1")).await;
    let (_, detail) = scanner.get(ACME, &format!("/api/v1/tasks/{task}")).await;
    assert_eq!(detail["createdBy"], "Alice");
    assert_refused(scanner.get("carol", &format!("/api/v1/tasks/{task}")).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bearer_is_looked_up_once_for_many_requests() {
    let (scanner, userinfo) = with_userinfo().await;
    let many = (0..12).map(|_| scanner.post("alice", SEARCH, json!({})));
    assert!(futures_util::future::join_all(many).await.iter().all(|(status, _)| *status == StatusCode::OK));
    assert_eq!(userinfo.asked(), 1);
    for _ in 0..3 {
        assert_refused(scanner.post("stranger", SEARCH, json!({})).await, 401, 4010);
    }
    assert_eq!(userinfo.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_key_needs_no_identity_provider() {
    let scanner = spawn_scanner_with(|settings| settings.userinfo_url = "http://127.0.0.1:9/userinfo".to_owned()).await;
    assert_eq!(scanner.post(ACME, SEARCH, json!({})).await.0, StatusCode::OK);
    assert_refused(scanner.post("alice", SEARCH, json!({})).await, 500, 5001);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_provider_in_trouble_is_a_500_that_says_so_and_never_lets_in() {
    let (scanner, _userinfo) = with_userinfo().await;
    for bearer in ["broken", "garbage", "huge"] {
        assert_refused(scanner.post(bearer, SEARCH, json!({})).await, 500, 5001);
    }
    assert_eq!(scanner.post("alice", SEARCH, json!({})).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_provider_that_never_answers_is_given_up() {
    let (scanner, _userinfo) = with_userinfo().await;
    assert_refused(scanner.post("slow", SEARCH, json!({})).await, 500, 5001);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_without_an_account_is_403() {
    let (scanner, _userinfo) = with_userinfo().await;
    assert_refused(scanner.post("nobody", SEARCH, json!({})).await, 403, 4030);
}
