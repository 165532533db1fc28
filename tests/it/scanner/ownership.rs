//! Domain ownership over sockets: the content, every way to prove a target, every way not to, and the gate before tasks.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cardea::config::scanner::Scanner as Settings;
use cardea::contract::domains::FILE_NAMES;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::dns::{NameServer, Record};
use crate::support::jar;
use crate::support::scanner::{
    ACME, GLOBEX, TestScanner, assert_refused, open, spawn_scanner_with, spawn_scanner_with_manual_clock_and,
};
use crate::support::target::{Authority, Reply, Target, entry, page, redirect, self_signed, status};

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const VERIFY: &str = "/api/v1/domain-ownership/verify";

/// What a target shows where, and its TXT records; changed while it runs.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Content>>);

#[derive(Clone, Default)]
struct Content {
    hash: Option<String>,
    second: Option<String>,
    records: Vec<String>,
}

impl Shown {
    fn set(&self, change: impl FnOnce(&mut Content)) {
        change(&mut self.0.lock().unwrap());
    }

    fn file(&self, path: &str) -> Option<String> {
        let content = self.0.lock().unwrap();
        match path.strip_prefix("/.well-known/") {
            Some(name) if name == FILE_NAMES[0] => content.hash.clone(),
            Some(name) if name == FILE_NAMES[1] => content.second.clone(),
            _ => None,
        }
    }

    fn records(&self) -> Vec<Record> {
        let content = self.0.lock().unwrap();
        content.records.iter().cloned().map(Record::Text).chain([Record::Address(HERE)]).collect()
    }
}

/// A target named `shop.example`, and a service that may connect to it and nothing else.
struct Bench {
    scanner: TestScanner,
    target: Target,
    url: String,
    shown: Shown,
}

impl Bench {
    async fn start(change: impl FnOnce(&mut Settings)) -> Self {
        let shown = Shown::default();
        let files = shown.clone();
        let target = Target::start(move |path| files.file(path).map_or_else(|| status("404 Not Found"), |text| page(&text)));
        Self::around(target.await, shown, change).await
    }

    async fn around(target: Target, shown: Shown, change: impl FnOnce(&mut Settings)) -> Self {
        let records = shown.clone();
        let names = NameServer::start(move |name, _| (!name.starts_with("nobody.")).then(|| records.records())).await;
        let scanner = spawn_scanner_with_manual_clock_and(|settings| {
            settings.ownership.required = true;
            settings.outbound.name_servers = vec![names.address];
            open(settings, &[target.entry()]);
            change(settings);
        })
        .await;
        let url = format!("http://shop.example:{}/app?x=1", target.address.port());
        Self { scanner, target, url, shown }
    }

    /// A server that answers the file in a way of its own.
    async fn answering(reply: impl Fn(&str) -> Reply + Send + Sync + 'static, change: impl FnOnce(&mut Settings)) -> Self {
        Self::around(Target::start(reply).await, Shown::default(), change).await
    }

    async fn content(&self, bearer: &str) -> String {
        let (status, body) = self.scanner.get(bearer, "/api/v1/domain-ownership/random-content").await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body["content"].as_str().unwrap().to_owned()
    }

    async fn verify(&self, bearer: &str, url: &str, content: &str) -> (StatusCode, Value) {
        self.scanner.post(bearer, VERIFY, json!({"url": url, "content": content})).await
    }

    /// Nothing was found, and these words are in what is said about it.
    async fn is_missing(&self, content: &str, words: &str) {
        let answer = self.verify(ACME, &self.url, content).await;
        let message = answer.1["message"].as_str().unwrap_or_default().to_owned();
        assert_refused(answer, 400, 4002);
        assert!(message.contains(words), "{words:?} is not in {message:?}");
        assert!(message.contains("/.well-known/hash.txt, open to everybody"), "{message}");
        assert!(message.ends_with("then verify again."), "{message}");
    }

    /// A create with this target.
    async fn create(&self, bearer: &str, field: &str, url: &str) -> (StatusCode, Value) {
        let hash = self.scanner.upload(bearer, "a.jar", jar::library("g", "a", "1")).await;
        let body = json!({"projectName": format!("{field} {url}"), "lang": "JAVA", "primarySourceCode": hash, field: url});
        self.scanner.post(bearer, "/api/v2/tasks", body).await
    }

    async fn is_open(&self, url: &str) -> bool {
        match self.create(ACME, "sandboxTargetServiceUrl", url).await {
            (StatusCode::OK, _) => true,
            refused => {
                assert_refused(refused, 400, 4002);
                false
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_is_the_accounts_own_and_stays_for_three_hours() {
    let bench = Bench::start(|_| {}).await;
    let (status, body) = bench.scanner.get(ACME, "/api/v1/domain-ownership/random-content").await;
    assert_eq!((status, &body["fileName"]), (StatusCode::OK, &json!("hash.txt")));
    assert_eq!(body["expiredAt"], "2026-06-01T15:00:00Z");
    let first = body["content"].as_str().unwrap().to_owned();
    assert!(first.len() == 64 && first.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)), "{first}");
    assert_ne!(bench.content(GLOBEX).await, first);
    bench.scanner.clock.advance(Duration::from_secs(3 * 3600 - 1));
    assert_eq!(bench.content(ACME).await, first);
    bench.scanner.clock.advance(Duration::from_secs(1));
    bench.shown.set(|content| content.hash = Some(first.clone()));
    assert_refused(bench.verify(ACME, &bench.url, &first).await, 400, 4000);
    assert_ne!(bench.content(ACME).await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn either_file_proves_host_and_port_and_opens_the_way_for_tasks() {
    for name in FILE_NAMES {
        let bench = Bench::start(|_| {}).await;
        let content = bench.content(ACME).await;
        assert!(!bench.is_open(&bench.url).await);
        let file = format!("\u{20}\r\n{content}\n");
        bench.shown.set(|shown| *(if name == "hash.txt" { &mut shown.hash } else { &mut shown.second }) = Some(file));
        assert_eq!(bench.verify(ACME, &bench.url, &content).await.0, StatusCode::OK);
        assert!(bench.is_open(&bench.url).await);
        let port = bench.target.address.port();
        assert!(bench.is_open(&format!("https://SHOP.example.:{port}/other")).await);
        assert!(!bench.is_open("http://shop.example/").await, "another port");
        assert!(!bench.is_open(&format!("http://www.shop.example:{port}/")).await, "another host");
        let other = bench.create(GLOBEX, "sandboxTargetServiceUrl", &bench.url).await;
        assert_refused(other, 400, 4002);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_txt_record_proves_the_host_on_every_port() {
    for prefix in ["", "hash="] {
        let bench = Bench::start(|_| {}).await;
        let content = bench.content(ACME).await;
        bench.shown.set(|shown| shown.records = vec!["v=spf1 -all".to_owned(), "hash=".to_owned() + &"0".repeat(64)]);
        bench.is_missing(&content, "no TXT record of shop.example holds it").await;
        bench.shown.set(|shown| shown.records.push(format!("{prefix}{content}")));
        assert_eq!(bench.verify(ACME, &bench.url, &content).await.0, StatusCode::OK);
        assert!(bench.is_open(&bench.url).await && bench.is_open("https://shop.example/").await);
        assert!(!bench.is_open("https://www.shop.example/").await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_holds_for_thirty_days_and_over_a_restart() {
    let bench = Bench::start(|_| {}).await;
    let content = bench.content(ACME).await;
    bench.shown.set(|shown| shown.hash = Some(content.clone()));
    assert_eq!(bench.verify(ACME, &bench.url, &content).await.0, StatusCode::OK);
    let Bench { scanner, target, url, shown } = bench;
    let scanner = scanner.restart(|settings| settings.ownership.required = true).await;
    let bench = Bench { scanner, target, url, shown };
    assert_eq!(bench.content(ACME).await, content);
    bench.scanner.clock.advance(Duration::from_secs(30 * 86_400 - 1));
    assert!(bench.is_open(&bench.url).await);
    bench.scanner.clock.advance(Duration::from_secs(1));
    assert!(!bench.is_open(&bench.url).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_of_another_account_or_of_nobody_proves_nothing() {
    let bench = Bench::start(|_| {}).await;
    let foreign = bench.content(GLOBEX).await;
    bench.shown.set(|shown| shown.hash = Some(foreign.clone()));
    for content in [foreign.as_str(), &"0".repeat(64), ""] {
        let answer = bench.verify(ACME, &bench.url, content).await;
        assert!(answer.1["message"].as_str().unwrap().contains("Get a new one"), "{}", answer.1);
        assert_refused(answer, 400, 4000);
    }
    assert_eq!(bench.target.connections(), 0, "the target was asked for nothing");
    bench.content(ACME).await;
    assert_refused(bench.verify(ACME, &bench.url, &foreign).await, 400, 4000);
    assert_eq!(bench.verify(GLOBEX, &bench.url, &foreign).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_the_content_is_told() {
    let bench = Bench::start(|_| {}).await;
    let content = bench.content(ACME).await;
    bench.is_missing(&content, "hash.txt answered 404 Not Found; no TXT record of shop.example holds it").await;
    bench.shown.set(|shown| shown.hash = Some("something".to_owned()));
    bench.is_missing(&content, "hash.txt holds something else").await;
    bench.shown.set(|shown| shown.hash = Some(format!("<p>{content}</p>")));
    bench.is_missing(&content, "hash.txt holds something else").await;
    // The right content with so much behind it that it is not read to the end.
    bench.shown.set(|shown| shown.hash = Some(format!("{content}{}", " ".repeat(5000))));
    bench.is_missing(&content, "hash.txt is larger than 4096 bytes").await;
    assert!(!bench.is_open(&bench.url).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_on_the_same_host_only() {
    let other = Target::start(|_| page("anything")).await;
    let away = format!("http://other.example:{}/", other.address.port());
    let content = Arc::new(Mutex::new(String::new()));
    let (held, port) = (Arc::clone(&content), other.address.port());
    let (elsewhere, allowed) = (away.clone(), entry(SocketAddr::new(HERE, port)));
    let leaving = Bench::answering(move |_| redirect(&elsewhere), move |settings| open(settings, &[allowed])).await;
    let given = leaving.content(ACME).await;
    leaving.is_missing(&given, "hash.txt redirects to another host").await;
    let bench = Bench::answering(
        move |path| match path {
            "/.well-known/hash.txt" => redirect("/1"),
            "/1" => redirect("/2"),
            "/2" => redirect("/3"),
            "/3" => page(&held.lock().unwrap()),
            _ => redirect(&away),
        },
        |settings| open(settings, &[entry(SocketAddr::new(HERE, port))]),
    )
    .await;
    let given = bench.content(ACME).await;
    bench.is_missing(&given, "hash.txt holds something else").await;
    assert_eq!(other.connections(), 0);
    given.clone_into(&mut content.lock().unwrap());
    assert_eq!(bench.verify(ACME, &bench.url, &given).await.0, StatusCode::OK);

    let endless = Bench::answering(|path| redirect(&format!("{path}x")), |_| {}).await;
    let given = endless.content(ACME).await;
    endless.is_missing(&given, "hash.txt redirects more than 3 times").await;
    assert_eq!(endless.target.connections(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_address_is_not_asked() {
    let closed = Target::start(|_| page("inside")).await;
    let bench = Bench::start(|_| {}).await;
    let content = bench.content(ACME).await;
    let nowhere = "the name leads to no address that is open to this service; no TXT record";
    for (host, words) in [
        ("127.0.0.1", "this address is not open to this service"),
        ("shop.example", nowhere),
        ("nobody.shop.example", nowhere),
        ("[::ffff:127.0.0.1]", "this address is not open to this service"),
        ("10.0.0.1", "this address is not open to this service"),
    ] {
        let url = format!("http://{host}:{}/", closed.address.port());
        let answer = bench.verify(ACME, &url, &content).await;
        assert!(answer.1["message"].as_str().unwrap().contains(words), "{}", answer.1);
        assert_refused(answer, 400, 4002);
    }
    assert_eq!(closed.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_target_is_given_up() {
    let bench = Bench::answering(|_| Reply::Stall(""), |settings| settings.ownership.check_seconds = 1).await;
    let content = bench.content(ACME).await;
    bench.is_missing(&content, "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_not_valid_proves_nothing() {
    let authority = Authority::new();
    for (server, is_valid) in [(self_signed("shop.example"), false), (authority.server("shop.example", 2020..4000), true)] {
        let shown = Shown::default();
        let files = shown.clone();
        let target = Target::start_tls(server, move |path| page(&files.file(path).unwrap_or_default())).await;
        let url = format!("https://shop.example:{}/", target.address.port());
        let change = |settings: &mut Settings| settings.outbound.extra_roots_file = Some(authority.file());
        let bench = Bench { url, ..Bench::around(target, shown, change).await };
        let content = bench.content(ACME).await;
        bench.shown.set(|shown| shown.hash = Some(content.clone()));
        if is_valid {
            assert_eq!(bench.verify(ACME, &bench.url, &content).await.0, StatusCode::OK);
        } else {
            bench.is_missing(&content, "its certificate is not valid: it is self-signed").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_target_is_400() {
    let bench = Bench::start(|_| {}).await;
    let content = bench.content(ACME).await;
    for url in ["", "shop.example", "ftp://shop.example/", "http://user:word@shop.example/", "https://"] {
        assert_refused(bench.verify(ACME, url, &content).await, 400, 4000);
    }
    assert_refused(bench.scanner.post(ACME, VERIFY, json!({"url": "https://shop.example/"})).await, 400, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_so_many_checks_a_minute() {
    let bench = Bench::start(|settings| settings.ownership.checks_per_minute = 2).await;
    let content = bench.content(ACME).await;
    for _ in 0..2 {
        assert_refused(bench.verify(ACME, &bench.url, &content).await, 400, 4002);
    }
    let request = bench.scanner.request(Method::POST, VERIFY).bearer_auth(ACME);
    let refused = request.json(&json!({"url": bench.url, "content": content})).send().await.unwrap();
    assert_eq!((refused.status(), &refused.headers()["retry-after"]), (StatusCode::TOO_MANY_REQUESTS, &"60".parse().unwrap()));
    bench.scanner.clock.advance(Duration::from_mins(1));
    assert_refused(bench.verify(ACME, &bench.url, &content).await, 400, 4002);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_says_what_to_do_and_shows_no_password() {
    let bench = Bench::start(|_| {}).await;
    let (status, body) = bench.create(ACME, "sandboxHomePageUrl", "https://user:hunter-secret@shop.example:8443/login").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let message = body["message"].as_str().unwrap();
    assert!(message.contains("shop.example:8443 belongs") && message.contains("random-content"), "{message}");
    assert!(!body.to_string().contains("hunter-secret"));
    assert_refused((status, body), 400, 4002);
    // Without a target there is nothing to prove.
    let hash = bench.scanner.upload(ACME, "b.jar", jar::library("g", "b", "1")).await;
    bench.scanner.create_task(ACME, "no target", &hash).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_of_a_create_has_to_be_proved() {
    let bench = Bench::start(|_| {}).await;
    let content = bench.content(ACME).await;
    bench.shown.set(|shown| shown.hash = Some(content.clone()));
    assert_eq!(bench.verify(ACME, &bench.url, &content).await.0, StatusCode::OK);
    let hash = bench.scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let create = async |home: &str, target: &str| {
        let body = json!({
            "projectName": "Shop", "lang": "JAVA", "primarySourceCode": hash,
            "sandboxHomePageUrl": home, "sandboxTargetServiceUrl": target,
        });
        bench.scanner.post(ACME, "/api/v2/tasks", body).await
    };
    assert_eq!(create(&bench.url, &bench.url).await.0, StatusCode::OK);
    assert_refused(create("https://victim.example/", &bench.url).await, 400, 4002);
    assert_refused(create(&bench.url, "https://other.example/").await, 400, 4002);
    let body = json!({
        "projectName": "Shop", "lang": "JAVA", "primarySourceCode": hash, "sandboxTargetServiceUrl": bench.url,
        "primarySourceCodes": [{"sourceCode": hash, "sandboxTargetServiceUrl": "https://other.example/"}],
    });
    let (status, group) = bench.scanner.post(ACME, "/api/v2/tasks/create-group", body).await;
    assert_eq!((status, group["taskIds"].as_array().unwrap().len()), (StatusCode::OK, 1), "{group}");
    assert_eq!((&group["failures"][0]["index"], &group["failures"][0]["errCode"]), (&json!(1), &json!(4002)), "{group}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_can_be_left_open() {
    let scanner = spawn_scanner_with(|settings| settings.ownership.required = false).await;
    let hash = scanner.upload(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let body = json!({
        "projectName": "Shop", "lang": "JAVA", "primarySourceCode": hash, "sandboxTargetServiceUrl": "https://shop.example/",
    });
    assert_eq!(scanner.post(ACME, "/api/v2/tasks", body).await.0, StatusCode::OK);
}
