//! Captured sessions given with a task: told only as role and address, kept sealed while the task may need them, and gone
//! with it.

use reqwest::StatusCode;
use serde_json::{Value, json};
use walkdir::WalkDir;

use crate::support::demo::{Demo, data_folder};
use crate::support::jar;
use crate::support::scanner::{ACME, TestScanner, answer, assert_refused, client, form, spawn_scanner, spawn_scanner_with};

const CREATE: &str = "/api/v2/tasks";
/// Words of the captured sessions that must be found nowhere.
const SECRETS: [&str; 4] = ["c00kie-of-alice", "bearer-of-alice", "ticket-of-alice", "stored-of-alice"];

fn logins() -> Value {
    json!([{
        "roleName": "admin", "loginUrl": "https://user:ticket-of-alice@shop.example/login?ticket=ticket-of-alice",
        "originRequestData": {
            "cookies": [{"name": "sid", "value": "c00kie-of-alice", "httpOnly": true}],
            "headers": [{"url": "https://shop.example/", "method": "GET", "requestHeaders": {"Authorization": "bearer-of-alice"}}],
            "localStorage": {"token": "stored-of-alice"}
        }
    }, {
        "roleName": "normal", "loginUrl": "https://shop.example/login",
        "originRequestData": {"headers": [{"url": "/", "method": "GET", "requestHeaders": [{"name": "A", "value": "bearer-of-alice"}]}]}
    }])
}

fn body(hash: &str) -> Value {
    json!({
        "projectName": "Shop", "lang": "JAVA", "primarySourceCode": hash, "sandboxHomePageUrl": "https://shop.example/",
        "sandboxAuthInfos": logins(), "browserBoxId": "box-1"
    })
}

/// Fails when a secret lies open in any file below the data folder.
fn nothing_lies_open(scanner: &TestScanner) {
    let mut files = 0;
    for entry in WalkDir::new(scanner.data()).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file()) {
        let bytes = std::fs::read(entry.path()).unwrap();
        for secret in SECRETS {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} lies in {}", entry.path().display());
        }
        files += 1;
    }
    assert!(files > 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_tells_of_its_logins_only_role_and_bare_address_and_that_they_are_not_used() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let (status, created) = scanner.post(ACME, CREATE, body(&hash)).await;
    assert_eq!(status, StatusCode::OK, "{created}");
    let task = scanner.ended(ACME, created["taskId"].as_str().unwrap()).await;
    assert_eq!(
        task["accounts"],
        json!([
            {"roleName": "admin", "loginUrl": "https://shop.example/login"},
            {"roleName": "normal", "loginUrl": "https://shop.example/login"}
        ])
    );
    let origin = &task["params"]["originRequestData"];
    assert_eq!((origin.get("sandboxAuthInfos"), &origin["browserBoxId"]), (None, &json!("box-1")));
    assert!(SECRETS.iter().all(|secret| !task.to_string().contains(secret)), "{task}");
    let notes = task["summary"]["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note == "Logins were given; this service analyses the artifact and does not sign in."));
    let without = scanner.scanned(ACME, "b.jar", jar::library("g", "b", "1")).await;
    let without = scanner.get(ACME, &format!("/api/v1/tasks/{without}")).await.1;
    assert!(without.get("accounts").is_none() && !without["summary"].to_string().contains("Logins"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_captured_session_lies_open_on_the_disk_while_its_task_waits_runs_and_after() {
    let scanner = spawn_scanner().await;
    let slow = scanner.upload(ACME, "slow.war", super::tasks::slow_war()).await;
    let running = scanner.create_task(ACME, "slow", &slow).await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let mut group = body(&hash);
    group["primarySourceCodes"] = json!([{"sourceCode": slow, "fileName": "slow.war"}]);
    let (_, waiting) = scanner.post(ACME, CREATE, body(&hash)).await;
    let (status, grouped) = scanner.post(ACME, "/api/v2/tasks/create-group", group).await;
    assert_eq!(status, StatusCode::OK, "{grouped}");
    nothing_lies_open(&scanner);
    scanner.post(ACME, "/api/v1/tasks/terminate", json!({"taskId": running})).await;
    scanner.ended(ACME, waiting["taskId"].as_str().unwrap()).await;
    nothing_lies_open(&scanner);
    let scanner = scanner.restart(|_| {}).await;
    scanner.ended(ACME, grouped["taskIds"][1].as_str().unwrap()).await;
    nothing_lies_open(&scanner);
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_that_are_not_right_are_refused_without_repeating_them() {
    let scanner = spawn_scanner_with(|settings| {
        settings.sessions.max_count = 2;
        settings.sessions.max_bytes = 2000;
    })
    .await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    for (pointer, value) in [
        ("", json!("c00kie-of-alice")),
        ("/0", json!("c00kie-of-alice")),
        ("/0/roleName", json!(null)),
        ("/0/loginUrl", json!("javascript:c00kie-of-alice")),
        ("/0/originRequestData", json!("c00kie-of-alice")),
        ("/0/originRequestData/cookies", json!("c00kie-of-alice")),
        ("/0/originRequestData/headers/0/requestHeaders", json!("c00kie-of-alice")),
        ("/0/originRequestData/localStorage/token", json!("c00kie-of-alice".repeat(200))),
    ] {
        let mut body = body(&hash);
        *body["sandboxAuthInfos"].pointer_mut(pointer).unwrap() = value;
        for path in [CREATE, "/api/v2/tasks/create-group"] {
            let refused = scanner.post(ACME, path, body.clone()).await;
            assert!(refused.1["message"].as_str().unwrap().contains("sandboxAuthInfos"), "{pointer}: {}", refused.1);
            assert!(!refused.1.to_string().contains("of-alice"), "{pointer}: {}", refused.1);
            assert_refused(refused, 400, 4000);
        }
    }
    let mut three = body(&hash);
    three["sandboxAuthInfos"].as_array_mut().unwrap().extend(logins().as_array().unwrap().iter().take(1).cloned());
    assert_refused(scanner.post(ACME, CREATE, three).await, 400, 4000);
    let mut boxed = body(&hash);
    boxed["browserBoxId"] = json!("");
    assert_refused(scanner.post(ACME, CREATE, boxed).await, 400, 4000);
    assert_eq!(scanner.post(ACME, "/api/v1/tasks/search", json!({})).await.1["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_repeated_with_another_session_is_another_task() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let first = scanner.post(ACME, CREATE, body(&hash)).await.1;
    assert_eq!(scanner.post(ACME, CREATE, body(&hash)).await.1["taskId"], first["taskId"]);
    let mut other = body(&hash);
    other["sandboxAuthInfos"][0]["originRequestData"]["cookies"][0]["value"] = json!("another");
    assert_ne!(scanner.post(ACME, CREATE, other).await.1["taskId"], first["taskId"]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_key_that_seals_is_made_for_its_owner_only_or_comes_from_the_settings() {
    use std::os::unix::fs::PermissionsExt as _;
    let scanner = spawn_scanner().await;
    let key = scanner.data().join("seal.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let given = spawn_scanner_with(|settings| {
        settings.seal_key = Some(cardea::platform::secret::Secret::new("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="));
    })
    .await;
    assert!(!given.data().join("seal.key").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_line_of_any_level_holds_anything_of_a_captured_session() {
    let demo = Demo::start_in(data_folder(), 0, &[("CARDEA__TELEMETRY__FILTER", "trace")]);
    let sheet = demo.sheet();
    let (service, key) = (sheet["scanner"].as_str().unwrap(), sheet["tenants"]["acme"]["sk"].as_str().unwrap());
    let client = client();
    let post = |path: &str| client.post(format!("{service}/scanner{path}")).bearer_auth(key);
    let upload = post("/api/v1/files/upload").multipart(form("a.jar", jar::library("g", "a", "1")));
    let (status, file) = answer(upload).await;
    assert_eq!(status, StatusCode::OK, "{file}");
    let mut right = body(file["sha256"].as_str().unwrap());
    right.as_object_mut().unwrap().remove("sandboxHomePageUrl");
    let mut wrong = right.clone();
    wrong["sandboxAuthInfos"][0]["originRequestData"]["cookies"] = json!("c00kie-of-alice");
    let mut mistyped = right.clone();
    mistyped["primarySourceCode"] = json!(7);
    for (body, expected) in [(right, 200), (wrong, 400), (mistyped, 400)] {
        for path in [CREATE, "/api/v2/tasks/create-group"] {
            let (status, told) = answer(post(path).json(&body)).await;
            assert_eq!(status.as_u16(), expected, "{told}");
        }
    }
    let log = demo.log();
    assert!(log.contains("TRACE") && log.len() > 1000);
    assert!(SECRETS.iter().all(|secret| !log.contains(secret)));
}
