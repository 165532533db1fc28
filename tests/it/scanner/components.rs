//! Components of a task, and source archives given as artifact or beside it.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::jar::{self, archive};
use crate::support::scanner::{ACME, GLOBEX, TestScanner, assert_refused, spawn_scanner};

const NPM: &str =
    r#"{"lockfileVersion":3,"packages":{"node_modules/lodash":{"version":"4.17.20"},"node_modules/ms":{"version":"2.1.3"}}}"#;
const CARGO: &str =
    "[[package]]\nname = \"time\"\nversion = \"0.1.44\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
const GO: &str = "module example.org/m\n\nrequire golang.org/x/net v0.7.0\n";
const POM: &str = "<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency>\
    <groupId>commons-fileupload</groupId><artifactId>commons-fileupload</artifactId><version>1.3</version></dependency></dependencies></project>";

/// A source archive with a lock file of every world.
pub(super) fn sources() -> Vec<u8> {
    archive(&[
        ("web/package-lock.json", NPM.as_bytes()),
        ("api/requirements.txt", b"PyYAML==5.3\n"),
        ("tool/Cargo.lock", CARGO.as_bytes()),
        ("go/go.mod", GO.as_bytes()),
        ("java/pom.xml", POM.as_bytes()),
    ])
}

async fn search(scanner: &TestScanner, task: &str, body: Value) -> Value {
    let (status, page) = scanner.post(ACME, &format!("/api/v1/tasks/{task}/components/search"), body).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    page
}

fn names(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_archive_is_a_task_of_its_own_in_every_language() {
    let scanner = spawn_scanner().await;
    let sha256 = scanner.upload(ACME, "sources.zip", sources()).await;
    for lang in ["javascript", "TYPESCRIPT", "PYTHON", "RUST", "GO", "KOTLIN"] {
        let body = json!({"projectName": format!("sources {lang}"), "lang": lang, "primarySourceCode": sha256});
        let (status, created) = scanner.post(ACME, "/api/v2/tasks", body).await;
        assert_eq!(status, StatusCode::OK, "{created}");
        let task = created["taskId"].as_str().unwrap();
        let ended = scanner.ended(ACME, task).await;
        assert_eq!((&ended["taskStatus"], &ended["summary"]["componentCount"]), (&json!("SUCCESS"), &json!(6)), "{ended}");
    }
    let body = json!({"projectName": "x", "lang": "COBOL", "primarySourceCode": sha256});
    let refused = scanner.post(ACME, "/api/v2/tasks", body).await;
    assert!(refused.1["message"].as_str().unwrap().contains("source archives with lock files"), "{}", refused.1);
    assert_refused(refused, 400, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn components_carry_their_findings_and_the_way_out() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "sources.zip", sources()).await;
    let page = search(&scanner, &task, json!({"size": 200})).await;
    assert_eq!(page["total"], 6);
    let findings = scanner.findings(ACME, &task).await;
    let row = |name: &str| page["data"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    let lodash = row("lodash");
    assert_eq!(lodash["path"], "sources.zip!/web/package-lock.json");
    assert_eq!((&lodash["ecosystem"], &lodash["identifiedBy"]), (&json!("npm"), &json!("package-lock.json")));
    assert_eq!((&lodash["upgradeTo"], &lodash["counts"]["total"]), (&json!("4.17.21"), &json!(1)));
    assert!(findings.iter().any(|finding| finding["vulId"] == lodash["vulIds"][0]));
    assert!(lodash.get("reachability").is_none());
    assert_eq!(row("ms")["vulIds"], json!([]));
    assert_eq!(row("golang.org/x/net")["upgradeTo"], "v0.17.0");
    assert_eq!(row("commons-fileupload:commons-fileupload")["identifiedBy"], "pom.xml");
    let counted: u64 = page["data"].as_array().unwrap().iter().map(|row| row["counts"]["total"].as_u64().unwrap()).sum();
    assert_eq!(counted, findings.len() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn components_are_filtered_sorted_and_paged() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "sources.zip", sources()).await;
    let filter =
        |field: &str, operator: &str, value: Value| json!({"filters": [{"field": field, "operator": operator, "value": value}]});
    assert_eq!(names(&search(&scanner, &task, filter("ecosystem", "EQ", json!("NPM"))).await), ["lodash", "ms"]);
    assert_eq!(names(&search(&scanner, &task, filter("path", "LIKE", json!("cargo.lock"))).await), ["time"]);
    assert_eq!(names(&search(&scanner, &task, filter("version", "EQ", json!("2.1.3"))).await), ["ms"]);
    assert_eq!(
        names(&search(&scanner, &task, filter("severity", "EQ", json!("critical"))).await),
        ["pyyaml", "commons-fileupload:commons-fileupload"]
    );
    let by_severity = search(&scanner, &task, json!({"sorts": ["severity", "name"]})).await;
    assert_eq!(names(&by_severity)[..2], ["commons-fileupload:commons-fileupload", "pyyaml"]);
    assert_eq!(*names(&by_severity).last().unwrap(), "ms", "what has no finding comes last");
    let by_name = search(&scanner, &task, json!({"sorts": ["-name"], "page": 1, "size": 4})).await;
    assert_eq!((names(&by_name).len(), by_name["total"].as_u64()), (2, Some(6)));
    let path = format!("/api/v1/tasks/{task}/components/search");
    assert_refused(scanner.post(ACME, &path, filter("vulId", "EQ", json!("x"))).await, 400, 4000);
    assert_refused(scanner.post(ACME, &path, json!({"size": 201})).await, 400, 4000);
    assert_refused(scanner.post(GLOBEX, &path, json!({})).await, 404, 4040);
    assert_refused(scanner.post(ACME, "/api/v1/tasks/unknown/components/search", json!({})).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_named_twice_or_is_the_artifact_is_refused_by_name() {
    let scanner = spawn_scanner().await;
    let war = scanner.upload(ACME, "shop.war", jar::vulnerable_war()).await;
    let web = scanner.upload(ACME, "web.zip", archive(&[("package-lock.json", NPM.as_bytes())])).await;
    let source = |hash: &str, name: &str| json!({"type": "BACKEND", "sourceCode": hash, "fileName": name});
    let too_many = (0..21).map(|at| source(&format!("{at:064}"), "many.zip")).collect();
    for (sources, words) in [
        (vec![source(&web, "web.zip"), source(&web.to_uppercase(), "again.zip")], "names again.zip more than once"),
        (vec![source(&web, ""), source(&web, "")], web.as_str()),
        (vec![source(&war, "shop.zip")], "names the artifact itself (shop.zip)"),
        (too_many, "at most 20 source archives"),
    ] {
        let body = json!({"projectName": "shop", "lang": "JAVA", "primarySourceCode": war, "sourceCodeInfos": sources});
        let refused = scanner.post(ACME, "/api/v2/tasks", body).await;
        assert!(refused.1["message"].as_str().unwrap().contains(words), "{words}: {}", refused.1);
        assert_refused(refused, 400, 4000);
    }
    let tasks = scanner.post(ACME, "/api/v1/tasks/search", json!({})).await.1;
    assert_eq!(tasks["total"], 0, "{tasks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_beside_an_artifact_add_their_components() {
    let scanner = spawn_scanner().await;
    let war = scanner.upload(ACME, "shop.war", jar::vulnerable_war()).await;
    let own = scanner.upload(ACME, "web.zip", archive(&[("package-lock.json", NPM.as_bytes())])).await;
    // Uploaded by another account: for this one it is not there.
    let foreign = scanner.upload(GLOBEX, "secret.zip", archive(&[("Cargo.lock", CARGO.as_bytes())])).await;
    let body = json!({"projectName": "shop", "lang": "JAVA", "primarySourceCode": war, "sourceCodeInfos": [
        {"type": "upload", "sourceCode": own, "fileName": "web.zip"},
        {"type": "upload", "sourceCode": foreign, "fileName": "other.zip"},
        {"type": "git", "sourceCode": "https://example.org/x.git"}
    ]});
    let (_, created) = scanner.post(ACME, "/api/v2/tasks", body).await;
    let task = created["taskId"].as_str().unwrap();
    let ended = scanner.ended(ACME, task).await;
    assert_eq!(ended["taskStatus"], "SUCCESS", "{ended}");
    let page = search(&scanner, task, json!({"sorts": ["name"]})).await;
    assert_eq!(names(&page), ["lodash", "ms", "org.apache.logging.log4j:log4j-core"]);
    assert_eq!(page["data"][0]["path"], "web.zip!/package-lock.json");
    assert!(ended["summary"]["notes"].to_string().contains("other.zip could not be read"), "{ended}");
    assert!(!ended.to_string().contains("secret.zip"));
}
