//! What every operation has in common when it refuses, and what is not offered.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::support::scanner::{ACME, answer, assert_refused, spawn_scanner, spawn_scanner_with};

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_with_an_account_wants_a_credential() {
    let scanner = spawn_scanner().await;
    let hash = "0".repeat(64);
    let operations = [
        (Method::POST, "/api/v2/tasks"),
        (Method::POST, "/api/v2/tasks/create-group"),
        (Method::POST, "/api/v1/tasks/x/results/stat"),
        (Method::POST, "/api/v1/tasks/x/results/search"),
        (Method::POST, "/api/v1/tasks/x/components/search"),
        (Method::POST, "/api/v1/sca/static-analyze/mvn"),
        (Method::POST, "/api/v1/sca/static-analyze/mvn/zip"),
        (Method::POST, "/api/v1/tasks/x/exploit-chains/search"),
        (Method::POST, "/api/v1/tasks/terminate"),
        (Method::POST, "/api/v1/tasks/search"),
        (Method::POST, "/api/v1/tasks/delete"),
        (Method::GET, "/api/v1/tasks/x"),
        (Method::GET, "/api/v1/tasks/x/results/y"),
        (Method::GET, "/api/v2/tasks/x/report"),
        (Method::POST, "/api/v1/files/upload"),
        (Method::POST, &format!("/api/v1/files/check-exist/{hash}")),
        (Method::POST, "/api/v1/network-diagnostics"),
        (Method::GET, "/api/v1/network-diagnostics/x/next-stage"),
        (Method::GET, "/api/v1/domain-ownership/random-content"),
        (Method::POST, "/api/v1/domain-ownership/verify"),
        (Method::POST, "/api/v1/browsers"),
        (Method::POST, "/api/v1/shares"),
        (Method::POST, "/api/v1/shares/search"),
        (Method::POST, "/api/v1/shares/generate-id"),
        (Method::POST, "/api/v1/shares/delete"),
        (Method::PATCH, "/api/v1/shares/x"),
    ];
    for (method, path) in operations {
        assert_refused(answer(scanner.request(method, path)).await, 401, 4010);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_path_is_404_and_a_wrong_method_is_405_with_those_allowed() {
    let scanner = spawn_scanner().await;
    assert_refused(scanner.get(ACME, "/api/v1/nothing").await, 404, 4040);
    assert_refused(answer(scanner.get_bare("/")).await, 404, 4040);
    assert_refused(answer(scanner.get_bare("/scanner")).await, 404, 4040);
    let refused = scanner.request(Method::DELETE, "/api/v1/shares/public/x").send().await.unwrap();
    assert_eq!(refused.headers()["allow"], "GET, HEAD, POST");
    assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_refused(scanner.get(ACME, "/api/v2/tasks").await, 405, 4050);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_is_not_right_is_400() {
    let scanner = spawn_scanner().await;
    let post = |path: &str, body: &'static str| scanner.request(Method::POST, path).bearer_auth(ACME).body(body);
    for body in ["{", "[]", "\"text\"", "{\"page\":-1}", "{\"filters\":7}", "\u{feff}{}"] {
        assert_refused(answer(post("/api/v1/tasks/search", body)).await, 400, 4000);
    }
    assert_refused(answer(post("/api/v1/tasks/terminate", "")).await, 400, 4000);
    assert_refused(answer(post("/api/v1/tasks/delete", "{\"taskIds\":[\"\"]}")).await, 400, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_json_body_that_is_too_large_is_413() {
    let scanner = spawn_scanner().await;
    let body = json!({"projectName": "x".repeat(5 << 20)});
    assert_refused(scanner.post(ACME, "/api/v2/tasks", body).await, 413, 4130);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_id_of_more_than_32_characters_is_400() {
    let scanner = spawn_scanner().await;
    let id = "a".repeat(33);
    assert_refused(scanner.get(ACME, &format!("/api/v1/tasks/{id}")).await, 400, 4000);
    assert_refused(scanner.post_nothing(ACME, &format!("/api/v1/tasks/{id}/results/stat")).await, 400, 4000);
    assert_refused(scanner.get(ACME, &format!("/api/v2/tasks/{id}/report")).await, 400, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_the_publishable_key_need_no_credential() {
    let scanner = spawn_scanner().await;
    assert_eq!(answer(scanner.get_bare("/healthz")).await.0, StatusCode::OK);
    let (status, body) = answer(scanner.get_bare("/biz/api/v1/auth/clerk/publishable-key")).await;
    assert_eq!((status, body), (StatusCode::OK, json!({"publishableKey": "pk_test"})));
    let scanner = scanner.restart(|settings| settings.publishable_key = String::new()).await;
    assert_refused(answer(scanner.get_bare("/biz/api/v1/auth/clerk/publishable-key")).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_older_prefix_is_served_when_asked_for() {
    let scanner = spawn_scanner().await;
    assert_refused(answer(scanner.get_bare("/oxpecker/api/v1/tasks/x").bearer_auth(ACME)).await, 404, 4040);
    let legacy = spawn_scanner_with(|settings| settings.legacy_prefix = true).await;
    let task = legacy.scanned(ACME, "a.jar", crate::support::jar::library("g", "a", "1")).await;
    let (status, body) = answer(legacy.get_bare(&format!("/oxpecker/api/v1/tasks/{task}")).bearer_auth(ACME)).await;
    assert_eq!((status, &body["taskId"]), (StatusCode::OK, &json!(task)));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_not_to_be_sniffed_and_only_reads_may_be_kept() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "a.jar", crate::support::jar::library("g", "a", "1")).await;
    let control = async |path: &str| {
        let answer = scanner.get_bare(path).bearer_auth(ACME).send().await.unwrap();
        answer.headers().get("cache-control").map(|value| value.to_str().unwrap().to_owned())
    };
    let no_store = Some("no-store".to_owned());
    assert_eq!(control(&format!("/scanner/api/v1/tasks/{task}")).await, None);
    assert_eq!(control("/scanner/api/v1/tasks/x").await, no_store, "a refusal is no read");
    assert_eq!(control(&format!("/scanner/api/v2/tasks/{task}/report")).await, no_store);
    let answer = scanner.get_bare("/nothing").send().await.unwrap();
    assert_eq!(answer.headers()["cache-control"], "no-store");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    assert!(!answer.headers().contains_key("server"));
}
