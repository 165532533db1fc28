//! Pages of a task with very many components: what a page costs. Measures, so it is ignored; correctness stands beside the
//! operations themselves.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::jar::archive;
use crate::support::scanner::{ACME, TestScanner, spawn_scanner_with};

const COMPONENTS: usize = 200_000;

/// A source archive with this many locked packages.
fn sources() -> Vec<u8> {
    let one = |at| format!("\"node_modules/package-{at:06}\":{{\"version\":\"1.{}.{}\"}}", at % 97, at % 13);
    let all: Vec<String> = (0..COMPONENTS).map(one).collect();
    archive(&[("web/package-lock.json", format!("{{\"lockfileVersion\":3,\"packages\":{{{}}}}}", all.join(",")).as_bytes())])
}

async fn page(scanner: &TestScanner, task: &str, body: Value) -> (Value, Duration) {
    let begun = Instant::now();
    let (status, page) = scanner.post(ACME, &format!("/api/v1/tasks/{task}/components/search"), body).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(page["data"].as_array().unwrap().len() <= 200);
    (page, begun.elapsed())
}

/// The largest memory this process ever had, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures; run it alone: cargo test --test it large_lists -- --ignored --nocapture"]
async fn pages_of_two_hundred_thousand_components() {
    let scanner = spawn_scanner_with(|settings| {
        settings.analysis.answer_bytes = 512 << 20;
        settings.archive.sources.packages = COMPONENTS as u64;
    })
    .await;
    let begun = Instant::now();
    let task = scanner.scanned(ACME, "sources.zip", sources()).await;
    eprintln!("scan and keep: {:?}, peak {} MiB", begun.elapsed(), peak());
    // What keeping them took is over; from here on only pages count.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    for (what, body) in [
        ("first page", json!({"size": 10})),
        ("last page", json!({"size": 200, "page": COMPONENTS / 200 - 1})),
        ("filter", json!({"filters": [{"field": "name", "operator": "LIKE", "value": "package-1999"}]})),
        ("sorted", json!({"sorts": ["severity", "-name"]})),
        ("sorted, in the middle", json!({"sorts": ["-name"], "size": 200, "page": 500})),
    ] {
        let (found, took) = page(&scanner, &task, body).await;
        eprintln!("{what}: {took:?}, total {}, peak {} MiB", found["total"], peak());
    }
    let begun = Instant::now();
    futures_util::future::join_all((0..12).map(|at| page(&scanner, &task, json!({"size": 200, "page": at})))).await;
    eprintln!("12 at once: {:?}, peak {} MiB", begun.elapsed(), peak());
    let sorted = json!({"sorts": ["-severity", "name"], "size": 200});
    let begun = Instant::now();
    futures_util::future::join_all((0..12).map(|_| page(&scanner, &task, sorted.clone()))).await;
    eprintln!("12 sorted at once: {:?}, peak {} MiB", begun.elapsed(), peak());
}
