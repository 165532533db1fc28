//! What operators see: metrics, whether a gateway lives, whether it is ready, and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use reqwest::Method;

use crate::support::client::{Answer, Browser, Manners};
use crate::support::eventually;
use crate::support::long_way::LongWay;
use crate::support::redis::{RedisServer, free_port};
use crate::support::replicas::{Replicas, Setup};

/// A gateway with an operations listener, and where that is.
async fn operated(redis: bool, extra: &str) -> (Replicas, String) {
    let (setup, operations) = with(extra);
    let replicas = if redis { Replicas::on_redis_with(1, setup).await } else { Replicas::embedded_with(setup).await };
    (replicas, operations)
}

/// The same on a Redis that is there already.
async fn operated_at(port: u16, extra: &str) -> (Replicas, String) {
    let (setup, operations) = with(extra);
    (Replicas::at_redis(RedisServer::elsewhere(format!("redis://127.0.0.1:{port}")), 1, setup).await, operations)
}

/// Settings with further lines of `[gateway.operations]`, and where the listener is.
fn with(lines: &str) -> (Setup, String) {
    let port = free_port();
    let extra = format!("[gateway.operations]\nlisten = \"127.0.0.1:{port}\"\n{lines}");
    (Setup { extra, ..Setup::default() }, format!("http://127.0.0.1:{port}"))
}

/// Asks as a program does.
async fn ask(url: &str) -> Answer {
    ask_as(Method::GET, url, &Manners::default()).await
}

async fn ask_as(method: Method, url: &str, manners: &Manners) -> Answer {
    Browser::new().send(method, url, manners, |request| request).await
}

/// The value of a line of the page, by name and labels.
pub(crate) fn value(page: &str, series: &str) -> Option<f64> {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[tokio::test]
async fn metrics_count_answers_by_route_and_name_nobody() {
    let (replicas, operations) = operated(false, "").await;
    let mut browser = replicas.signed_in().await;
    let portal = &replicas.all[0].url;
    for path in ["/tasks/4f/findings", "/s/abcdefghijklmnop", "/o/abcdefghijklmnop", "/nowhere/secret-word"] {
        browser.get(&format!("{portal}{path}")).await;
    }
    browser.send("BREW".parse().unwrap(), &format!("{portal}/tasks"), &Browser::own_manners(portal), |request| request).await;
    let answer = ask(&format!("{operations}/metrics")).await;
    let page = answer.text();
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "text/plain; version=0.0.4; charset=utf-8"));
    let requests = |route: &str, method: &str| {
        let start = format!("cardea_http_requests_total{{route=\"{route}\",method=\"{method}\",");
        page.lines().filter(|line| line.starts_with(&start)).count()
    };
    for (route, method) in [
        ("/auth/callback", "GET"),
        ("/tasks/{task}/findings", "GET"),
        ("/s/{share}", "GET"),
        ("/o/{share}", "GET"),
        ("none", "GET"),
        ("/tasks", "other"),
    ] {
        assert_eq!(requests(route, method), 1, "{method} {route}: {page}");
    }
    let timed = "cardea_http_request_seconds_count{route=\"/auth/callback\",method=\"GET\"}";
    assert_eq!(value(&page, timed), Some(1.0), "{page}");
    assert_eq!(value(&page, "cardea_store_unavailable_seconds"), Some(0.0));
    assert!(value(&page, "process_resident_memory_bytes").unwrap() > 1e6);
    assert!(page.contains(&format!("cardea_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"))));
    let cookie = browser.cookie("localhost", "cardea").unwrap();
    // Whose service fails is for the operator, who has named the tenants.
    let page: String = page.lines().filter(|line| !line.starts_with("cardea_breaker_state{tenant=")).collect();
    for word in ["acme", "globex", "localhost", "Dora", "secret-word", "abcdefghijklmnop", "4f", "BREW", "127.0.0", &cookie] {
        assert!(!page.contains(word), "{word} is on the page: {page}");
    }
}

#[tokio::test]
async fn the_two_listeners_do_not_show_what_belongs_to_the_other() {
    let (replicas, operations) = operated(false, "").await;
    let portal = &replicas.all[0].url;
    assert_eq!(Browser::new().get(&format!("{portal}/metrics")).await.status, 404);
    for probe in ["/healthz", "/livez", "/readyz"] {
        let answer = ask(&format!("{portal}{probe}")).await;
        assert_eq!(answer.status, 200);
        assert!(answer.text().len() < 10, "the portal says whether, and no more: {}", answer.text());
    }
    for path in ["/", "/tasks", "/auth/login", "/assets/portal.css", "/metrics/"] {
        assert_eq!(ask(&format!("{operations}{path}")).await.status, 404, "{path}");
    }
    let posted = ask_as(Method::POST, &format!("{operations}/metrics"), &Manners::default()).await;
    assert_eq!(posted.status, 405);
}

#[tokio::test]
async fn no_page_of_a_browser_reads_what_operators_see() {
    let (_replicas, operations) = operated(false, "").await;
    let of = |fetch_site, origin: Option<&str>| Manners { fetch_site, origin: origin.map(str::to_owned), ..Manners::default() };
    let pages = [
        of(Some("cross-site"), None),
        of(Some("same-origin"), None),
        of(None, Some("http://evil.example")),
        of(None, Some("null")),
    ];
    for manners in pages {
        let answer = ask_as(Method::GET, &format!("{operations}/metrics"), &manners).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (403, ""));
        assert_eq!((answer.header("x-content-type-options"), answer.header("cache-control")), ("nosniff", "no-store"));
        assert!(answer.header("access-control-allow-origin").is_empty());
    }
    let typed = ask_as(Method::GET, &format!("{operations}/readyz"), &of(Some("none"), None)).await;
    assert_eq!(typed.status, 200, "an operator may type the address");
}

#[tokio::test]
async fn without_the_store_a_gateway_lives_and_says_what_is_missing() {
    let (mut replicas, operations) = operated(true, "").await;
    let portal = replicas.all[0].url.clone();
    let state = async || ask(&format!("{operations}/readyz")).await;
    let well = state().await;
    assert_eq!((well.status.as_u16(), well.text().trim()), (200, r#"{"status":"ready","degraded":[],"audit_waiting":0}"#));
    replicas.redis.as_mut().unwrap().kill();
    let unwell = state().await;
    assert_eq!(unwell.status, 503, "{}", unwell.text());
    let told: serde_json::Value = serde_json::from_slice(&unwell.bytes).unwrap();
    assert_eq!(
        (told["status"].as_str(), told["degraded"][0].as_str()),
        (Some("not_ready"), Some("the session store does not answer"))
    );
    let public = ask(&format!("{portal}/readyz")).await;
    assert_eq!((public.status.as_u16(), public.header("retry-after")), (503, "5"));
    assert!(!public.text().contains("store"), "{}", public.text());
    for live in [format!("{operations}/livez"), format!("{portal}/livez"), format!("{portal}/healthz")] {
        assert_eq!(ask(&live).await.status, 200, "{live}");
    }
    let away = async || value(&ask(&format!("{operations}/metrics")).await.text(), "cardea_store_unavailable_seconds");
    eventually("the time without a store", async || away().await.filter(|&seconds| seconds > 0.0)).await;
    replicas.redis.as_mut().unwrap().resume().await;
    eventually("a ready gateway", async || (state().await.status == 200).then_some(())).await;
    eventually("no time without a store", async || away().await.filter(|&seconds| seconds == 0.0)).await;
}

#[tokio::test]
async fn a_store_may_take_as_long_to_answer_as_is_set() {
    for (lines, status) in [("store_answers_ms = 60\n", 503), ("", 200)] {
        let redis = RedisServer::start().await;
        let way = LongWay::to(redis.port).await;
        let (_replicas, operations) = operated_at(way.port, lines).await;
        let is_ready = async || (ask(&format!("{operations}/readyz")).await.status == 200).then_some(());
        eventually("a ready gateway", is_ready).await;
        way.takes(Duration::from_millis(500));
        assert_eq!(ask(&format!("{operations}/readyz")).await.status, status, "{lines}");
        way.takes(Duration::ZERO);
        eventually("a ready gateway", is_ready).await;
    }
}

#[tokio::test]
async fn the_store_is_watched_as_often_as_is_set() {
    let mut redis = RedisServer::start().await;
    let (_seldom, seldom) = operated_at(redis.port, "watch_ms = 60000\n").await;
    let (_usual, usual) = operated_at(redis.port, "").await;
    let away = async |operations: &str| {
        value(&ask(&format!("{operations}/metrics")).await.text(), "cardea_store_unavailable_seconds").unwrap()
    };
    assert!(away(&seldom).await == 0.0 && away(&usual).await == 0.0);
    // The first look is at the start, which may take its time.
    tokio::time::sleep(Duration::from_millis(800)).await;
    redis.kill();
    eventually("the time without a store", async || (away(&usual).await > 0.0).then_some(())).await;
    assert!(away(&seldom).await == 0.0, "it has not looked again yet");
}

#[tokio::test]
async fn a_gateway_lives_and_is_ready_without_provider_and_service() {
    let port = free_port();
    let identity = "browser_auth_url = \"http://127.0.0.1:1\"\n".to_owned();
    let extra = format!("[gateway.operations]\nlisten = \"127.0.0.1:{port}\"\n");
    let replicas = Replicas::embedded_with(Setup { extra, identity, ..Setup::default() }).await;
    replicas.service.desk().status = Some(503);
    for probe in ["livez", "readyz"] {
        assert_eq!(ask(&format!("http://127.0.0.1:{port}/{probe}")).await.status, 200, "{probe}");
    }
}

#[tokio::test]
async fn a_gateway_that_is_asked_to_end_is_not_ready_while_it_finishes() {
    let (replicas, operations) = operated(false, "").await;
    let browser = replicas.signed_in().await;
    replicas.service.desk().latency = Duration::from_secs(4);
    let (mut tab, url) = (browser.clone(), format!("{}/tasks", replicas.all[0].url));
    let page = async { tab.get(&url).await.status.as_u16() };
    let watched = async {
        eventually("a request that runs", async || (replicas.service.desk().waiting > 0).then_some(())).await;
        replicas.all[0].terminate();
        let told = eventually("an ending gateway", async || {
            let answer = ask(&format!("{operations}/readyz")).await;
            (answer.status == 503).then(|| answer.text())
        })
        .await;
        assert!(told.contains("the process is ending"), "{told}");
        assert_eq!(ask(&format!("{operations}/livez")).await.status, 200);
        assert!(replicas.service.desk().waiting > 0, "it says so while it still works");
    };
    let (status, ()) = futures_util::future::join(page, watched).await;
    assert_eq!(status, 200, "what was running is finished");
}

/// Rows of the table in `src/ARCHITECTURE.md`: name, kind, labels.
fn documented() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## Metrics\n").nth(1).expect("a section about metrics").split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")).map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let labels = cells[2].split('`').skip(1).step_by(2).filter_map(|label| label.split('=').next().map(str::to_owned));
        (cells[0].trim_end_matches('`').to_owned(), (cells[1].to_owned(), labels.collect()))
    });
    rows.collect()
}

/// Of the same table: each value of a label whose values are a closed list, as it stands on the page.
fn closed() -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## Metrics\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut all = Vec::new();
    for row in section.lines().filter_map(|line| line.strip_prefix("| `")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        for (label, values) in cells[2].split('`').skip(1).step_by(2).filter_map(|label| label.split_once('=')) {
            let name = cells[0].trim_end_matches('`');
            all.extend(values.split(',').map(|value| (name.to_owned(), format!("{label}=\"{value}\""))));
        }
    }
    all
}

/// Metrics that the program measures, by name.
fn measured() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in walkdir::WalkDir::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let entry = entry.unwrap();
        if entry.path().extension().is_none_or(|ending| ending != "rs") || entry.path().ends_with("operations/catalog.rs") {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        for macro_name in ["counter!(", "gauge!(", "histogram!("] {
            let found = text.split(macro_name).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
            names.extend(found.map(str::to_owned));
        }
    }
    names
}

#[tokio::test]
async fn the_table_of_metrics_the_page_and_the_program_agree() {
    let (replicas, operations) = operated(false, "").await;
    replicas.signed_in().await;
    let documented = documented();
    let page = ask(&format!("{operations}/metrics")).await.text();
    let mut shown = BTreeMap::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let of_it = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', '_', ' ']));
        let labels: BTreeSet<String> = page
            .lines()
            .filter(of_it)
            .filter_map(|line| line.split_once('{')?.1.rsplit_once('}').map(|(labels, _)| labels))
            .flat_map(|labels| labels.split("\",").filter_map(|pair| pair.split('=').next().map(str::to_owned)))
            .filter(|label| label != "le")
            .collect();
        assert!(page.contains(&format!("# HELP {name} ")), "{name} is not described on the page");
        shown.insert(name.to_owned(), (kind.to_owned(), labels));
    }
    assert_eq!(shown, documented, "left: the page, right: src/ARCHITECTURE.md");
    let undocumented: Vec<String> = measured().into_iter().filter(|name| !documented.contains_key(name)).collect();
    assert!(undocumented.is_empty(), "measured, and not in the table: {undocumented:?}");
    let unmeasured: Vec<&String> = documented.keys().filter(|name| !measured().contains(*name)).collect();
    assert!(unmeasured.is_empty(), "in the table, and measured nowhere: {unmeasured:?}");
    // Values of a label that are a closed list start at zero, so that their first event shows as a change.
    for (name, value) in closed() {
        let is_there = page.lines().any(|line| line.starts_with(&format!("{name}{{")) && line.contains(&value));
        assert!(is_there, "{name} does not begin with {value}");
    }
    let closed = page.lines().filter(|line| line.starts_with("cardea_csrf_block_total{signal=")).count();
    assert_eq!(closed, 5, "{page}");
}

#[tokio::test]
async fn an_operations_listener_that_cannot_listen_ends_the_start_with_its_address() {
    let taken = RedisServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", taken.port);
    let refused = crate::support::demo::cardea()
        .args(["demo", "--port", "0", "--data"])
        .arg(folder.path())
        .env("CARDEA__GATEWAY__OPERATIONS__LISTEN", &listen)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains(&format!("cannot listen on {listen}")), "{words}");
}

#[tokio::test]
async fn uses_of_both_kinds_of_keys_are_counted_by_outcome() {
    let (replicas, operations) = operated(false, "").await;
    let portal = replicas.all[0].url.clone();
    let sk = "server-key-of-the-metrics-0123";
    replicas.service.desk().keys = vec![sk.to_owned()];
    let mut dora = replicas.signed_in().await;
    dora.add_server_key(&portal, "first", sk).await;
    let good = dora.issue_api_key(&portal, &[]).await;
    let elsewhere = dora.issue_api_key(&portal, &[("networks", "203.0.113.0/24")]).await;
    let page = ask(&format!("{operations}/metrics")).await.text();
    let before = value(&page, "cardea_sk_use_total").unwrap_or(0.0);
    for (key, times, status) in [(good.as_str(), 3, 200), (&elsewhere, 2, 403), ("cdk_unknown", 1, 401)] {
        for _ in 0..times {
            let url = format!("{portal}/scanner/api/v1/domain-ownership/random-content");
            let answer = Browser::new().send(Method::GET, &url, &Manners::default(), |request| request.bearer_auth(key)).await;
            assert_eq!(answer.status, status, "{}", answer.text());
        }
    }
    let page = ask(&format!("{operations}/metrics")).await.text();
    let counted = |outcome: &str| value(&page, &format!("cardea_api_key_total{{outcome=\"{outcome}\"}}"));
    assert_eq!((counted("accepted"), counted("network"), counted("unknown")), (Some(3.0), Some(2.0), Some(1.0)), "{page}");
    assert_eq!(value(&page, "cardea_sk_use_total").map(|now| now - before), Some(3.0), "{page}");
    assert!(!page.contains(&good) && !page.contains(sk));
}
