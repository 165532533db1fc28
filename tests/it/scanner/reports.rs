//! Reports: that they say everything a scan found, in both languages, whatever the names are.

use std::process::Command;

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::jar;
use crate::support::scanner::{ACME, GLOBEX, TestScanner, assert_refused, spawn_scanner};

const CHINESE: (&str, &str) = ("org.例子", "组件-加密库");
const JAPANESE: (&str, &str) = ("jp.example", "日本語ライブラリ");
const SCRIPT: &str = "<svg onload=alert(1)>";
const SUMMARY: &str = "远程代码执行 <svg onload=alert(1)> #link(\"https://evil.example\")[x] $x$ *bold*";

async fn report(scanner: &TestScanner, task: &str, query: &str, language: &str) -> Response {
    let request = scanner.request(Method::GET, &format!("/api/v2/tasks/{task}/report{query}"));
    request.bearer_auth(ACME).header("x-user-language", language).send().await.unwrap()
}

/// The text of a PDF without white space: where lines break is not the question.
fn text(pdf: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("report.pdf"), folder.path().join("report.txt"));
    std::fs::write(&from, pdf).unwrap();
    let done = Command::new("pdftotext")
        .args(["-enc", "UTF-8"])
        .args([&from, &to])
        .status()
        .expect("pdftotext of poppler-utils is installed");
    assert!(done.success());
    squeezed(&std::fs::read_to_string(to).unwrap())
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{c}').collect()
}

/// An advisory for every version below 9 of a component.
fn advisory(id: &str, cve: &str, (group, artifact): (&str, &str), summary: &str) -> Value {
    json!({
        "schema_version": "1.6.0", "id": id, "aliases": [cve], "modified": "2026-05-01T00:00:00Z", "published": "2026-04-01T00:00:00Z",
        "summary": summary, "details": summary,
        "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
        "affected": [{
            "package": {"ecosystem": "Maven", "name": format!("{group}:{artifact}")},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "9.0"}]}]
        }],
        "references": [{"type": "WEB", "url": "https://example.org/advisory"}, {"type": "WEB", "url": "javascript:alert(1)"}],
        "database_specific": {"severity": "CRITICAL", "cwe_ids": ["CWE-502"]}
    })
}

/// A service with advisories for components of Chinese, Japanese and very long names, and a scanned artifact of them.
async fn scanned() -> (TestScanner, String) {
    let long = "a-component-with-a-name-that-never-ends".repeat(4);
    let folder = tempfile::tempdir().unwrap();
    let components = [CHINESE, JAPANESE, ("com.example", long.as_str())];
    for (component, number) in components.iter().zip(1..) {
        let record = advisory(&format!("GHSA-aaaa-bbbb-000{number}"), &format!("CVE-2026-1000{number}"), *component, SUMMARY);
        std::fs::write(folder.path().join(format!("{number}.json")), record.to_string()).unwrap();
    }
    let scanner = spawn_scanner().await;
    let (data, path) = (scanner.data().to_owned(), folder.path().to_owned());
    let imported = tokio::task::spawn_blocking(move || {
        cardea::scanner::import_advisories(&data, &path, &cardea::platform::clock::Clock::system())
    });
    imported.await.unwrap().unwrap();
    let scanner = scanner.restart(|_| {}).await;
    let libraries: Vec<(String, Vec<u8>)> = components
        .iter()
        .map(|(group, artifact)| (format!("{artifact}-1.5.jar"), jar::library(group, artifact, "1.5")))
        .collect();
    let war = jar::war(&libraries.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect::<Vec<_>>());
    let hash = scanner.upload(ACME, &format!("{SCRIPT}.war"), war).await;
    let task = scanner.create_task(ACME, "<img src=x onerror=alert(1)> 项目 #let x = 1", &hash).await;
    let ended = scanner.ended(ACME, &task).await;
    assert_eq!(ended["taskStatus"], "SUCCESS", "{ended}");
    assert_eq!(ended["resultsStat"]["total"], 3, "{ended}");
    (scanner, task)
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(feature = "pdf")]
async fn the_text_of_a_pdf_has_every_finding_in_full() {
    let (scanner, task) = scanned().await;
    let findings = scanner.findings(ACME, &task).await;
    for language in ["en", "zh"] {
        let answer = report(&scanner, &task, "?type=PDF", language).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "application/pdf");
        assert_eq!(answer.headers()["content-disposition"], format!("attachment; filename=\"report_{task}.pdf\""));
        let pdf = answer.bytes().await.unwrap();
        let text = text(&pdf);
        for row in &findings {
            let version = row["component"]["version"].as_str().unwrap();
            for part in
                [&row["vulId"], &row["cveIds"][0], &row["component"]["name"], &row["component"]["path"], &row["fixedVersion"]]
            {
                assert!(text.contains(&squeezed(part.as_str().unwrap())), "{part} is missing in {language}");
            }
            assert!(text.contains(version));
        }
        for part in [task.as_str(), "<imgsrc=xonerror=alert(1)>项目#letx=1", &squeezed(SUMMARY)] {
            assert!(text.contains(part), "{part} is missing in {language}");
        }
        let heading = if language == "zh" { "安全扫描报告" } else { "Securityscanreport" };
        assert!(text.contains(heading));
        let again = report(&scanner, &task, "?type=pdf", language).await.bytes().await.unwrap();
        assert!(pdf == again, "the same task gives the same bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(feature = "pdf")]
async fn nothing_leaves_the_page_of_a_pdf() {
    let (scanner, task) = scanned().await;
    let pdf = report(&scanner, &task, "", "en").await.bytes().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("report.pdf"), folder.path().join("boxes.html"));
    std::fs::write(&from, &pdf).unwrap();
    assert!(Command::new("pdftotext").arg("-bbox").args([&from, &to]).status().unwrap().success());
    let boxes = std::fs::read_to_string(to).unwrap();
    let edges: Vec<f64> = boxes.split("xMax=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
    assert!(edges.len() > 100);
    // A4 is 595.28 points wide.
    assert!(edges.iter().all(|edge| *edge < 595.0), "{:?}", edges.iter().copied().fold(0.0, f64::max));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_html_report_is_complete_and_nothing_in_it_runs() {
    let (scanner, task) = scanned().await;
    let findings = scanner.findings(ACME, &task).await;
    for (language, heading) in [("en", "Security scan report"), ("zh-CN", "安全扫描报告"), ("fr", "Security scan report")] {
        let answer = report(&scanner, &task, "?type=html", language).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8");
        assert_eq!(answer.headers()["content-disposition"], format!("attachment; filename=\"report_{task}.html\""));
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
        let page = answer.text().await.unwrap();
        assert!(page.contains(heading) && page.trim_end().ends_with("</html>"));
        for row in &findings {
            for part in [&row["vulId"], &row["cveIds"][0], &row["component"]["name"], &row["component"]["version"]] {
                assert!(page.contains(part.as_str().unwrap()), "{part}");
            }
        }
        assert!(
            !page.contains("<script")
                && !page.contains("<svg onload")
                && !page.contains("<img")
                && !page.contains("href=\"javascript:")
        );
        assert!(page.contains("href=\"https://nvd.nist.gov/vuln/detail/CVE-2026-10001\""));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_without_findings_says_why() {
    let scanner = spawn_scanner().await;
    let task = scanner.scanned(ACME, "a.jar", jar::library("com.example.none", "harmless", "1.0")).await;
    let page = report(&scanner, &task, "?type=html", "en").await.text().await.unwrap();
    assert!(page.contains("No published advisory matches"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_cannot_be_is_refused_with_words() {
    let scanner = spawn_scanner().await;
    let text = scanner.upload(ACME, "notes.txt", b"no archive".to_vec()).await;
    let failed = scanner.create_task(ACME, "notes", &text).await;
    scanner.ended(ACME, &failed).await;
    let refused = scanner.get(ACME, &format!("/api/v2/tasks/{failed}/report?type=html")).await;
    assert!(refused.1["message"].as_str().unwrap().contains("FAILED"));
    assert_refused(refused, 400, 4000);
    let task = scanner.scanned(ACME, "a.jar", jar::library("g", "a", "1")).await;
    assert_refused(scanner.get(ACME, &format!("/api/v2/tasks/{task}/report?type=docx")).await, 400, 4000);
    assert_refused(scanner.get(GLOBEX, &format!("/api/v2/tasks/{task}/report?type=html")).await, 404, 4040);
    assert_refused(scanner.get(ACME, "/api/v2/tasks/unknown/report").await, 404, 4040);
}
