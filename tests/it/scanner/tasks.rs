//! The life of tasks: create, run, end, search, terminate, delete, and what a restart makes of it.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::jar;
use crate::support::scanner::{
    ACME, GLOBEX, TestScanner, answer, assert_refused, spawn_scanner, spawn_scanner_with, spawn_scanner_with_manual_clock,
};

const CREATE: &str = "/api/v2/tasks";
const SEARCH: &str = "/api/v1/tasks/search";
const TERMINATE: &str = "/api/v1/tasks/terminate";
const DELETE: &str = "/api/v1/tasks/delete";

/// An archive that takes an analysis a good while: many archives inside, each different.
pub(crate) fn slow_war() -> Vec<u8> {
    let libraries: Vec<(String, Vec<u8>)> =
        (0..4000).map(|n| (format!("lib-{n}-1.0.jar"), jar::library("com.example", &format!("lib-{n}"), "1.0"))).collect();
    jar::war(&libraries.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect::<Vec<_>>())
}

async fn status(scanner: &TestScanner, task: &str) -> Value {
    scanner.get(ACME, &format!("/api/v1/tasks/{task}")).await.1["taskStatus"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_runs_to_success_and_shows_what_was_asked_for() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "shop.war", jar::vulnerable_war()).await;
    let body = json!({"projectName": "Shop", "lang": "java", "primarySourceCode": hash, "sandboxHomePageUrl": "https://shop.example/app"});
    let (code, created) = scanner.post(ACME, CREATE, body).await;
    assert_eq!(code, StatusCode::OK, "{created}");
    assert!(["CREATED", "RUNNING"].contains(&created["status"].as_str().unwrap()));
    let id = created["taskId"].as_str().unwrap();
    assert!((1..=32).contains(&id.len()));
    let task = scanner.ended(ACME, id).await;
    assert_eq!(task["taskStatus"], "SUCCESS");
    assert_eq!(task["projectName"], "Shop");
    assert_eq!(task["lang"], "java");
    assert_eq!(task["progress"], 100);
    assert_eq!(task["createdAt"], created["createdAt"]);
    let origin = &task["params"]["originRequestData"];
    assert_eq!(origin["primarySourceCode"], hash);
    assert_eq!(origin["primarySourceCodeFileName"], "shop.war");
    assert_eq!(origin["sandboxHomePageUrl"], "https://shop.example/app");
    for field in ["total", "lowCount", "mediumCount", "highCount", "criticalCount", "purchased"] {
        assert!(task["resultsStat"][field].is_u64(), "{field}");
    }
    assert!(task["executedAt"].is_string() && task["endedAt"].is_string());
    assert!(task["summary"]["advisoryCount"].as_u64().unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_older_field_for_the_artifact_is_read_too() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let (code, created) = scanner.post(ACME, CREATE, json!({"projectName": "a", "lang": "Java", "javaPackage": hash})).await;
    assert_eq!(code, StatusCode::OK, "{created}");
    let task = scanner.ended(ACME, created["taskId"].as_str().unwrap()).await;
    assert_eq!(task["params"]["originRequestData"]["javaPackage"], hash);
    assert_eq!(task["params"]["originRequestData"]["primarySourceCode"], hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_that_is_not_right_is_refused_with_the_field_in_the_words() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let right = json!({"projectName": "a", "lang": "JAVA", "primarySourceCode": hash});
    for (field, value) in [
        ("projectName", json!("")),
        ("projectName", json!("  ")),
        ("projectName", json!("x".repeat(201))),
        ("projectName", json!(7)),
        ("lang", json!("")),
        ("lang", json!("COBOL")),
        ("primarySourceCode", json!("abc")),
        ("primarySourceCode", json!(null)),
        ("sandboxHomePageUrl", json!("javascript:alert(1)")),
        ("sandboxTargetServiceUrl", json!("ftp://example.org")),
    ] {
        let mut body = right.clone();
        body[field] = value;
        let refused = scanner.post(ACME, CREATE, body).await;
        let words = refused.1["message"].as_str().unwrap_or_default().to_owned();
        assert!(words.contains(field) || words.contains("JSON"), "{field}: {words}");
        assert_refused(refused, 400, 4000);
    }
    let mut unknown = right;
    unknown["primarySourceCode"] = json!("0".repeat(64));
    assert_refused(scanner.post(ACME, CREATE, unknown).await, 400, 4001);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_repeated_after_an_import_of_advisories_is_a_new_task() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("com.example", "a", "1.0")).await;
    let first = scanner.create_task(ACME, "a", &hash).await;
    assert_eq!(scanner.ended(ACME, &first).await["resultsStat"]["total"], 0);
    assert_eq!(scanner.create_task(ACME, "a", &hash).await, first);
    let advisory = json!({
        "id": "GHSA-aaaa-bbbb-cccc", "aliases": ["CVE-2026-1"], "summary": "a breaks", "details": "a breaks",
        "modified": "2026-01-02T00:00:00Z", "published": "2026-01-01T00:00:00Z",
        "affected": [{
            "package": {"ecosystem": "Maven", "name": "com.example:a"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}]
        }]
    });
    let record = tempfile::NamedTempFile::with_suffix(".json").unwrap();
    std::fs::write(record.path(), advisory.to_string()).unwrap();
    let (data, clock, path) = (scanner.data().to_owned(), scanner.clock.clone(), record.path().to_owned());
    tokio::task::spawn_blocking(move || cardea::scanner::import_advisories(&data, &path, &clock).unwrap()).await.unwrap();
    let second = crate::support::eventually("a scan with the new advisories", async || {
        Some(scanner.create_task(ACME, "a", &hash).await).filter(|task| *task != first)
    })
    .await;
    assert_eq!(scanner.ended(ACME, &second).await["resultsStat"]["total"], 1);
    assert_eq!(scanner.create_task(ACME, "a", &hash).await, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn captured_sessions_are_not_echoed_and_nothing_of_them_lies_open() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let source = scanner.upload(ACME, "src.zip", jar::archive(&[("a.txt", b"a".as_slice())])).await;
    let body = json!({
        "projectName": "a", "lang": "JAVA", "primarySourceCode": hash,
        "sandboxHomePageUrl": "https://user:hunter-secret@shop.example/",
        "sandboxAuthInfos": [{"roleName": "admin", "loginUrl": "https://shop.example/?t=hunter-secret", "originRequestData": {"cookies": [{"name": "sid", "value": "hunter-secret"}]}}],
        "poc": {"sandboxAuthHeaders": "Authorization: hunter-secret"},
        "sourceCodeInfos": [{"type": "BACKEND", "sourceCode": source, "fileName": "src.zip", "password": "hunter-secret"}]
    });
    let (_, created) = scanner.post(ACME, CREATE, body).await;
    let task = scanner.ended(ACME, created["taskId"].as_str().unwrap()).await;
    assert!(!task.to_string().contains("hunter-secret"), "{task}");
    assert_eq!(task["params"]["originRequestData"]["sourceCodeInfos"][0]["fileName"], "src.zip");
    let folder = scanner.stop().await;
    let database = std::fs::read(folder.path().join("scanner.redb")).unwrap();
    assert!(!database.windows(13).any(|part| part == b"hunter-secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_create_within_a_minute_is_the_same_task() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let many = futures_util::future::join_all((0..6).map(|_| scanner.create_task(ACME, "a", &hash))).await;
    assert!(many.iter().all(|id| *id == many[0]));
    assert_ne!(scanner.create_task(ACME, "b", &hash).await, many[0]);
    scanner.clock.advance(std::time::Duration::from_secs(59));
    assert_eq!(scanner.create_task(ACME, "a", &hash).await, many[0]);
    scanner.clock.advance(std::time::Duration::from_secs(2));
    assert_ne!(scanner.create_task(ACME, "a", &hash).await, many[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_create_survives_a_restart_and_not_a_delete() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let first = scanner.create_task(ACME, "a", &hash).await;
    let scanner = scanner.restart(|_| {}).await;
    assert_eq!(scanner.create_task(ACME, "a", &hash).await, first);
    scanner.post(ACME, DELETE, json!({"taskIds": [first]})).await;
    assert_ne!(scanner.create_task(ACME, "a", &hash).await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_archive_fails_with_words() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "notes.txt", b"just some text".to_vec()).await;
    let task = scanner.create_task(ACME, "notes", &hash).await;
    let task = scanner.ended(ACME, &task).await;
    assert_eq!(task["taskStatus"], "FAILED");
    assert!(task["errDetail"].as_str().unwrap().contains("notes.txt"), "{task}");
    assert!(task["errCode"].is_u64());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_pages_filters_and_sorts() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    for name in ["Alpha shop", "beta", "Gamma shop"] {
        let task = scanner.create_task(ACME, name, &hash).await;
        scanner.ended(ACME, &task).await;
        scanner.clock.advance(std::time::Duration::from_hours(24));
    }
    let names = async |body: Value| -> Vec<String> {
        let (status, body) = scanner.post(ACME, SEARCH, body).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body["data"].as_array().unwrap().iter().map(|row| row["projectName"].as_str().unwrap().to_owned()).collect()
    };
    let filter =
        |field: &str, operator: &str, value: Value| json!({"filters": [{"field": field, "operator": operator, "value": value}]});
    assert_eq!(names(json!({})).await, ["Gamma shop", "beta", "Alpha shop"]);
    assert_eq!(names(json!({"page": 1, "size": 2})).await, ["Alpha shop"]);
    assert_eq!(names(json!({"page": 9})).await, Vec::<String>::new());
    assert_eq!(names(json!({"sorts": ["projectName"]})).await, ["Alpha shop", "beta", "Gamma shop"]);
    assert_eq!(names(json!({"sorts": ["-projectName"]})).await, ["Gamma shop", "beta", "Alpha shop"]);
    assert_eq!(names(filter("projectName", "LIKE", json!("SHOP"))).await, ["Gamma shop", "Alpha shop"]);
    assert_eq!(names(filter("projectName", "EQ", json!("beta"))).await, ["beta"]);
    assert_eq!(names(filter("taskStatus", "IN", json!(["SUCCESS"]))).await.len(), 3);
    assert_eq!(names(filter("taskStatus", "IN", json!(["FAILED", "RUNNING"]))).await.len(), 0);
    assert_eq!(names(filter("createdAt", "BETWEEN", json!(["2026-06-02T00:00:00Z", "2026-06-02T23:59:59Z"]))).await, ["beta"]);
    assert_eq!(names(filter("createdAt", "LE", json!("2026-06-02"))).await, ["beta", "Alpha shop"]);
    assert_eq!(names(filter("createdAt", "GE", json!("2026-06-03"))).await, ["Gamma shop"]);
    let (_, body) = scanner.post(ACME, SEARCH, json!({"size": 1})).await;
    assert_eq!((&body["total"], body["data"].as_array().unwrap().len()), (&json!(3), 1));
    assert_eq!(answer(scanner.request(Method::POST, SEARCH).bearer_auth(ACME)).await.1["total"], 3);
    assert_eq!(scanner.post(GLOBEX, SEARCH, json!({})).await.1, json!({"data": [], "total": 0}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_is_not_right_is_400_even_on_an_empty_list() {
    let scanner = spawn_scanner().await;
    for body in [
        json!({"filters": [{"field": "password", "operator": "EQ", "value": "x"}]}),
        json!({"filters": [{"field": "projectName", "operator": "GE", "value": "x"}]}),
        json!({"filters": [{"field": "projectName", "operator": "NEAR", "value": "x"}]}),
        json!({"filters": [{"field": "projectName", "operator": "LIKE", "value": 7}]}),
        json!({"filters": [{"field": "taskStatus", "operator": "IN", "value": "SUCCESS"}]}),
        json!({"filters": [{"field": "createdAt", "operator": "GE", "value": "yesterday"}]}),
        json!({"filters": [{"field": "createdAt", "operator": "BETWEEN", "value": ["2026-01-01"]}]}),
        json!({"sorts": ["shoeSize"]}),
        json!({"size": 0}),
        json!({"size": 201}),
    ] {
        assert_refused(scanner.post(ACME, SEARCH, body).await, 400, 4000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_task_terminates_and_its_worker_goes_on() {
    let scanner = spawn_scanner().await;
    let slow = scanner.upload(ACME, "slow.war", slow_war()).await;
    let small = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let running = scanner.create_task(ACME, "slow", &slow).await;
    let waiting = scanner.create_task(ACME, "waits", &slow).await;
    let last = scanner.create_task(ACME, "small", &small).await;
    scanner.task_when(ACME, &running, |status| status == "RUNNING").await;
    assert_eq!(status(&scanner, &waiting).await, "CREATED");
    for task in [&waiting, &running] {
        let answer =
            scanner.request(Method::POST, TERMINATE).bearer_auth(ACME).json(&json!({"taskId": task})).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(answer.bytes().await.unwrap().is_empty());
    }
    assert_eq!(scanner.ended(ACME, &last).await["taskStatus"], "SUCCESS");
    for task in [&waiting, &running] {
        let (_, task) = scanner.get(ACME, &format!("/api/v1/tasks/{task}")).await;
        assert_eq!(task["taskStatus"], "TERMINATED");
        assert!(task["errDetail"].as_str().unwrap().contains("acme"));
        assert!(scanner.findings(ACME, task["taskId"].as_str().unwrap()).await.is_empty());
    }
    assert_refused(scanner.post(ACME, TERMINATE, json!({"taskId": running})).await, 400, 4000);
    assert_refused(scanner.post(ACME, TERMINATE, json!({"taskId": last})).await, 400, 4000);
    assert_refused(scanner.post(ACME, TERMINATE, json!({"taskId": "unknown"})).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminated_task_can_be_created_again_at_once() {
    let scanner = spawn_scanner().await;
    let slow = scanner.upload(ACME, "slow.war", slow_war()).await;
    let first = scanner.create_task(ACME, "slow", &slow).await;
    scanner.post(ACME, TERMINATE, json!({"taskId": first})).await;
    let second = scanner.create_task(ACME, "slow", &slow).await;
    assert_ne!(first, second);
    assert_eq!(scanner.post(ACME, TERMINATE, json!({"taskId": second})).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_takes_up_what_was_running_and_waiting_and_loses_nothing() {
    let scanner = spawn_scanner().await;
    let done = scanner.scanned(ACME, "shop.war", jar::vulnerable_war()).await;
    let findings = scanner.findings(ACME, &done).await;
    let slow = scanner.upload(ACME, "slow.war", slow_war()).await;
    let running = scanner.create_task(ACME, "slow", &slow).await;
    let waiting = scanner.create_task(ACME, "waits", &slow).await;
    scanner.task_when(ACME, &running, |status| status == "RUNNING").await;
    let scanner = scanner.restart(|_| {}).await;
    for task in [&running, &waiting] {
        assert_eq!(scanner.ended(ACME, task).await["taskStatus"], "SUCCESS");
    }
    assert_eq!(scanner.findings(ACME, &done).await, findings);
    assert_eq!(scanner.post(ACME, SEARCH, json!({})).await.1["total"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_is_all_or_nothing_and_takes_findings_along() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", jar::vulnerable_war()).await;
    let finding = scanner.findings(ACME, &task).await[0]["vulId"].as_str().unwrap().to_owned();
    assert_refused(scanner.post(ACME, DELETE, json!({"taskIds": [task, "unknown"]})).await, 404, 4040);
    assert_refused(scanner.post(ACME, DELETE, json!({"taskIds": []})).await, 400, 4000);
    assert_refused(scanner.post(GLOBEX, DELETE, json!({"taskIds": [task]})).await, 404, 4040);
    assert_eq!(status(&scanner, &task).await, "SUCCESS");
    let answer =
        scanner.request(Method::POST, DELETE).bearer_auth(ACME).json(&json!({"taskIds": [task, task]})).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.bytes().await.unwrap().is_empty());
    assert_refused(scanner.get(ACME, &format!("/api/v1/tasks/{task}")).await, 404, 4040);
    assert_refused(scanner.get(ACME, &format!("/api/v1/tasks/{task}/results/{finding}")).await, 404, 4040);
    assert_refused(scanner.post(ACME, DELETE, json!({"taskIds": [task]})).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_running_task_stops_it_and_frees_its_worker() {
    let scanner = spawn_scanner().await;
    let slow = scanner.upload(ACME, "slow.war", slow_war()).await;
    let small = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let running = scanner.create_task(ACME, "slow", &slow).await;
    scanner.task_when(ACME, &running, |status| status == "RUNNING").await;
    assert_eq!(scanner.post(ACME, DELETE, json!({"taskIds": [running]})).await.0, StatusCode::OK);
    let next = scanner.create_task(ACME, "small", &small).await;
    assert_eq!(scanner.ended(ACME, &next).await["taskStatus"], "SUCCESS");
    assert_refused(scanner.get(ACME, &format!("/api/v1/tasks/{running}")).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_come_back_as_they_were_sent() {
    let scanner = spawn_scanner_with(|settings| settings.scan_workers = 2).await;
    let name = "<img src=x onerror=alert(1)>\"'&{{7*7}}\u{202e}#[link]";
    let hash = scanner.upload(ACME, "<b>.jar", jar::library("g", "a", "1")).await;
    let task = scanner.create_task(ACME, name, &hash).await;
    assert_eq!(scanner.ended(ACME, &task).await["projectName"], name);
}
