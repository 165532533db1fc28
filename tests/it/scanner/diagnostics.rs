//! Network checks against real servers on this machine: each fault ends at its stage, with its words and its hint, and what is
//! closed is never connected to.

use std::net::{IpAddr, SocketAddr};

use cardea::config::scanner::Scanner as Settings;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::dns::{NameServer, Record};
use crate::support::scanner::{
    ACME, GLOBEX, TestScanner, assert_refused, open, spawn_scanner, spawn_scanner_with, spawn_scanner_with_manual_clock_and,
};
use crate::support::target::{Authority, BlackHole, Reply, Target, entry, page, redirect, self_signed, status};
use crate::support::{eventually, spawn};

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// Said of every name that leads to no open address, for whatever reason.
const NOWHERE: &str = "The name leads to no address that is open to this service.";

/// Starts a check.
async fn create(scanner: &TestScanner, url: &str) -> String {
    let (status, body) = scanner.post(ACME, "/api/v1/network-diagnostics", json!({"testUrl": url})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body["id"].as_str().unwrap().to_owned()
}

async fn look(scanner: &TestScanner, id: &str) -> Value {
    let (status, body) = scanner.get(ACME, &format!("/api/v1/network-diagnostics/{id}/next-stage")).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body
}

/// Runs a check to its end. Every answer on the way has what the one before had, and the same number of stages.
async fn check(scanner: &TestScanner, url: &str) -> Value {
    let id = create(scanner, url).await;
    let mut before: Vec<Value> = Vec::new();
    let mut count = None;
    eventually("the end of the check", async || {
        let body = look(scanner, &id).await;
        let stages = body["stages"].as_array().unwrap().clone();
        assert!(stages.starts_with(&before), "{body}");
        before = stages;
        assert_eq!(*count.get_or_insert(body["stageCount"].clone()), body["stageCount"]);
        match body["status"].as_str().unwrap() {
            "FINISHED" => Some(body),
            "IN_PROGRESS" => {
                assert!(body["nextStage"].is_string(), "{body}");
                None
            }
            other => panic!("{other} is no status"),
        }
    })
    .await
}

/// The stage a check ended at, after which nothing comes; all before it have passed.
#[track_caller]
fn failed<'a>(checked: &'a Value, stage: &str, words: &str) -> &'a Value {
    let stages = checked["stages"].as_array().unwrap();
    let (last, passed) = stages.split_last().unwrap();
    assert!(passed.iter().all(|stage| stage["status"] == "PASS"), "{checked:#}");
    assert_eq!((&last["stageName"], &last["status"]), (&json!(stage), &json!("FAIL")), "{checked:#}");
    assert!(last["resultInfo"].as_str().unwrap().contains(words), "{checked:#}");
    assert!(!last["hint"].as_str().unwrap().is_empty(), "{checked:#}");
    assert_eq!(checked["nextStage"], Value::Null);
    last
}

#[track_caller]
fn hints(stage: &Value, words: &str) {
    assert!(stage["hint"].as_str().unwrap().contains(words), "{stage:#}");
}

/// What a stage says, without its times.
fn words(stage: &Value) -> [&Value; 3] {
    [&stage["description"], &stage["resultInfo"], &stage["hint"]]
}

#[track_caller]
fn passed(checked: &Value, count: usize) -> &Vec<Value> {
    let stages = checked["stages"].as_array().unwrap();
    assert!(stages.iter().all(|stage| stage["status"] == "PASS"), "{checked:#}");
    assert_eq!((stages.len(), &checked["stageCount"]), (count, &json!(count)), "{checked:#}");
    stages
}

/// A service that asks this name server and may connect to these.
async fn scanner_for(names: &NameServer, entries: &[String], change: impl FnOnce(&mut Settings)) -> TestScanner {
    spawn_scanner_with(|settings| {
        settings.outbound.name_servers = vec![names.address];
        open(settings, entries);
        change(settings);
    })
    .await
}

/// A check of a server with TLS, which the name `shop.example` leads to.
async fn check_tls(server: rustls::ServerConfig, trusted: &Authority) -> Value {
    let target = Target::start_tls(server, |_| page("hello")).await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner =
        scanner_for(&names, &[target.entry()], |settings| settings.outbound.extra_roots_file = Some(trusted.file())).await;
    check(&scanner, &format!("https://shop.example:{}/", target.address.port())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_works_passes_every_stage_and_says_what_was_seen() {
    let target = Target::start(|_| page("a page with a secret-in-the-body")).await;
    let names = NameServer::start(|_, _| Some(vec![Record::Alias("real.example", HERE)])).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let port = target.address.port();
    let checked = check(&scanner, &format!("http://Shop.Example:{port}/app?x=1#top")).await;
    let stages = passed(&checked, 6);
    let order: Vec<&str> = stages.iter().map(|stage| stage["stageName"].as_str().unwrap()).collect();
    assert_eq!(order, ["ADDRESS", "POLICY", "DNS", "TCP", "HTTP", "REDIRECTS"]);
    assert_eq!(stages[2]["description"], "DNS server is available");
    assert!(stages[2]["resultInfo"].as_str().unwrap().contains("CNAME real.example\nA 127.0.0.1"), "{checked:#}");
    assert_eq!(stages[3]["description"], format!("Connection to shop.example (127.0.0.1) {port} port succeeded"));
    assert_eq!(stages[4]["description"], "HTTP server is available");
    let seen = stages[4]["resultInfo"].as_str().unwrap();
    assert!(seen.contains("200 OK, server testing/1, type text/html, 32 bytes"), "{seen}");
    assert!(!checked.to_string().contains("secret-in-the-body"), "a body is shown");
    assert!(stages.iter().all(|stage| stage["startedAt"].as_str().unwrap().ends_with('Z') && stage["durationMs"].is_u64()));
    assert_eq!(names.asked(), 1, "the name was looked up more than once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_with_a_certificate_of_a_trusted_authority_passes_seven_stages() {
    let authority = Authority::new();
    let checked = check_tls(authority.server("shop.example", 2020..4000), &authority).await;
    let tls = &passed(&checked, 7)[4];
    assert_eq!((&tls["stageName"], &tls["description"]), (&json!("TLS"), &json!("TLS 1.3 with a valid certificate")));
    let seen = tls["resultInfo"].as_str().unwrap();
    for words in
        ["TLS 1.3, protocol http/1.1.", "Valid from 2020-01-01 until 4000-01-01.", "For shop.example.", "Testing Authority"]
    {
        assert!(seen.contains(words), "{seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_1_2_alone_passes_and_is_told() {
    let authority = Authority::new();
    let server = authority.server_of("shop.example", 2020..4000, &[&rustls::version::TLS12]);
    let checked = check_tls(server, &authority).await;
    assert_eq!(passed(&checked, 7)[4]["description"], "TLS 1.2 with a valid certificate");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_certificate_is_told_apart() {
    let authority = Authority::new();
    let cases = [
        (authority.server("other.example", 2020..4000), "not for this host but for other.example", "one for this host"),
        (authority.server("shop.example", 2020..2021), "expired on 2021-01-01", "Renew"),
        (authority.server("shop.example", 3000..4000), "valid only from 3000-01-01", "Wait"),
        (self_signed("shop.example"), "self-signed", "public authority, or"),
        (Authority::new().server("shop.example", 2020..4000), "no authority that is trusted here", "in between"),
    ];
    for (server, words, hint) in cases {
        let checked = check_tls(server, &authority).await;
        let stage = failed(&checked, "TLS", words);
        hints(stage, hint);
        let told = stage["resultInfo"].as_str().unwrap().matches("is not valid:").count();
        assert_eq!(told, 1, "{stage:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_wrong_with_a_certificate_is_told_at_once() {
    let authority = Authority::new();
    let checked = check_tls(Authority::new().server("other.example", 2020..2021), &authority).await;
    let seen = failed(&checked, "TLS", "expired on")["resultInfo"].as_str().unwrap();
    assert!(seen.contains("no authority that is trusted here") && seen.contains("but for other.example"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_where_tls_was_asked_for_is_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
            // Until the other side has read it and closes.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    });
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[entry(address)], |_| {}).await;
    let checked = check(&scanner, &format!("https://shop.example:{}/", address.port())).await;
    hints(failed(&checked, "TLS", "does not speak TLS"), "http://");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_fails_at_tcp() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[entry(closed)], |_| {}).await;
    let checked = check(&scanner, &format!("http://shop.example:{}/", closed.port())).await;
    hints(failed(&checked, "TCP", "refused the connection"), "nothing listens");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_black_hole_fails_at_tcp_within_the_connect_time() {
    let hole = BlackHole::open().await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[entry(hole.address)], |settings| settings.outbound.connect_timeout_ms = 300).await;
    let checked = check(&scanner, &format!("http://shop.example:{}/", hole.address.port())).await;
    hints(failed(&checked, "TCP", "did not answer in time"), "firewall drops packets");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_that_answers_is_enough_and_the_others_are_told() {
    let target = Target::start(|_| page("hello")).await;
    let other = SocketAddr::new("127.0.0.9".parse().unwrap(), target.address.port());
    let names = NameServer::leading_to(vec![other.ip(), HERE]).await;
    let scanner = scanner_for(&names, &[target.entry(), entry(other)], |_| {}).await;
    let checked = check(&scanner, &format!("http://shop.example:{}/", other.port())).await;
    let tcp = &passed(&checked, 6)[3];
    assert!(tcp["resultInfo"].as_str().unwrap().contains("127.0.0.9:"), "{tcp:#}");
    hints(tcp, "Not every address");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_with_v6_alone_is_reached_and_told() {
    let target = Target::listen("[::1]:0", None, |_| page("hello")).await;
    let names = NameServer::leading_to(vec![target.address.ip()]).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let port = target.address.port();
    let checked = check(&scanner, &format!("http://shop.example:{port}/")).await;
    let dns = &passed(&checked, 6)[2];
    assert!(dns["resultInfo"].as_str().unwrap().contains("AAAA ::1\nThe name has IPv6 addresses only."), "{dns:#}");
    passed(&check(&scanner, &format!("http://[::1]:{port}/")).await, 6);
    // The same with nobody there.
    let closed: SocketAddr = std::net::TcpListener::bind("[::1]:0").unwrap().local_addr().unwrap();
    let scanner = scanner_for(&names, &[entry(closed)], |_| {}).await;
    failed(&check(&scanner, &format!("http://shop.example:{}/", closed.port())).await, "TCP", "[::1]");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_does_not_exist_and_a_silent_name_server_fail_at_dns() {
    let names = NameServer::start(|_, _| None).await;
    let scanner = scanner_for(&names, &[], |_| {}).await;
    hints(failed(&check(&scanner, "https://nobody.example/").await, "DNS", NOWHERE), "spelling");
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let scanner = spawn_scanner_with(|settings| {
        settings.outbound.name_servers = vec![silent.local_addr().unwrap()];
        settings.outbound.lookup_timeout_ms = 300;
    })
    .await;
    hints(failed(&check(&scanner, "https://shop.example/").await, "DNS", "No name server answered"), "name servers");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_cannot_be_checked_fails_at_the_first_stage() {
    let scanner = spawn_scanner_with(|settings| settings.diagnostics.per_minute = 100).await;
    let cases = [
        ("shop.example", "no web address"),
        ("ftp://shop.example/", "Only http and https"),
        ("https://", "no web address"),
        ("https://user:hunter-secret@shop.example/", "user name or a password"),
        ("https://shop.example:0/", "Port 0"),
        ("file:///etc/passwd", "Only http and https"),
    ];
    for (url, words) in cases {
        let checked = check(&scanner, url).await;
        failed(&checked, "ADDRESS", words);
        assert!(!checked.to_string().contains("hunter-secret"), "{checked}");
    }
    let (status, body) = scanner.post(ACME, "/api/v1/network-diagnostics", json!({"testUrl": " "})).await;
    assert_refused((status, body), 400, 4000);
    let long = format!("https://shop.example/{}", "x".repeat(2048));
    assert_refused(scanner.post(ACME, "/api/v1/network-diagnostics", json!({"testUrl": long})).await, 400, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_not_open_fails_at_policy() {
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[], |_| {}).await;
    let checked = check(&scanner, "http://shop.example:22/").await;
    hints(failed(&checked, "POLICY", "Port 22 is not one"), "443");
    assert_eq!(names.asked(), 0, "a name was looked up for nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_addresses_get_one_answer_and_no_connection() {
    let closed = Target::listen("127.0.0.1:0", None, |_| page("hello")).await;
    let port = closed.address.port();
    let names = NameServer::leading_to(vec![HERE]).await;
    // The port is open, the addresses are not.
    let scanner = scanner_for(&names, &[], |settings| {
        settings.outbound.ports.push(port..=port);
        settings.diagnostics.per_minute = 100;
    })
    .await;
    let mut answers = Vec::new();
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"] {
        let checked = check(&scanner, &format!("http://{host}:{port}/")).await;
        answers.push(failed(&checked, "POLICY", "This address is not open to this service.").clone());
    }
    assert!(answers.windows(2).all(|pair| words(&pair[0]) == words(&pair[1])), "{answers:#?}");
    assert_eq!(closed.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_inside_cannot_be_told_from_one_that_does_not_exist() {
    let closed = Target::listen("127.0.0.1:0", None, |_| page("hello")).await;
    let port = closed.address.port();
    let names = NameServer::start(|name, _| match name {
        "nobody.example" => None,
        "empty.example" => Some(Vec::new()),
        "metadata.example" => Some(vec![Record::Address("169.254.169.254".parse().unwrap())]),
        "alias.example" => Some(vec![Record::Alias("db.inside.example", "10.0.0.1".parse().unwrap())]),
        "v6.example" => Some(vec![Record::Address("fd00::1".parse().unwrap())]),
        "mixed.example" => Some(["8.8.8.8", "10.0.0.1"].map(|address| Record::Address(address.parse().unwrap())).into()),
        _ => Some(vec![Record::Address(HERE)]),
    })
    .await;
    let after = 150;
    let scanner = scanner_for(&names, &[], |settings| {
        settings.outbound.ports.push(port..=port);
        settings.outbound.closed_after_ms = after;
        settings.diagnostics.per_minute = 100;
    })
    .await;
    let hosts = ["nobody", "empty", "metadata", "alias", "v6", "mixed", "shop"].map(|name| format!("{name}.example"));
    let mut answers = Vec::new();
    for host in hosts.into_iter().chain(["localhost".to_owned()]) {
        let checked = check(&scanner, &format!("http://{host}:{port}/")).await;
        let stage = failed(&checked, "DNS", NOWHERE);
        assert!(stage["durationMs"].as_u64().unwrap() >= after, "it was known too soon: {checked:#}");
        assert!(!checked.to_string().contains("inside.example"), "{checked:#}");
        answers.push(stage.clone());
    }
    assert!(answers.windows(2).all(|pair| words(&pair[0]) == words(&pair[1])), "{answers:#?}");
    // The same behind a redirect.
    let target = Target::start(move |path| redirect(&format!("http://{}:{port}/", path.trim_start_matches('/')))).await;
    let names = NameServer::start(|name, _| match name {
        "nobody.example" => None,
        "db.example" => Some(vec![Record::Address("10.0.0.1".parse().unwrap())]),
        _ => Some(vec![Record::Address(HERE)]),
    })
    .await;
    let scanner = scanner_for(&names, &[target.entry()], |settings| settings.outbound.ports.push(port..=port)).await;
    let mut answers = Vec::new();
    for host in ["nobody.example", "db.example"] {
        let checked = check(&scanner, &format!("http://shop.example:{}/{host}", target.address.port())).await;
        answers.push(words(failed(&checked, "REDIRECTS", NOWHERE)).map(Clone::clone));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(closed.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_changes_between_look_ups_opens_nothing() {
    let open_one = Target::start(|path| if path == "/moved" { redirect("/elsewhere") } else { page("hello") }).await;
    let port = open_one.address.port();
    let closed = Target::listen(&format!("127.0.0.2:{port}"), None, |_| page("inside")).await;
    // The first look-up of each check gives the open address, every further one the closed.
    let names = NameServer::start(|_, nth| {
        let address = if nth == 0 { "127.0.0.1" } else { "127.0.0.2" };
        Some(vec![Record::Address(address.parse().unwrap())])
    })
    .await;
    let scanner = scanner_for(&names, &[open_one.entry()], |_| {}).await;
    passed(&check(&scanner, &format!("http://shop.example:{port}/")).await, 6);
    assert_eq!((names.asked(), closed.connections()), (1, 0));
    assert!(open_one.connections() > 0);

    let names = NameServer::start(|_, nth| {
        let address = if nth == 0 { "127.0.0.1" } else { "127.0.0.2" };
        Some(vec![Record::Address(address.parse().unwrap())])
    })
    .await;
    let scanner = scanner_for(&names, &[open_one.entry()], |_| {}).await;
    let checked = check(&scanner, &format!("http://shop.example:{port}/moved")).await;
    failed(&checked, "REDIRECTS", NOWHERE);
    assert_eq!((names.asked(), closed.connections()), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_with_an_open_and_a_closed_address_is_closed() {
    let target = Target::start(|_| page("hello")).await;
    let names = NameServer::leading_to(vec![HERE, "10.0.0.1".parse().unwrap()]).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let checked = check(&scanner, &format!("http://shop.example:{}/", target.address.port())).await;
    failed(&checked, "DNS", NOWHERE);
    assert_eq!(target.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_and_told_until_one_answers() {
    let target = Target::start(|path| match path {
        "/" => redirect("/one"),
        "/one" => redirect("/two"),
        _ => page("here"),
    })
    .await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let base = format!("http://shop.example:{}", target.address.port());
    let checked = check(&scanner, &format!("{base}/")).await;
    let last = passed(&checked, 6).last().unwrap();
    assert_eq!(last["description"], format!("Redirects end at {base}/two"));
    assert_eq!(last["resultInfo"], format!("{base}/one: 302 Found\n{base}/two: 200 OK"));
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_that_lead_nowhere_fail_at_the_last_stage() {
    let closed = Target::start(|_| page("inside")).await;
    let inside = format!("http://127.0.0.1:{}/", closed.address.port());
    let target = Target::start(move |path| match path {
        "/loop" => redirect("/back"),
        "/back" => redirect("/loop"),
        "/inside" => redirect(&inside),
        "/ftp" => redirect("ftp://shop.example/"),
        "/user" => redirect("http://user:word@shop.example/"),
        "/port" => redirect("http://8.8.8.8:22/"),
        path => {
            let step: u32 = path.trim_start_matches('/').parse().unwrap();
            redirect(&format!("/{}", step + 1))
        }
    })
    .await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let cases = [
        ("/loop", "in a circle"),
        ("/inside", "This address is not open to this service."),
        ("/ftp", "Only http and https"),
        ("/user", "user name or a password"),
        ("/port", "Port 22 is not one"),
        ("/1", "more than 5 redirects"),
    ];
    for (path, words) in cases {
        let checked = check(&scanner, &format!("http://shop.example:{}{path}", target.address.port())).await;
        failed(&checked, "REDIRECTS", words);
    }
    assert_eq!(closed.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let plain = Target::start(|_| page("plain")).await;
    let to = format!("http://shop.example:{}/", plain.address.port());
    let authority = Authority::new();
    let target = Target::start_tls(authority.server("shop.example", 2020..4000), move |_| redirect(&to)).await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let entries = [target.entry(), plain.entry()];
    let scanner = scanner_for(&names, &entries, |settings| settings.outbound.extra_roots_file = Some(authority.file())).await;
    let checked = check(&scanner, &format!("https://shop.example:{}/", target.address.port())).await;
    failed(&checked, "REDIRECTS", "from https to http");
    assert_eq!(plain.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_headers_fail_at_http() {
    let target = Target::start(|path| match path {
        "/silent" => Reply::Stall(""),
        "/begun" => Reply::Stall("HTTP/1.1 200 OK\r\nserver: sl"),
        _ => Reply::Stall("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"),
    })
    .await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[target.entry()], |settings| settings.diagnostics.stage_seconds = 2).await;
    let base = format!("http://shop.example:{}", target.address.port());
    for path in ["/silent", "/begun"] {
        let checked = check(&scanner, &format!("{base}{path}")).await;
        hints(failed(&checked, "HTTP", "its answer did not come in time"), "slow to answer");
    }
    let checked = check(&scanner, &format!("{base}/body")).await;
    failed(&checked, "HTTP", "the rest did not come in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_check_ends_within_its_time() {
    let target = Target::start(|_| Reply::Stall("")).await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[target.entry()], |settings| settings.diagnostics.seconds = 1).await;
    let checked = check(&scanner, &format!("http://shop.example:{}/", target.address.port())).await;
    failed(&checked, "HTTP", "did not come to its end");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_answers_without_being_a_web_server_fails_at_http() {
    let target = Target::start(|path| match path {
        "/ssh" => Reply::Send("SSH-2.0-OpenSSH_9.2\r\n\r\n".to_owned()),
        "/nothing" => Reply::Send(String::new()),
        "/huge" => Reply::Send(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(200_000))),
        _ => status("503 Service Unavailable"),
    })
    .await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let cases = [
        ("/ssh", "not HTTP", "Another service"),
        ("/nothing", "without an answer", "logs"),
        ("/huge", "too large", "logs"),
        ("/busy", "503 Service Unavailable", "behind it"),
    ];
    for (path, words, hint) in cases {
        let checked = check(&scanner, &format!("http://shop.example:{}{path}", target.address.port())).await;
        hints(failed(&checked, "HTTP", words), hint);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_missing_or_large_still_is_a_web_server() {
    let target = Target::start(|path| match path {
        "/large" => page(&"x".repeat(100_000)),
        _ => status("404 Not Found"),
    })
    .await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let base = format!("http://shop.example:{}", target.address.port());
    let checked = check(&scanner, &format!("{base}/large")).await;
    assert!(passed(&checked, 6)[4]["resultInfo"].as_str().unwrap().contains("more than 65536 bytes"), "{checked:#}");
    let checked = check(&scanner, &format!("{base}/none")).await;
    hints(&passed(&checked, 6)[4], "no page at this address");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_ten_checks_a_minute() {
    let scanner = spawn_scanner_with_manual_clock_and(|settings| settings.diagnostics.per_minute = 3).await;
    for _ in 0..3 {
        check(&scanner, "ftp://shop.example/").await;
    }
    let request = scanner.request(Method::POST, "/api/v1/network-diagnostics").bearer_auth(ACME);
    let refused = request.json(&json!({"testUrl": "ftp://shop.example/"})).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "60");
    let (status, _) = scanner.post(GLOBEX, "/api/v1/network-diagnostics", json!({"testUrl": "ftp://shop.example/"})).await;
    assert_eq!(status, StatusCode::OK, "another account has its own");
    scanner.clock.advance(std::time::Duration::from_mins(1));
    check(&scanner, "ftp://shop.example/").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_two_checks_at_the_same_time() {
    let target = Target::start(|_| Reply::Stall("")).await;
    let names = NameServer::leading_to(vec![HERE]).await;
    let scanner = scanner_for(&names, &[target.entry()], |_| {}).await;
    let url = format!("http://shop.example:{}/", target.address.port());
    create(&scanner, &url).await;
    let second = create(&scanner, &url).await;
    let third = scanner.post(ACME, "/api/v1/network-diagnostics", json!({"testUrl": url})).await;
    assert_refused(third, 429, 4290);
    let third = scanner.post(GLOBEX, "/api/v1/network-diagnostics", json!({"testUrl": url})).await;
    assert_eq!(third.0, StatusCode::OK);
    assert_eq!(look(&scanner, &second).await["status"], "IN_PROGRESS");
    // The end of the service does not wait for them.
    scanner.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_is_its_accounts_own_and_is_forgotten_after_ten_minutes() {
    let scanner = spawn_scanner_with_manual_clock_and(|_| {}).await;
    let id = check(&scanner, "ftp://shop.example/").await["diagId"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/network-diagnostics/{id}/next-stage");
    assert_refused(scanner.get(GLOBEX, &path).await, 404, 4040);
    assert_refused(scanner.get(ACME, "/api/v1/network-diagnostics/nothing/next-stage").await, 404, 4040);
    scanner.clock.advance(std::time::Duration::from_mins(9));
    assert_eq!(scanner.get(ACME, &path).await.0, StatusCode::OK);
    scanner.clock.advance(std::time::Duration::from_mins(1));
    assert_refused(scanner.get(ACME, &path).await, 404, 4040);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_ended_checks_are_kept() {
    let scanner = spawn_scanner_with(|settings| settings.diagnostics.kept = 2).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(check(&scanner, "ftp://shop.example/").await["diagId"].as_str().unwrap().to_owned());
    }
    let path = |id: &str| format!("/api/v1/network-diagnostics/{id}/next-stage");
    assert_refused(scanner.get(ACME, &path(&ids[0])).await, 404, 4040);
    assert_eq!(scanner.get(ACME, &path(&ids[2])).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_allow_list_nothing_of_this_machine_is_reached() {
    let scanner = spawn_scanner().await;
    let itself = scanner.base.clone();
    failed(&check(&scanner, "http://localhost:8080/").await, "DNS", NOWHERE);
    let checked = check(&scanner, &itself).await;
    failed(&checked, "POLICY", "not");
}
