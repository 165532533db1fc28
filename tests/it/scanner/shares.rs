//! Shares: the owner's side, the recipient's side, and guessing made slow.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::jar;
use crate::support::scanner::{
    ACME, GLOBEX, TestScanner, answer, assert_refused, spawn_scanner, spawn_scanner_with_manual_clock,
};

const SHARES: &str = "/api/v1/shares";

/// A finished task with findings.
async fn task(scanner: &TestScanner) -> (String, Vec<String>) {
    let task = scanner.scanned(ACME, "shop.war", jar::vulnerable_war()).await;
    let ids = scanner.findings(ACME, &task).await.iter().map(|row| row["vulId"].as_str().unwrap().to_owned()).collect();
    (task, ids)
}

async fn new_id(scanner: &TestScanner) -> String {
    let (status, body) = scanner.post_nothing(ACME, "/api/v1/shares/generate-id").await;
    assert_eq!(status, StatusCode::OK);
    body["shareId"].as_str().unwrap().to_owned()
}

/// Creates a share of `task` with further fields; gives its id.
async fn share(scanner: &TestScanner, task: &str, further: Value) -> String {
    let id = new_id(scanner).await;
    let mut body = json!({"shareId": id, "taskId": task, "shareType": "REPORT"});
    body.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    let (status, answer) = scanner.post(ACME, SHARES, body).await;
    assert_eq!((status, &answer["shareId"]), (StatusCode::OK, &json!(id)), "{answer}");
    id
}

fn public(id: &str) -> String {
    format!("/api/v1/shares/public/{id}")
}

/// What somebody without an account gets.
async fn read(scanner: &TestScanner, path: &str) -> (StatusCode, Value) {
    answer(scanner.request(Method::GET, path)).await
}

async fn enter(scanner: &TestScanner, path: &str, code: &str) -> (StatusCode, Value) {
    answer(scanner.request(Method::POST, path).json(&json!({"extractionCode": code}))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_share_without_a_code_shows_all_findings_to_anybody() {
    let scanner = spawn_scanner().await;
    let (task, ids) = task(&scanner).await;
    let id = share(&scanner, &task, json!({})).await;
    let (status, body) = read(&scanner, &public(&id)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(body["shareId"], id);
    assert_eq!(body["shareType"], "REPORT");
    assert_eq!(body["projectName"], "shop.war");
    assert_eq!(body["needExtractionCode"], false);
    assert_eq!(body["vuls"].as_array().unwrap().len(), ids.len());
    assert_eq!(body["resultsStat"]["total"], ids.len());
    assert_eq!(body["exploitChains"], json!([]));
    for vul in &ids {
        let (status, finding) = read(&scanner, &format!("{}/vuls/{vul}", public(&id))).await;
        assert_eq!((status, &finding["vulId"]), (StatusCode::OK, &json!(vul)));
    }
    assert_eq!(enter(&scanner, &public(&id), "anything").await.0, StatusCode::OK);
    assert_refused(read(&scanner, &format!("{}/vuls/unknown", public(&id))).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_of_chosen_findings_shows_no_other() {
    let scanner = spawn_scanner().await;
    let (task, ids) = task(&scanner).await;
    assert!(ids.len() > 1);
    let id = share(&scanner, &task, json!({"shareType": "VUL", "vulIds": [ids[0]]})).await;
    let (_, body) = read(&scanner, &public(&id)).await;
    assert_eq!(body["vuls"].as_array().unwrap().len(), 1);
    assert_eq!(body["vuls"][0]["vulId"], ids[0]);
    assert_eq!(body["resultsStat"]["total"], 1);
    assert_eq!(read(&scanner, &format!("{}/vuls/{}", public(&id), ids[0])).await.0, StatusCode::OK);
    assert_refused(read(&scanner, &format!("{}/vuls/{}", public(&id), ids[1])).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_protected_share_tells_nothing_without_its_code() {
    let scanner = spawn_scanner().await;
    let (task, ids) = task(&scanner).await;
    let id = share(&scanner, &task, json!({"extractionCode": "open-sesame"})).await;
    let vul = format!("{}/vuls/{}", public(&id), ids[0]);
    for path in [public(&id), vul.clone()] {
        let refused = read(&scanner, &path).await;
        assert!(!refused.1.to_string().contains("shop"));
        assert_refused(refused, 403, 4031);
        assert_refused(answer(scanner.request(Method::POST, &path)).await, 403, 4031);
        assert_refused(enter(&scanner, &path, "").await, 403, 4031);
        assert_refused(enter(&scanner, &path, "open-sesamf").await, 403, 4032);
    }
    let (status, body) = enter(&scanner, &public(&id), "open-sesame").await;
    assert_eq!((status, &body["needExtractionCode"]), (StatusCode::OK, &json!(true)));
    assert!(!body.to_string().contains("open-sesame"));
    let (status, finding) = enter(&scanner, &vul, "open-sesame").await;
    assert_eq!((status, &finding["vulId"]), (StatusCode::OK, &json!(ids[0])));
    assert_refused(answer(scanner.request(Method::POST, &public(&id)).body("{")).await, 400, 4000);
    let folder = scanner.stop().await;
    let database = std::fs::read(folder.path().join("scanner.redb")).unwrap();
    assert!(!database.windows(11).any(|part| part == b"open-sesame"));
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_is_slowed_and_a_right_code_does_not_wipe_the_wrong_ones() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let (task, _) = task(&scanner).await;
    let id = share(&scanner, &task, json!({"extractionCode": "open-sesame"})).await;
    let path = public(&id);
    for _ in 0..4 {
        assert_refused(enter(&scanner, &path, "wrong-code").await, 403, 4032);
    }
    for _ in 0..3 {
        assert_eq!(enter(&scanner, &path, "open-sesame").await.0, StatusCode::OK);
    }
    assert_refused(enter(&scanner, &path, "wrong-code").await, 403, 4032);
    let mut waits = Vec::new();
    for _ in 0..3 {
        let refused =
            scanner.request(Method::POST, &path).json(&json!({"extractionCode": "one-more-guess"})).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        waits.push(wait);
        scanner.clock.advance(Duration::from_secs(wait));
        assert_refused(enter(&scanner, &path, "wrong-code").await, 403, 4032);
    }
    assert_eq!(waits, [1, 2, 4]);
    // Whoever was let in before stays in.
    assert_eq!(enter(&scanner, &path, "open-sesame").await.0, StatusCode::OK);
    assert_refused(enter(&scanner, &path, "one-more-guess").await, 429, 4290);
    scanner.clock.advance(Duration::from_secs(8));
    for _ in 0..2 {
        assert_eq!(enter(&scanner, &path, "open-sesame").await.0, StatusCode::OK);
    }
    let other = share(&scanner, &task, json!({"extractionCode": "another-one"})).await;
    assert_refused(enter(&scanner, &public(&other), "wrong-code").await, 403, 4032);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_code_that_many_send_at_once_is_right_for_all_of_them() {
    let scanner = spawn_scanner().await;
    let (task, _) = task(&scanner).await;
    let id = share(&scanner, &task, json!({"extractionCode": "ABCDEFGH"})).await;
    let path = public(&id);
    let together = futures_util::future::join_all((0..40).map(|_| enter(&scanner, &path, "ABCDEFGH"))).await;
    assert!(together.iter().all(|(status, _)| *status == StatusCode::OK), "{together:?}");
    // Nor did it use up any of the free tries.
    assert_eq!(enter(&scanner, &path, "wrong-code").await.0, StatusCode::FORBIDDEN);
    assert_eq!(enter(&scanner, &path, "ABCDEFGH").await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_guesses_at_once_gain_nothing() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let (task, _) = task(&scanner).await;
    let id = share(&scanner, &task, json!({"extractionCode": "open-sesame"})).await;
    let path = public(&id);
    let guesses: Vec<String> = (0..20).map(|n| format!("guess-{n}")).collect();
    let answers = futures_util::future::join_all(guesses.iter().map(|code| enter(&scanner, &path, code))).await;
    assert_eq!(answers.iter().filter(|(status, _)| *status == StatusCode::FORBIDDEN).count(), 5);
    assert_eq!(answers.iter().filter(|(status, _)| *status == StatusCode::TOO_MANY_REQUESTS).count(), 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_share_looks_like_one_that_never_was() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let (task, ids) = task(&scanner).await;
    let open = share(&scanner, &task, json!({"expiredAt": "2026-06-01T13:00:00Z"})).await;
    let closed = share(&scanner, &task, json!({"expiredAt": "2026-06-01T13:00:00Z", "extractionCode": "open-sesame"})).await;
    assert_eq!(read(&scanner, &public(&open)).await.0, StatusCode::OK);
    scanner.clock.advance(Duration::from_hours(1));
    let unknown = read(&scanner, &public("never-was")).await;
    assert_refused(unknown.clone(), 404, 4040);
    assert_eq!(read(&scanner, &public(&open)).await, unknown);
    assert_eq!(read(&scanner, &public(&closed)).await, unknown);
    assert_eq!(enter(&scanner, &public(&closed), "open-sesame").await, unknown);
    assert_eq!(enter(&scanner, &public(&closed), "wrong-code").await, unknown);
    assert_eq!(read(&scanner, &format!("{}/vuls/{}", public(&open), ids[0])).await, unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_searches_changes_and_deletes_shares() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let (task, _) = task(&scanner).await;
    let id = share(&scanner, &task, json!({"extractionCode": "open-sesame"})).await;
    let (_, list) = scanner
        .post(ACME, "/api/v1/shares/search", json!({"filters": [{"field": "taskId", "operator": "EQ", "value": task}]}))
        .await;
    assert_eq!(list["total"], 1);
    let row = &list["data"][0];
    assert_eq!(
        (&row["shareId"], &row["projectName"], &row["needExtractionCode"]),
        (&json!(id), &json!("shop.war"), &json!(true))
    );
    assert!(!list.to_string().contains("argon2") && !list.to_string().contains("sesame"));
    let patch = async |bearer: &str, id: &str, body: Value| {
        answer(scanner.request(Method::PATCH, &format!("{SHARES}/{id}")).bearer_auth(bearer).json(&body)).await
    };
    assert_eq!(patch(ACME, &id, json!({"extractionCode": null})).await, (StatusCode::OK, Value::Null));
    assert_eq!(read(&scanner, &public(&id)).await.0, StatusCode::OK);
    assert_eq!(
        patch(ACME, &id, json!({"extractionCode": "new-code", "expiredAt": "2026-06-02T00:00:00Z"})).await.0,
        StatusCode::OK
    );
    assert_refused(read(&scanner, &public(&id)).await, 403, 4031);
    let (_, body) = enter(&scanner, &public(&id), "new-code").await;
    assert_eq!(body["expiredAt"], "2026-06-02T00:00:00Z");
    assert_eq!(patch(ACME, &id, json!({"expiredAt": null})).await.0, StatusCode::OK);
    assert_eq!(enter(&scanner, &public(&id), "new-code").await.1["expiredAt"], Value::Null);
    assert_eq!(patch(ACME, &id, json!({})).await.0, StatusCode::OK);
    assert_refused(patch(ACME, &id, json!({"extractionCode": "short"})).await, 400, 4000);
    assert_refused(patch(ACME, &id, json!({"expiredAt": "2020-01-01T00:00:00Z"})).await, 400, 4000);
    assert_refused(patch(ACME, "unknown", json!({})).await, 404, 4040);
    assert_refused(patch(GLOBEX, &id, json!({"extractionCode": null})).await, 404, 4040);
    assert_eq!(scanner.post(GLOBEX, "/api/v1/shares/search", json!({})).await.1["total"], 0);
    let delete = "/api/v1/shares/delete";
    assert_refused(scanner.post(GLOBEX, delete, json!({"shareIds": [id]})).await, 404, 4040);
    assert_refused(scanner.post(ACME, delete, json!({"shareIds": [id, "unknown"]})).await, 404, 4040);
    assert_refused(scanner.post(ACME, delete, json!({"shareIds": []})).await, 400, 4000);
    assert_refused(read(&scanner, &public(&id)).await, 403, 4031);
    assert_eq!(scanner.post(ACME, delete, json!({"shareIds": [id]})).await, (StatusCode::OK, Value::Null));
    assert_refused(read(&scanner, &public(&id)).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_that_is_not_right_is_refused() {
    let scanner = spawn_scanner().await;
    let (task, ids) = task(&scanner).await;
    let id = new_id(&scanner).await;
    let right = json!({"shareId": id, "taskId": task, "shareType": "REPORT"});
    for (field, value) in [
        ("shareId", json!("guessable")),
        ("shareId", json!("with/slashes/and?more#of-it")),
        ("shareType", json!("EVERYTHING")),
        ("shareType", json!("VUL")),
        ("extractionCode", json!("12345")),
        ("expiredAt", json!("2020-01-01T00:00:00Z")),
        ("expiredAt", json!("tomorrow")),
    ] {
        let mut body = right.clone();
        body[field] = value;
        assert_refused(scanner.post(ACME, SHARES, body).await, 400, 4000);
    }
    let mut strange = right.clone();
    strange["shareType"] = json!("VUL");
    strange["vulIds"] = json!([ids[0], "unknown"]);
    assert_refused(scanner.post(ACME, SHARES, strange).await, 400, 4000);
    let mut unknown = right.clone();
    unknown["taskId"] = json!("unknown");
    assert_refused(scanner.post(ACME, SHARES, unknown).await, 404, 4040);
    assert_refused(scanner.post(GLOBEX, SHARES, right.clone()).await, 404, 4040);
    assert_eq!(scanner.post(ACME, SHARES, right.clone()).await.0, StatusCode::OK);
    assert_eq!(scanner.post(ACME, SHARES, right.clone()).await.0, StatusCode::OK, "a repeated create is the same share");
    let mut taken = right;
    taken["extractionCode"] = json!("another-code");
    assert_refused(scanner.post(ACME, SHARES, taken).await, 400, 4000);
    assert_eq!(scanner.post(ACME, "/api/v1/shares/search", json!({})).await.1["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_finished_task_is_shared_and_its_shares_go_with_it() {
    let scanner = spawn_scanner().await;
    let text = scanner.upload(ACME, "notes.txt", b"no archive".to_vec()).await;
    let failed = scanner.create_task(ACME, "notes", &text).await;
    assert_eq!(scanner.ended(ACME, &failed).await["taskStatus"], "FAILED");
    let body = json!({"shareId": new_id(&scanner).await, "taskId": failed, "shareType": "REPORT"});
    assert_refused(scanner.post(ACME, SHARES, body).await, 400, 4000);
    let (task, _) = task(&scanner).await;
    let id = share(&scanner, &task, json!({})).await;
    scanner.post(ACME, "/api/v1/tasks/delete", json!({"taskIds": [task]})).await;
    assert_refused(read(&scanner, &public(&id)).await, 404, 4040);
    assert_eq!(scanner.post(ACME, "/api/v1/shares/search", json!({})).await.1["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_and_codes_survive_a_restart() {
    let scanner = spawn_scanner().await;
    let (task, _) = task(&scanner).await;
    let id = share(&scanner, &task, json!({"extractionCode": "open-sesame"})).await;
    let scanner = scanner.restart(|_| {}).await;
    assert_refused(enter(&scanner, &public(&id), "wrong-code").await, 403, 4032);
    assert_eq!(enter(&scanner, &public(&id), "open-sesame").await.0, StatusCode::OK);
}
