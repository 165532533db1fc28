//! Composition analysis of Maven projects by their poms: the zip that answers, and everything it refuses.

use std::io::{Cursor, Read as _};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::jar::archive;
use crate::support::scanner::{ACME, TestScanner, answer, assert_refused, form, spawn_scanner, spawn_scanner_with};

const ONE: &str = "/api/v1/sca/static-analyze/mvn";
const ZIP: &str = "/api/v1/sca/static-analyze/mvn/zip";

fn pom(dependencies: &[(&str, &str, &str)]) -> String {
    let one = |(group, artifact, version): &(&str, &str, &str)| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        )
    };
    let all: String = dependencies.iter().map(one).collect();
    format!(
        "<project><groupId>g</groupId><artifactId>app</artifactId><version>1</version><dependencies>{all}</dependencies></project>"
    )
}

fn log4j() -> (&'static str, &'static str, &'static str) {
    ("org.apache.logging.log4j", "log4j-core", "2.14.1")
}

/// The files of the answer, by name and in their order.
async fn files(scanner: &TestScanner, path: &str, name: &str, bytes: Vec<u8>) -> Vec<(String, Value)> {
    let answer = scanner.request(Method::POST, path).bearer_auth(ACME).multipart(form(name, bytes)).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "application/zip");
    let body = answer.bytes().await.unwrap();
    let mut zip = zip::ZipArchive::new(Cursor::new(body)).unwrap();
    let read = |at| {
        let mut entry = zip.by_index(at).unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (entry.name().unwrap().into_owned(), serde_json::from_str(&text).unwrap())
    };
    (0..2).map(read).collect()
}

async fn refused(scanner: &TestScanner, path: &str, bytes: Vec<u8>) -> (StatusCode, Value) {
    answer(scanner.request(Method::POST, path).bearer_auth(ACME).multipart(form("x", bytes))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pom_gives_a_zip_whose_first_json_is_the_list_of_issues() {
    let scanner = spawn_scanner().await;
    let text = pom(&[log4j(), ("commons-fileupload", "commons-fileupload", "1.3"), ("x", "fine", "1.0"), ("x", "open", "[1,2)")]);
    let files = files(&scanner, ONE, "pom.xml", text.into_bytes()).await;
    assert_eq!(files[0].0, "issues.json");
    let issues = files[0].1.as_array().unwrap();
    let first = &issues[0];
    let mut names: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut expected = vec![
        "ID",
        "Severity",
        "IssueType",
        "IsIgnored",
        "IsNew",
        "Message",
        "FormattedMessage",
        "AffectedFilePath",
        "Product",
        "Ecosystem",
        "CVEs",
        "CWEs",
        "additionalData",
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
    let data = first["additionalData"].as_object().unwrap();
    for name in [
        "type",
        "key",
        "title",
        "name",
        "version",
        "packageManager",
        "packageName",
        "from",
        "fixedIn",
        "upgradePath",
        "isUpgradable",
        "CVSSv3",
        "cvssScore",
        "exploit",
        "isPatchable",
        "description",
        "references",
        "remediation",
    ] {
        assert!(data.contains_key(name), "{name}");
    }
    assert_eq!(data.len(), 18);
    assert_eq!(
        (&first["IssueType"], &first["Product"], &first["Ecosystem"]),
        (&3.into(), &"SBOM Analyzer".into(), &"Maven".into())
    );
    assert_eq!(first["AffectedFilePath"], "pom.xml");
    // Severity ascending (1 is critical), then CVE descending.
    let order = |one: &Value| (one["Severity"].as_u64().unwrap(), std::cmp::Reverse(one["CVEs"].to_string()));
    assert!(issues.is_sorted_by_key(order), "{issues:?}");
    assert_eq!(files[1].0, "unresolved.json");
    assert_eq!(files[1].1["unresolved"][0]["name"], "x:open");
    assert_eq!(files[1].1["unresolved"][0]["kind"], "dependency");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_says_the_way_to_the_dependency_and_out_of_the_flaw() {
    let scanner = spawn_scanner().await;
    let files = files(&scanner, ONE, "pom.xml", pom(&[log4j()]).into_bytes()).await;
    let issues = files[0].1.as_array().unwrap();
    let shell = issues.iter().find(|one| one["CVEs"][0] == "CVE-2021-44228").unwrap();
    assert_eq!(shell["Severity"], 1);
    let data = &shell["additionalData"];
    assert_eq!(data["type"], "OssIssueData");
    assert_eq!(data["from"], serde_json::json!(["g:app@1", "org.apache.logging.log4j:log4j-core@2.14.1"]));
    assert_eq!(data["upgradePath"].as_array().unwrap().len(), 2);
    assert_eq!(data["isUpgradable"], true);
    assert!(data["references"][0]["Url"].as_str().unwrap().starts_with("https://"));
    assert!(data["remediation"].as_str().unwrap().starts_with("Upgrade org.apache.logging.log4j:log4j-core from 2.14.1 to "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zip_of_poms_is_resolved_as_one_workspace() {
    let scanner = spawn_scanner().await;
    let top = "<project><groupId>g</groupId><artifactId>top</artifactId><version>1</version><modules><module>web</module></modules>\
        <properties><log>2.14.1</log></properties></project>";
    let web = "<project><parent><groupId>g</groupId><artifactId>top</artifactId><version>1</version></parent><artifactId>web</artifactId>\
        <dependencies><dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>${log}</version>\
        </dependency></dependencies></project>";
    let zip = archive(&[
        ("pom.xml", top.as_bytes()),
        ("web/pom.xml", web.as_bytes()),
        ("bad/pom.xml", b"no"),
        ("web/src/A.java", b"class"),
    ]);
    let files = files(&scanner, ZIP, "poms.zip", zip).await;
    let issues = files[0].1.as_array().unwrap();
    assert!(!issues.is_empty() && issues.iter().all(|one| one["AffectedFilePath"] == "web/pom.xml"), "{issues:?}");
    assert_eq!(issues[0]["additionalData"]["from"][0], "g:web@1");
    assert_eq!(files[1].1["unresolved"].as_array().unwrap().len(), 0);
    assert!(files[1].1["notes"][0].as_str().unwrap().contains("bad/pom.xml was not read"), "{}", files[1].1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pom_without_known_flaws_gives_an_empty_list() {
    let scanner = spawn_scanner().await;
    let files = files(&scanner, ONE, "pom.xml", pom(&[("x", "fine", "1.0")]).into_bytes()).await;
    assert_eq!(files[0].1, Value::Array(Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_pom_and_no_zip_is_refused_in_plain_words() {
    let scanner = spawn_scanner_with(|settings| settings.archive.sources.poms = 2).await;
    let pom = pom(&[]);
    let good = pom.as_bytes();
    let mut cut = archive(&[("pom.xml", good)]);
    cut.truncate(cut.len() - 30);
    for (path, bytes, words) in [
        (ONE, Vec::new(), "The file is empty"),
        (ONE, b" \n".to_vec(), "The file is empty"),
        (ONE, b"hello".to_vec(), "it is not XML"),
        (ONE, b"<html/>".to_vec(), "its root is not <project>"),
        (ONE, b"<project><name>x</name></project>".to_vec(), "without artifactId"),
        (ONE, "<a>".repeat(1000).into_bytes(), "nested deeper"),
        (ONE, archive(&[("pom.xml", good)]), "it is not XML"),
        (ZIP, Vec::new(), "not a zip file"),
        (ZIP, good.to_vec(), "not a zip file"),
        (ZIP, cut, "not a zip file, or it is cut off"),
        (ZIP, archive(&[("readme.txt", b"x")]), "no pom.xml in it"),
        (ZIP, archive(&[("pom.xml", b"hello")]), "has no readable one in it"),
        (ZIP, archive(&[("a/pom.xml", good), ("b/pom.xml", good), ("c/pom.xml", good)]), "more than 2 poms"),
    ] {
        let answer = refused(&scanner, path, bytes).await;
        assert!(answer.1["message"].as_str().unwrap().contains(words), "{words}: {}", answer.1);
        assert_refused(answer, 400, 4000);
    }
    let no_form = scanner.request(Method::POST, ONE).bearer_auth(ACME).body("x");
    assert_refused(answer(no_form).await, 400, 4000);
    let other = reqwest::multipart::Form::new().text("other", "x");
    assert_refused(answer(scanner.request(Method::POST, ONE).bearer_auth(ACME).multipart(other)).await, 400, 4000);
    assert_refused(answer(scanner.request(Method::POST, ONE).multipart(form("pom.xml", Vec::new()))).await, 401, 4010);
    assert_eq!(
        scanner.request(Method::GET, ONE).bearer_auth(ACME).send().await.unwrap().status(),
        StatusCode::METHOD_NOT_ALLOWED
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_413_packed_or_not() {
    let scanner = spawn_scanner_with(|settings| settings.archive.sources.upload_bytes = 20_000).await;
    assert_refused(refused(&scanner, ONE, vec![b' '; 20_001]).await, 413, 4130);
    assert_refused(refused(&scanner, ONE, vec![b' '; 3 << 20]).await, 413, 4130);
    let bomb = archive(&[("pom.xml", &vec![b' '; 30_000])]);
    assert!(bomb.len() < 20_000);
    let answer = refused(&scanner, ZIP, bomb).await;
    assert!(answer.1["message"].as_str().unwrap().contains("more than 20000 bytes together"), "{}", answer.1);
    assert_refused(answer, 400, 4000);
    assert_eq!(std::fs::read_dir(scanner.data().join("incoming")).unwrap().count(), 0, "nothing of a refused upload stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_stops_moving_is_given_up() {
    let scanner = spawn_scanner_with(|settings| settings.upload.idle_seconds = 1).await;
    let mut socket = tokio::net::TcpStream::connect(scanner.base.trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "POST /scanner{ONE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ACME}\r\nContent-Type: multipart/form-data; boundary=b\r\n\
         Content-Length: 5000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"pom.xml\"\r\n\r\n<project>"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut said = vec![0; 4096];
    let length = tokio::time::timeout(Duration::from_secs(20), socket.read(&mut said)).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&said[..length]).into_owned();
    assert!(said.starts_with("HTTP/1.1 400") && said.contains("stopped moving"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_analyses_than_there_are_places_wait_or_are_told_to_come_back() {
    let scanner = spawn_scanner_with(|settings| settings.archive.sources.analyses = 1).await;
    let text = pom(&[log4j()]);
    let all = (0..6).map(|_| files(&scanner, ONE, "pom.xml", text.clone().into_bytes()));
    let answers = futures_util::future::join_all(all).await;
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    // With no time to wait a place is only had at once.
    let scanner = spawn_scanner_with(|settings| {
        settings.archive.sources.analyses = 1;
        settings.archive.sources.wait_seconds = 0;
    })
    .await;
    let one =
        |at: u32| format!("<dependency><groupId>x</groupId><artifactId>a{at}</artifactId><version>1</version></dependency>");
    let many: Vec<String> = (0..15_000).map(one).collect();
    let big = text.replace("<dependencies>", &format!("<dependencies>{}", many.concat()));
    let all = (0..8).map(|_| refused(&scanner, ONE, big.clone().into_bytes()));
    let answers = futures_util::future::join_all(all).await;
    let busy: Vec<_> = answers.into_iter().filter(|(status, _)| *status != StatusCode::OK).collect();
    assert!(!busy.is_empty());
    for answer in busy {
        assert_refused(answer, 429, 4290);
    }
}
