//! Archives made to do harm, through the running service: it stays up, and the task says what was left out.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::support::jar;
use crate::support::scanner::{ACME, TestScanner, answer, assert_refused, form, spawn_scanner, spawn_scanner_with};

async fn ended(scanner: &TestScanner, name: &str, bytes: Vec<u8>) -> Value {
    let sha256 = scanner.upload(ACME, name, bytes).await;
    let id = scanner.create_task(ACME, name, &sha256).await;
    scanner.ended(ACME, &id).await
}

#[track_caller]
fn assert_partial(task: &Value, part: &str) {
    assert_eq!(task["taskStatus"], "SUCCESS", "{task}");
    let notes = task["summary"]["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains(part)), "{part}: {notes:?}");
    assert!(task["resultsStat"]["total"].as_u64().unwrap() > 0, "what was sound is found: {task}");
}

/// A vulnerable library beside something hostile: what is sound has to be found.
fn beside(name: &str, bytes: &[u8]) -> Vec<u8> {
    let library = jar::library("org.apache.logging.log4j", "log4j-core", "2.14.1");
    jar::archive(&[("WEB-INF/lib/log4j-core-2.14.1.jar", &library), (name, bytes)])
}

#[tokio::test(flavor = "multi_thread")]
async fn bombs_are_left_out_and_the_rest_is_found() {
    let scanner = spawn_scanner_with(|settings| settings.archive.inflated_bytes = 200 << 20).await;
    let zeros = vec![0_u8; 30 << 20];
    let task = ended(&scanner, "bomb.war", beside("WEB-INF/lib/bomb.jar", &zeros)).await;
    assert_partial(&task, "zip bomb");
    // Sixteen archives in each of sixteen archives, and so on: small on disk, endless inside.
    let mut layer = jar::archive(&[("zeros.jar", zeros.as_slice())]);
    for _ in 0..3 {
        let names: Vec<String> = (0..16).map(|n| format!("lib{n}.jar")).collect();
        let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), layer.as_slice())).collect();
        layer = jar::archive(&entries);
    }
    let task = ended(&scanner, "deep-bomb.war", beside("WEB-INF/lib/bomb.jar", &layer)).await;
    assert_eq!(task["taskStatus"], "SUCCESS", "{task}");
    assert!(!task["summary"]["notes"].as_array().unwrap().is_empty(), "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_archives_inside_each_other_are_read_down_to_the_limit() {
    let scanner = spawn_scanner().await;
    let mut inner = jar::library("org.example", "inside", "1.0");
    for _ in 0..50 {
        inner = jar::archive(&[("inner.jar", &inner)]);
    }
    assert_partial(&ended(&scanner, "deep.war", beside("WEB-INF/lib/deep.jar", &inner)).await, "deeper than 6");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_entries_are_read() {
    let scanner = spawn_scanner().await;
    let names: Vec<String> = (0..100_000).map(|n| format!("com/example/p{}/C{n}.class", n % 977)).collect();
    let library = jar::library("org.apache.logging.log4j", "log4j-core", "2.14.1");
    let mut entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    entries.push(("WEB-INF/lib/log4j-core-2.14.1.jar", &library));
    let task = ended(&scanner, "many.war", jar::archive(&entries)).await;
    assert_eq!(task["taskStatus"], "SUCCESS", "{task}");
    assert!(task["resultsStat"]["total"].as_u64().unwrap() > 0, "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_damaged_and_climbing_archives_end_well() {
    let scanner = spawn_scanner().await;
    let sound = jar::vulnerable_war();
    let cut = ended(&scanner, "cut.war", sound[..sound.len() / 2].to_vec()).await;
    assert_eq!(cut["taskStatus"], "FAILED", "{cut}");
    assert!(cut["errDetail"].as_str().unwrap().contains("Upload it again"), "{cut}");
    assert_partial(&ended(&scanner, "inner-cut.war", beside("WEB-INF/lib/cut.jar", &sound[..sound.len() / 2])).await, "cut.jar");
    let mut wrong = jar::library("org.example", "wrong", "1.0");
    // The checksum in the directory of the archive: 16 bytes behind its signature.
    let at = wrong.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap() + 16;
    wrong[at] ^= 0xff;
    assert_partial(&ended(&scanner, "wrong-crc.war", beside("WEB-INF/lib/wrong.jar", &wrong)).await, "was not read");
    let climbing = jar::archive(&[("../../etc/passwd", b"x".as_slice()), ("/etc/shadow", b"x"), ("C:\\windows\\x", b"x")]);
    assert_partial(&ended(&scanner, "climbing.war", beside("WEB-INF/lib/climbing.jar", &climbing)).await, "point outside");
}

const POM: &str = "/api/v1/sca/static-analyze/mvn";
const POMS: &str = "/api/v1/sca/static-analyze/mvn/zip";
const HEAD: &str = "<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version>";

/// Sends poms; whatever they are, there is an answer in good time, and the service goes on.
async fn composed(scanner: &TestScanner, path: &str, bytes: Vec<u8>) -> (StatusCode, Value) {
    let request = scanner.request(Method::POST, path).bearer_auth(ACME).multipart(form("x", bytes));
    let told = tokio::time::timeout(Duration::from_mins(2), answer(request)).await.expect("an answer");
    let after =
        answer(scanner.request(Method::POST, POM).bearer_auth(ACME).multipart(form("x", format!("{HEAD}</project>").into())))
            .await;
    assert_eq!(after.0, StatusCode::OK, "the service is up: {}", after.1);
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn poms_made_to_grow_to_nest_or_to_go_in_circles_end_well() {
    let scanner = spawn_scanner().await;
    let entity = |level: usize| format!("<!ENTITY a{level} \"{}\">", format!("&a{};", level - 1).repeat(10));
    let entities = (1..10).map(entity).collect::<Vec<_>>().concat();
    let bomb = format!(
        "<!DOCTYPE x [<!ENTITY a0 \"lol\">{entities}<!ENTITY f SYSTEM \"file:///etc/passwd\">]>{HEAD}<properties><x>&a9;</x><y>&f;</y>\
         </properties><dependencies><dependency><groupId>x</groupId><artifactId>y</artifactId><version>${{x}}</version></dependency>\
         </dependencies></project>"
    );
    let double = |at: u32| format!("<p{at}>${{p{}}}${{p{}}}</p{at}>", at - 1, at - 1);
    let doubled = (1..200).map(double).collect::<Vec<_>>().concat();
    let doubling = format!(
        "{HEAD}<properties><p0>x</p0>{doubled}<c>${{d}}</c><d>${{c}}</d></properties><dependencies><dependency><groupId>${{p199}}</groupId>\
         <artifactId>${{c}}</artifactId><version>1</version></dependency></dependencies></project>"
    );
    for pom in [bomb, doubling] {
        let answer = composed(&scanner, POM, pom.into_bytes()).await;
        assert_eq!(answer.0, StatusCode::OK, "{}", answer.1);
    }
    for deep in ["<a>".repeat(600_000), format!("{HEAD}{}", "<build>".repeat(200_000))] {
        let refused = composed(&scanner, POM, deep.into_bytes()).await;
        assert!(refused.1["message"].as_str().unwrap().contains("nested deeper"), "{}", refused.1);
        assert_refused(refused, 400, 4000);
    }
    let zeros = jar::archive(&[("pom.xml", vec![b' '; 40 << 20].as_slice())]);
    assert_refused(composed(&scanner, POMS, zeros).await, 400, 4000);
}

/// A workspace in which every pom inherits all dependencies of its parents: much work for few bytes.
fn multiplying() -> Vec<u8> {
    let dependency =
        |at: u32| format!("<dependency><groupId>x</groupId><artifactId>a{at}</artifactId><version>1</version></dependency>");
    let many = (0..4000).map(dependency).collect::<Vec<_>>().concat();
    let top = format!(
        "<project><groupId>g</groupId><artifactId>p0</artifactId><version>1</version><dependencies>{many}</dependencies></project>"
    );
    let child = |at: usize| {
        let parent = if at <= 30 { at - 1 } else { 30 };
        format!(
            "<project><parent><groupId>g</groupId><artifactId>p{parent}</artifactId><version>1</version><relativePath>../m{parent}\
             </relativePath></parent><artifactId>p{at}</artifactId></project>"
        )
    };
    let mut files = vec![("m0/pom.xml".to_owned(), top)];
    files.extend((1..500).map(|at| (format!("m{at}/pom.xml"), child(at))));
    let entries: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    jar::archive(&entries)
}

#[tokio::test(flavor = "multi_thread")]
async fn poms_that_multiply_end_within_their_time_and_their_memory() {
    let scanner = spawn_scanner_with(|settings| settings.archive.sources.seconds = 2).await;
    let (status, told) = composed(&scanner, POMS, multiplying()).await;
    // A fast machine comes to the end.
    assert!(status == StatusCode::OK || told["message"].as_str().unwrap().contains("longer than 2 s"), "{told}");
    let scanner = spawn_scanner_with(|settings| settings.archive.sources.memory_bytes = 64 << 20).await;
    let refused = composed(&scanner, POMS, multiplying()).await;
    assert!(refused.1["message"].as_str().unwrap().contains("more than 64 MiB of memory"), "{}", refused.1);
    assert_refused(refused, 400, 4000);
}
