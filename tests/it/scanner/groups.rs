//! Groups: several artifacts in one create, told apart when some cannot be taken, and handled together afterwards.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::jar;
use crate::support::scanner::{
    ACME, GLOBEX, TestScanner, assert_refused, spawn_scanner, spawn_scanner_with, spawn_scanner_with_manual_clock,
};

const CREATE: &str = "/api/v2/tasks/create-group";
const SEARCH: &str = "/api/v1/tasks/search";
const TERMINATE: &str = "/api/v1/tasks/terminate";
const DELETE: &str = "/api/v1/tasks/delete";

/// Hashes of three uploaded libraries.
async fn three(scanner: &TestScanner) -> [String; 3] {
    let mut hashes = [const { String::new() }; 3];
    for (hash, name) in hashes.iter_mut().zip(["shop", "cart", "mail"]) {
        *hash = scanner.upload(ACME, &format!("{name}.jar"), jar::library("com.example", name, "1.0")).await;
    }
    hashes
}

fn group(first: &str, further: &[(&str, &str)]) -> Value {
    let further: Vec<Value> = further
        .iter()
        .map(|(hash, service)| json!({"sourceCode": hash, "fileName": format!("{service}.jar"), "serviceName": service}))
        .collect();
    json!({
        "projectName": "Shop", "lang": "JAVA", "primarySourceCode": first, "serviceName": "front",
        "sandboxHomePageUrl": "https://shop.example/", "primarySourceCodes": further
    })
}

async fn created(scanner: &TestScanner, body: Value) -> Value {
    let (status, body) = scanner.post(ACME, CREATE, body).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_one_task_for_each_artifact_and_each_knows_the_others() {
    let scanner = spawn_scanner().await;
    let [shop, cart, mail] = three(&scanner).await;
    let mut body = group(&shop, &[(&cart, "cart"), (&mail, "mail")]);
    body["primarySourceCodes"][0]["sandboxTargetServiceUrl"] = json!("https://cart.example/api");
    let answer = created(&scanner, body).await;
    let tasks = ids(&answer["taskIds"]);
    assert_eq!((tasks.len(), &answer["taskId"], answer.get("failures")), (3, &json!(tasks[0]), None));
    assert!(answer["createdAt"].is_string() && answer["status"].is_string());
    for ((task, service), file) in tasks.iter().zip(["front", "cart", "mail"]).zip(["shop.jar", "cart.jar", "mail.jar"]) {
        let detail = scanner.ended(ACME, task).await;
        assert_eq!(detail["taskStatus"], "SUCCESS");
        assert_eq!((&detail["groupId"], &detail["serviceName"]), (&answer["groupId"], &json!(service)));
        assert_eq!(ids(&detail["groupTaskIds"]), tasks);
        assert_eq!(detail["projectName"], "Shop");
        let origin = &detail["params"]["originRequestData"];
        assert_eq!(
            (&origin["primarySourceCodeFileName"], &origin["sandboxHomePageUrl"]),
            (&json!(file), &json!("https://shop.example/"))
        );
        let target = (service == "cart").then_some("https://cart.example/api");
        assert_eq!(origin.get("sandboxTargetServiceUrl").and_then(Value::as_str), target);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn artifacts_that_cannot_be_taken_are_told_and_the_others_are_scanned() {
    let scanner = spawn_scanner().await;
    let [shop, cart, _] = three(&scanner).await;
    let foreign = scanner.upload(GLOBEX, "theirs.jar", jar::library("com.example", "theirs", "1.0")).await;
    let unknown = "0".repeat(64);
    let mut body = group(
        &unknown,
        &[(&cart, "cart"), ("no-hash", "broken"), (&foreign, "theirs"), (&cart, "CART"), (&shop, "shop"), (&cart, "cart two")],
    );
    body["primarySourceCodes"].as_array_mut().unwrap().extend([
        json!({"sourceCode": shop, "fileName": "far.jar", "sandboxTargetServiceUrl": "ftp://shop.example"}),
        json!({"fileName": "nothing.jar"}),
        json!("text"),
    ]);
    let answer = created(&scanner, body).await;
    let tasks = ids(&answer["taskIds"]);
    assert_eq!((tasks.len(), &answer["taskId"]), (3, &json!(tasks[0])));
    let told: Vec<(u64, &str, u64)> = answer["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["index"].as_u64().unwrap(), one["fileName"].as_str().unwrap(), one["errCode"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            (0, "", 4001),
            (2, "broken.jar", 4000),
            (3, "theirs.jar", 4001),
            (4, "CART.jar", 4000),
            (7, "far.jar", 4000),
            (8, "nothing.jar", 4000),
            (9, "", 4000),
        ]
    );
    assert_eq!(answer["failures"][3]["errDetail"], "This artifact stands in the group already, as artifact 2.");
    assert!(answer["failures"].as_array().unwrap().iter().all(|one| one["errDetail"].as_str().unwrap().ends_with('.')));
    let names: Vec<Value> =
        [scanner.ended(ACME, &tasks[0]).await, scanner.ended(ACME, &tasks[1]).await, scanner.ended(ACME, &tasks[2]).await]
            .iter()
            .map(|task| task["serviceName"].clone())
            .collect();
    assert_eq!(names, ["cart", "shop", "cart two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_of_which_nothing_can_be_taken_is_400_with_every_reason() {
    let scanner = spawn_scanner().await;
    let unknown = "0".repeat(64);
    let refused = scanner.post(ACME, CREATE, group(&unknown, &[("no-hash", "cart")])).await;
    let words = refused.1["message"].as_str().unwrap().to_owned();
    assert!(words.contains("Artifact 1: There is no uploaded file") && words.contains("Artifact 2 (cart.jar): "), "{words}");
    assert_refused(refused, 400, 4000);
    assert_refused(scanner.post(ACME, CREATE, group(&unknown, &[(&unknown, "cart")])).await, 400, 4001);
    assert_eq!(scanner.post(ACME, SEARCH, json!({})).await.1["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_body_that_is_not_right_makes_nothing() {
    let scanner = spawn_scanner().await;
    let [shop, cart, _] = three(&scanner).await;
    for (field, value) in [
        ("projectName", json!("")),
        ("lang", json!("COBOL")),
        ("projectName", json!(7)),
        ("primarySourceCodes", json!("text")),
        ("sandboxAuthInfos", json!("text")),
        ("browserBoxId", json!("b".repeat(129))),
    ] {
        let mut body = group(&shop, &[(&cart, "cart")]);
        body[field] = value;
        assert_refused(scanner.post(ACME, CREATE, body).await, 400, 4000);
    }
    assert_eq!(scanner.post(ACME, SEARCH, json!({})).await.1["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_takes_as_many_artifacts_as_the_setting_says() {
    let scanner = spawn_scanner_with(|settings| settings.groups.max_artifacts = 2).await;
    let [shop, cart, mail] = three(&scanner).await;
    let refused = scanner.post(ACME, CREATE, group(&shop, &[(&cart, "cart"), (&mail, "mail")])).await;
    assert!(refused.1["message"].as_str().unwrap().contains("at most 2"), "{}", refused.1);
    assert_refused(refused, 400, 4000);
    created(&scanner, group(&shop, &[(&cart, "cart")])).await;
    let alone = created(&scanner, json!({"projectName": "p", "lang": "JAVA", "primarySourceCode": shop})).await;
    assert_eq!(ids(&alone["taskIds"]).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_group_within_a_minute_is_the_same_group() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let [shop, cart, mail] = three(&scanner).await;
    let body = group(&shop, &[(&cart, "cart"), ("no-hash", "broken")]);
    let many = futures_util::future::join_all((0..6).map(|_| created(&scanner, body.clone()))).await;
    assert!(many.iter().all(|one| one["groupId"] == many[0]["groupId"] && one["taskIds"] == many[0]["taskIds"]));
    assert!(many.iter().all(|one| one["failures"] == many[0]["failures"]));
    assert_eq!(scanner.post(ACME, SEARCH, json!({})).await.1["total"], 2);
    let other = created(&scanner, group(&shop, &[(&mail, "mail"), ("no-hash", "broken")])).await;
    assert_ne!(other["groupId"], many[0]["groupId"]);
    scanner.clock.advance(Duration::from_secs(61));
    assert_ne!(created(&scanner, body).await["groupId"], many[0]["groupId"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_group_is_a_new_one_once_a_file_it_lacked_is_there_or_a_task_of_it_is_gone() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let [shop, cart, _] = three(&scanner).await;
    let late = jar::library("com.example", "late", "1.0");
    let hash = cardea::platform::digest::hex(&cardea::platform::digest::sha256(&late));
    let body = group(&shop, &[(&cart, "cart"), (&hash, "late")]);
    let first = created(&scanner, body.clone()).await;
    assert_eq!(first["failures"][0]["errCode"], 4001);
    scanner.upload(ACME, "late.jar", late).await;
    let second = created(&scanner, body.clone()).await;
    assert_eq!((ids(&second["taskIds"]).len(), second.get("failures")), (3, None));
    let gone = ids(&second["taskIds"]).remove(1);
    assert_eq!(scanner.post(ACME, DELETE, json!({"taskIds": [gone]})).await.0, StatusCode::OK);
    assert_ne!(created(&scanner, body).await["groupId"], second["groupId"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_finds_the_tasks_of_a_group_and_deleting_some_leaves_the_others() {
    let scanner = spawn_scanner().await;
    let [shop, cart, mail] = three(&scanner).await;
    let one = created(&scanner, group(&shop, &[(&cart, "cart"), (&mail, "mail")])).await;
    let alone = scanner.create_task(ACME, "alone", &mail).await;
    let filter = |operator: &str, value: Value| json!({"filters": [{"field": "groupId", "operator": operator, "value": value}]});
    for search in [filter("EQ", one["groupId"].clone()), filter("IN", json!([one["groupId"], "another"]))] {
        let found = scanner.post(ACME, SEARCH, search.clone()).await.1;
        assert_eq!(found["total"], 3);
        assert!(found["data"].as_array().unwrap().iter().all(|row| row["groupId"] == one["groupId"]));
        assert_eq!(scanner.post(GLOBEX, SEARCH, search).await.1["total"], 0);
    }
    assert!(scanner.get(ACME, &format!("/api/v1/tasks/{alone}")).await.1.get("groupId").is_none());
    let tasks = ids(&one["taskIds"]);
    assert_eq!(scanner.post(ACME, DELETE, json!({"taskIds": [tasks[1]]})).await.0, StatusCode::OK);
    let left = scanner.get(ACME, &format!("/api/v1/tasks/{}", tasks[0])).await.1;
    assert_eq!(ids(&left["groupTaskIds"]), [tasks[0].clone(), tasks[2].clone()]);
    assert_refused(scanner.post(ACME, DELETE, json!({"taskIds": tasks})).await, 404, 4040);
    assert_eq!(scanner.post(ACME, DELETE, json!({"taskIds": [tasks[0], tasks[2]]})).await.0, StatusCode::OK);
    assert_eq!(scanner.post(ACME, SEARCH, json!({})).await.1["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn terminating_several_tasks_ends_those_that_run_and_tells_the_others() {
    let scanner = spawn_scanner().await;
    let done = scanner.scanned(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let theirs = scanner.scanned(GLOBEX, "b.jar", jar::library("g", "b", "1")).await;
    let slow = scanner.upload(ACME, "slow.war", super::tasks::slow_war()).await;
    let answer = created(&scanner, group(&slow, &[(&slow, "cart"), (&slow, "mail")])).await;
    let mut tasks = ids(&answer["taskIds"]);
    let (status, told) =
        scanner.post(ACME, TERMINATE, json!({"taskId": tasks[0], "taskIds": [tasks[0], tasks[1], done, theirs]})).await;
    assert_eq!(status, StatusCode::OK, "{told}");
    let mut ended = ids(&told["terminated"]);
    let last = tasks.pop().unwrap();
    ended.sort();
    tasks.sort();
    assert_eq!(ended, tasks);
    let code =
        |task: &str| told["failures"].as_array().unwrap().iter().find(|one| one["taskId"] == task).unwrap()["errCode"].clone();
    assert_eq!((code(&done), code(&theirs)), (json!(4000), json!(4040)));
    for task in &tasks {
        assert_eq!(scanner.ended(ACME, task).await["taskStatus"], "TERMINATED");
    }
    let (status, body) = scanner.post(ACME, TERMINATE, json!({"taskIds": [last]})).await;
    assert_eq!((status, body), (StatusCode::OK, Value::Null));
    assert_refused(scanner.post(ACME, TERMINATE, json!({"taskIds": [last, done]})).await, 400, 4000);
    assert_refused(scanner.post(ACME, TERMINATE, json!({"taskIds": ["unknown"]})).await, 404, 4040);
    assert_refused(scanner.post(ACME, TERMINATE, json!({"taskIds": []})).await, 400, 4000);
    let many: Vec<String> = (0..201).map(|number| format!("t{number}")).collect();
    assert_refused(scanner.post(ACME, TERMINATE, json!({"taskIds": many})).await, 400, 4000);
}
