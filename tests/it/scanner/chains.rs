//! Class presence, reachability and exploit chains as callers see them: search, statistics, shares, reports.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::scanner::{ACME, GLOBEX, TestScanner, answer, assert_refused, spawn_scanner, spawn_scanner_with};
use crate::support::shop::shop;

async fn chains(scanner: &TestScanner, task: &str, search: Value) -> (StatusCode, Value) {
    scanner.post(ACME, &format!("/api/v1/tasks/{task}/exploit-chains/search"), search).await
}

fn row<'a>(rows: &'a [Value], id: &str) -> &'a Value {
    rows.iter().find(|row| row["cveIds"][0] == id).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cleared_finding_is_listed_last_and_counted_apart() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", shop()).await;
    let rows = scanner.findings(ACME, &task).await;
    let log4shell = row(&rows, "CVE-2021-44228");
    assert_eq!((&log4shell["reachability"], &log4shell["confidence"]), (&json!("NOT_PRESENT"), &json!("low")));
    assert_eq!(rows.last().unwrap()["reachability"], "NOT_PRESENT");
    let cleared = rows.iter().filter(|row| row["reachability"] == "NOT_PRESENT").count();
    let (_, stat) = scanner.post_nothing(ACME, &format!("/api/v1/tasks/{task}/results/stat")).await;
    assert_eq!(stat["clearedCount"], json!(cleared), "{stat}");
    assert_eq!(stat["total"], json!(rows.len() - cleared), "{stat}");
    let counted: u64 = stat["detail"].as_array().unwrap().iter().map(|one| one["count"].as_u64().unwrap()).sum();
    assert_eq!(json!(counted), stat["total"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_is_searched_filtered_and_says_that_it_was_derived() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", shop()).await;
    let (status, page) = chains(&scanner, &task, json!({"sorts": ["severity", "-title"]})).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    let all = page["data"].as_array().unwrap();
    let rows = scanner.findings(ACME, &task).await;
    let finding = row(&rows, "CVE-2022-1471");
    assert_eq!(finding["reachability"], "REACHABLE");
    let chain = all.iter().find(|one| one["vulIds"][0] == finding["vulId"]).unwrap();
    assert!(chain["description"].as_str().unwrap().contains("not executed"), "{chain}");
    assert_eq!(chain["stepCount"], 2);
    assert_eq!((&chain["steps"][0]["apiMethod"], &chain["steps"][0]["apiPath"]), (&json!("POST"), &json!("/orders")));
    assert_eq!((&chain["steps"][0]["kind"], &chain["steps"][0]["line"]), (&json!("entry"), &json!(21)));
    assert_eq!((&chain["steps"][1]["kind"], &chain["steps"][1]["vulId"]), (&json!("sink"), &finding["vulId"]));
    let none = json!({"filters": [{"field": "title", "operator": "LIKE", "value": "no such thing"}]});
    assert_eq!(chains(&scanner, &task, none).await.1["total"], 0);
    assert_refused(chains(&scanner, &task, json!({"sorts": ["colour"]})).await, 400, 4000);
    let path = format!("/api/v1/tasks/{task}/exploit-chains/search");
    assert_eq!(scanner.post(GLOBEX, &path, json!({})).await.0, StatusCode::NOT_FOUND);
    let (_, detail) = scanner.get(ACME, &format!("/api/v1/tasks/{task}/results/{}", finding["vulId"].as_str().unwrap())).await;
    assert_eq!(detail["codeFlow"][0]["start_line"], 21, "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_of_the_call_graph_reach_the_analysis_process_and_are_said() {
    let scanner = spawn_scanner_with(|settings| settings.archive.call_graph.classes = 1).await;
    let sha256 = scanner.upload(ACME, "shop.war", shop()).await;
    let id = scanner.create_task(ACME, "shop", &sha256).await;
    let task = scanner.ended(ACME, &id).await;
    assert_eq!(task["taskStatus"], "SUCCESS", "{task}");
    let notes = task["summary"]["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("more classes and calls than are looked at")), "{notes:?}");
    let rows = scanner.findings(ACME, &id).await;
    assert!(rows.iter().any(|one| one["reachability"] == "UNKNOWN"), "{rows:?}");
}

async fn share(scanner: &TestScanner, task: &str, further: Value) -> String {
    let (_, id) = scanner.post_nothing(ACME, "/api/v1/shares/generate-id").await;
    let mut body = json!({"shareId": id["shareId"], "taskId": task});
    body.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    let (status, made) = scanner.post(ACME, "/api/v1/shares", body).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    made["shareId"].as_str().unwrap().to_owned()
}

async fn shared_chain(scanner: &TestScanner, share: &str, chain: &str, code: &str) -> (StatusCode, Value) {
    let path = format!("/api/v1/shares/public/{share}/exploit-chains/{chain}");
    answer(scanner.request(Method::POST, &path).json(&json!({"extractionCode": code}))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_shows_the_chains_of_its_findings_and_no_others() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", shop()).await;
    let (_, page) = chains(&scanner, &task, json!({})).await;
    let chain = page["data"][0].clone();
    let (id, finding) = (chain["vulId"].as_str().unwrap(), chain["vulIds"][0].clone());
    let rows = scanner.findings(ACME, &task).await;
    let other = row(&rows, "CVE-2021-44228")["vulId"].clone();

    let report = share(&scanner, &task, json!({"shareType": "REPORT", "extractionCode": "seven7"})).await;
    assert_eq!(shared_chain(&scanner, &report, id, "seven7").await, (StatusCode::OK, chain.clone()));
    assert_ne!(shared_chain(&scanner, &report, id, "").await.0, StatusCode::OK);
    assert_ne!(shared_chain(&scanner, &report, id, "wrong1").await.0, StatusCode::OK);

    let its_own = share(&scanner, &task, json!({"shareType": "VUL", "vulIds": [finding]})).await;
    assert_eq!(shared_chain(&scanner, &its_own, id, "").await.0, StatusCode::OK);
    let (_, shown) = answer(scanner.request(Method::GET, &format!("/api/v1/shares/public/{its_own}"))).await;
    assert_eq!(shown["exploitChains"], json!([chain]));

    let foreign = share(&scanner, &task, json!({"shareType": "VUL", "vulIds": [other]})).await;
    assert_eq!(shared_chain(&scanner, &foreign, id, "").await.0, StatusCode::NOT_FOUND);
    let (_, shown) = answer(scanner.request(Method::GET, &format!("/api/v1/shares/public/{foreign}"))).await;
    assert_eq!(shown["exploitChains"], json!([]));
    assert_eq!(shown["resultsStat"]["clearedCount"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_tells_reachability_what_was_cleared_and_the_chain() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", shop()).await;
    let path = format!("/api/v2/tasks/{task}/report?type=HTML");
    for (language, words) in [
        ("en-US", ["Reachability", "Cleared by class presence", "Exploit chains"]),
        ("zh-CN", ["可达性", "因类不存在而排除", "利用链"]),
    ] {
        let request = scanner.request(Method::GET, &path).bearer_auth(ACME).header("X-User-Language", language);
        let page = request.send().await.unwrap().text().await.unwrap();
        for word in words {
            assert!(page.contains(word), "{word}");
        }
        assert!(page.contains("shop.Orders.doPost(HttpServletRequest, HttpServletResponse):21"));
    }
}
