//! Findings: search, one, statistics.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::scanner::{ACME, GLOBEX, assert_refused, spawn_scanner};
use crate::support::{eventually, jar};

#[tokio::test(flavor = "multi_thread")]
async fn findings_come_most_severe_first_and_agree_with_the_statistics() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", jar::vulnerable_war()).await;
    let findings = scanner.findings(ACME, &task).await;
    assert!(findings.iter().any(|row| row["cveIds"].as_array().unwrap().contains(&json!("CVE-2021-44228"))), "{findings:?}");
    let rank = |row: &Value| ["critical", "high", "medium", "low"].iter().position(|word| row["severity"] == *word).unwrap();
    assert!(findings.is_sorted_by_key(rank));
    for row in &findings {
        assert_eq!(row["taskId"], task);
        assert_eq!(row["purchaseStatus"], "PURCHASED");
        assert_eq!(row["component"]["name"], "org.apache.logging.log4j:log4j-core");
        assert_eq!(row["component"]["version"], "2.14.1");
    }
    let (status, stat) = scanner.post_nothing(ACME, &format!("/api/v1/tasks/{task}/results/stat")).await;
    assert_eq!(status, StatusCode::OK);
    let count = |severity: &str| findings.iter().filter(|row| row["severity"] == severity).count();
    assert_eq!(stat["total"], findings.len());
    assert_eq!(stat["criticalCount"], count("critical"));
    assert_eq!(stat["highCount"], count("high"));
    assert_eq!(stat["mediumCount"], count("medium"));
    assert_eq!(stat["lowCount"], count("low"));
    let detail: u64 = stat["detail"].as_array().unwrap().iter().map(|group| group["count"].as_u64().unwrap()).sum();
    assert_eq!(detail, findings.len() as u64);
    let (_, shown) = scanner.get(ACME, &format!("/api/v1/tasks/{task}")).await;
    assert_eq!(shown["resultsStat"]["total"], findings.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_finding_carries_evidence_and_a_fix() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", jar::vulnerable_war()).await;
    let row = scanner.findings(ACME, &task).await[0].clone();
    let path = format!("/api/v1/tasks/{task}/results/{}", row["vulId"].as_str().unwrap());
    let (status, finding) = scanner.get(ACME, &path).await;
    assert_eq!(status, StatusCode::OK);
    for (field, value) in row.as_object().unwrap() {
        assert_eq!(&finding[field], value);
    }
    assert_eq!(finding["taskLang"], "JAVA");
    assert_eq!(finding["verifyResult"], "VERSION_MATCH");
    assert!(finding["location"].as_str().unwrap().contains("WEB-INF/lib/log4j-core-2.14.1.jar"));
    assert!(!finding["evidence"].as_array().unwrap().is_empty());
    assert!(finding["pocScript"].is_string() && finding["pocScriptOutput"].is_string());
    let fix: Value = serde_json::from_str(finding["fixSuggestion"].as_str().unwrap()).unwrap();
    assert!(!fix["fix_method"].as_str().unwrap().is_empty());
    assert_refused(scanner.get(GLOBEX, &path).await, 404, 4040);
    assert_refused(scanner.get(ACME, &format!("/api/v1/tasks/{task}/results/unknown")).await, 404, 4040);
    assert_refused(scanner.get(ACME, "/api/v1/tasks/unknown/results/unknown").await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_are_filtered_and_paged() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "shop.war", jar::vulnerable_war()).await;
    let all = scanner.findings(ACME, &task).await;
    let path = format!("/api/v1/tasks/{task}/results/search");
    let filter = |field: &str, operator: &str, value: Value| json!({"filters": [{"field": field, "operator": operator, "value": value}], "sorts": ["severity"]});
    let (_, critical) = scanner.post(ACME, &path, filter("severity", "IN", json!(["CRITICAL"]))).await;
    assert_eq!(critical["total"], all.iter().filter(|row| row["severity"] == "critical").count());
    let (_, some) = scanner.post(ACME, &path, filter("component", "LIKE", json!("LOG4J"))).await;
    assert_eq!(some["total"], all.len());
    let (_, none) = scanner.post(ACME, &path, filter("title", "LIKE", json!("no such words"))).await;
    assert_eq!(none, json!({"data": [], "total": 0}));
    let (_, reversed) = scanner.post(ACME, &path, json!({"sorts": ["-severity"], "size": 200})).await;
    assert_eq!(reversed["data"][0]["severity"], all.last().unwrap()["severity"]);
    let (_, second) = scanner.post(ACME, &path, json!({"page": 1, "size": 1})).await;
    assert_eq!(second["data"].as_array().unwrap().len(), usize::from(all.len() > 1));
    assert_refused(scanner.post(ACME, &path, filter("severity", "IN", json!(["awful"]))).await, 400, 4000);
    assert_refused(scanner.post(ACME, &path, filter("price", "EQ", json!("0"))).await, 400, 4000);
    assert_refused(scanner.post(GLOBEX, &path, json!({})).await, 404, 4040);
    assert_refused(scanner.post_nothing(GLOBEX, &format!("/api/v1/tasks/{task}/results/stat")).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_found_says_what_it_is_based_on() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "a.jar", jar::library("com.example.none", "harmless", "1.0")).await;
    assert!(scanner.findings(ACME, &task).await.is_empty());
    let (_, shown) = scanner.get(ACME, &format!("/api/v1/tasks/{task}")).await;
    assert!(shown["summary"]["advisoryCount"].as_u64().unwrap() > 0);
    assert!(!shown["summary"]["advisoryDate"].as_str().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_advisories_are_used_without_a_restart() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("com.example.fresh", "fresh", "1.0")).await;
    let first = scanner.create_task(ACME, "before", &hash).await;
    assert_eq!(scanner.ended(ACME, &first).await["resultsStat"]["total"], 0);
    let record = json!({
        "schema_version": "1.6.0", "id": "GHSA-xxxx-yyyy-zzzz", "modified": "2026-05-01T00:00:00Z", "published": "2026-05-01T00:00:00Z",
        "summary": "A flaw", "details": "A flaw", "database_specific": {"severity": "LOW"},
        "affected": [{"package": {"ecosystem": "Maven", "name": "com.example.fresh:fresh"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}]}]
    });
    let file = scanner.data().join("record.json");
    std::fs::write(&file, record.to_string()).unwrap();
    cardea::scanner::import_advisories(scanner.data(), &file, &scanner.clock).unwrap();
    let mut tries = 0;
    let found = eventually("a finding of the new advisory", async || {
        tries += 1;
        let task = scanner.create_task(ACME, &format!("after {tries}"), &hash).await;
        (scanner.ended(ACME, &task).await["resultsStat"]["total"] == 1).then_some(task)
    })
    .await;
    let finding = &scanner.findings(ACME, &found).await[0];
    assert_eq!((&finding["severity"], &finding["fixedVersion"]), (&json!("low"), &json!("2.0")));
}
