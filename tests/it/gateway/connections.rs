//! Connections that are slow, large, or there when the gateway ends; and who is believed to stand behind one.

use std::time::{Duration, Instant};

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::client::{Browser, http};
use crate::support::front::Front;
use crate::support::redis::free_port;
use crate::support::replicas::{Replicas, Setup};
use crate::support::upstream::{Says, Upstream, answer};
use crate::support::{eventually, read_to};

async fn with(connection: &str) -> Replicas {
    let extra = format!("[gateway.server.connection]\n{connection}");
    Replicas::embedded_with(Setup { extra, ..Setup::default() }).await
}

async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

/// What no answer has in it: reads to the end of the connection.
const NEVER: &str = "\u{0}";

/// Sends a byte now and then, until the other side has ended the connection.
async fn drip(stream: &mut TcpStream) -> String {
    let started = Instant::now();
    let mut all = Vec::new();
    loop {
        assert!(started.elapsed() < Duration::from_mins(1), "a slow head is let come for ever");
        if stream.write_all(b"x").await.is_err() {
            break;
        }
        let read = tokio::time::timeout(Duration::from_millis(100), stream.read_buf(&mut all)).await;
        if matches!(read, Ok(Ok(0) | Err(_))) {
            break;
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn a_head_that_drips_ends_its_connection_the_first_and_any_later_one() {
    let replicas = with("head_seconds = 1\n").await;
    let port = replicas.all[0].port;
    let mut first = connect(port).await;
    first.write_all(b"GET /livez HTTP/1.1\r\nx-slow: ").await.unwrap();
    let told = drip(&mut first).await;
    assert!(told.starts_with("HTTP/1.1 408"), "{told}");

    let mut later = connect(port).await;
    for _ in 0..2 {
        later.write_all(format!("GET /livez HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n").as_bytes()).await.unwrap();
        assert!(read_to(&mut later, "ok\n").await.starts_with("HTTP/1.1 200"));
    }
    later.write_all(b"GET /livez HTTP/1.1\r\nx-slow: ").await.unwrap();
    drip(&mut later).await;
}

#[tokio::test]
async fn a_connection_that_is_kept_is_closed_after_its_time_and_not_after_that_of_a_head() {
    let replicas = with("head_seconds = 1\nkeep_alive_seconds = 3\n").await;
    let port = replicas.all[0].port;
    let mut stream = connect(port).await;
    let get = format!("GET /livez HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n");
    stream.write_all(get.as_bytes()).await.unwrap();
    read_to(&mut stream, "ok\n").await;
    let idle = Instant::now();
    assert_eq!(read_to(&mut stream, NEVER).await, "");
    // The server's clock for it is half a second coarse.
    assert!(idle.elapsed() > Duration::from_secs(2), "{:?}", idle.elapsed());
}

/// Sends a form of `bytes` to the one address that reads one without a session, `chunk` bytes at a time.
async fn form(port: u16, bytes: usize, chunk: usize) -> String {
    let head = format!(
        "POST /auth/backchannel-logout HTTP/1.1\r\nhost: localhost:{port}\r\ncontent-length: {bytes}\r\n\
         content-type: application/x-www-form-urlencoded\r\n\r\n"
    );
    let mut stream = connect(port).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..bytes / chunk {
        tokio::time::sleep(Duration::from_millis(100)).await;
        // A body that is not waited for any more is not taken either.
        if stream.write_all(&vec![b'x'; chunk]).await.is_err() {
            break;
        }
    }
    read_to(&mut stream, "\r\n\r\n").await
}

#[tokio::test]
async fn a_body_may_be_slow_but_not_too_slow() {
    let replicas = with("head_seconds = 1\nstall_seconds = 1\nstall_bytes = 100\n").await;
    let port = replicas.all[0].port;
    let taken = form(port, 1200, 40).await;
    assert!(taken.starts_with("HTTP/1.1 400") && !taken.contains("connection: close"), "read to its end: {taken}");
    let cut = form(port, 60, 1).await;
    assert!(cut.starts_with("HTTP/1.1 400") && cut.contains("connection: close"), "cut before its end: {cut}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_may_be_taken_slowly_as_long_as_it_is_taken() {
    let upstream = Upstream::start().await;
    let front = Front::with(&upstream.base, "[gateway.server.connection]\nstall_seconds = 2\nstall_bytes = 4096\n").await;
    let base = Url::parse(&front.base).unwrap();
    let report = vec![b'x'; 24 << 20];
    upstream.says([Says::Bytes(answer("200 OK", "content-type: application/pdf\r\n", &report))]);
    let mut stream = connect(base.port().unwrap()).await;
    let path = "/scanner/api/v2/tasks/t/report";
    let host = base.authority();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer t\r\n\r\n").as_bytes()).await.unwrap();
    // A pace at which what the system holds ready is not used up for longer than anybody may stand still.
    let (mut taken, mut piece, began) = (0, vec![0; 16 << 10], Instant::now());
    while began.elapsed() < Duration::from_secs(9) {
        taken += stream.read(&mut piece).await.expect("who takes something is not cut");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut rest = Vec::new();
    while taken + rest.len() < report.len() {
        assert_ne!(
            stream.read_buf(&mut rest).await.expect("the rest"),
            0,
            "cut after {} of {}",
            taken + rest.len(),
            report.len()
        );
    }
}

#[tokio::test]
async fn an_address_or_headers_that_are_too_large_are_refused_in_words() {
    let replicas = with("uri_bytes = 200\nhead_bytes = 1000\nhead_fields = 12\n").await;
    let (port, portal) = (replicas.all[0].port, &replicas.all[0].url);
    let mut browser = Browser::new();
    let long = browser.get(&format!("{portal}/auth/signed-out?{}", "x".repeat(200))).await;
    assert_eq!(long.status, 414);
    assert!(long.text().contains("longer than 200 bytes") && long.header("x-request-id").len() == 32, "{}", long.text());
    let ask = async |lines: &str| {
        let mut stream = connect(port).await;
        let head = format!("GET /auth/signed-out HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n{lines}\r\n");
        // The rest of a head that is too large is not read.
        let _ = stream.write_all(head.as_bytes()).await;
        read_to(&mut stream, NEVER).await
    };
    let fine = ask(&"a: 1\r\n".repeat(10)).await;
    assert!(fine.starts_with("HTTP/1.1 200"), "{fine}");
    for lines in ["a: 1\r\n".repeat(11), format!("a: {}\r\n", "x".repeat(1000))] {
        let refused = ask(&lines).await;
        assert!(refused.starts_with("HTTP/1.1 431") && refused.contains("\"status\":431"), "{refused}");
    }
    for lines in ["a: 1\r\n".repeat(200), format!("a: {}\r\n", "x".repeat(200_000))] {
        let refused = ask(&lines).await;
        assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 431"), "{refused}");
    }
    assert_eq!(browser.get(&format!("{portal}/auth/signed-out")).await.status, 200);
}

#[tokio::test]
async fn a_body_is_sent_for_only_when_its_request_is_not_refused() {
    let replicas = Replicas::embedded().await;
    let (port, portal) = (replicas.all[0].port, replicas.all[0].url.clone());
    let hash = cardea::platform::digest::hex(&cardea::platform::digest::sha256(b"abc"));
    replicas.service.desk().body = Some(serde_json::json!({ "sha256": hash, "fileName": "a.jar" }));
    let mut browser = replicas.signed_in().await;
    let csrf = browser.csrf(&portal).await;
    let cookies = browser.cookies_for(&Url::parse(&portal).unwrap());
    let body = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.jar\"\r\n\r\nabc\r\n--b--\r\n";
    let head = |lines: &str| {
        format!(
            "POST /uploads HTTP/1.1\r\nhost: localhost:{port}\r\norigin: {portal}\r\naccept: application/json\r\n\
             content-type: multipart/form-data; boundary=b\r\ncontent-length: {}\r\nexpect: 100-continue\r\n{lines}\r\n",
            body.len()
        )
    };
    let mut stranger = connect(port).await;
    stranger.write_all(head("").as_bytes()).await.unwrap();
    let refused = read_to(&mut stranger, NEVER).await;
    assert!(refused.starts_with("HTTP/1.1 401"), "the body of somebody who is not signed in is not sent for: {refused}");
    assert!(refused.to_lowercase().contains("connection: close") && refused.contains("x-request-id"), "{refused}");

    let mut member = connect(port).await;
    member.write_all(head(&format!("cookie: {cookies}\r\nx-csrf-token: {csrf}\r\n")).as_bytes()).await.unwrap();
    assert_eq!(read_to(&mut member, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    member.write_all(body.as_bytes()).await.unwrap();
    let answer = read_to(&mut member, "\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    assert!(replicas.service.desk().received > 0);

    // A connection on which a word was given goes on.
    let get = format!("GET /livez HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n");
    member.write_all(get.as_bytes()).await.unwrap();
    assert!(read_to(&mut member, NEVER).await.contains("ok\n"));
}

#[tokio::test]
async fn a_stream_goes_on_after_the_end_has_begun_until_its_time_is_over() {
    let operations = free_port();
    let setup = Setup {
        server: "shutdown_seconds = 3\n".to_owned(),
        extra: format!("[gateway.operations]\nlisten = \"127.0.0.1:{operations}\"\n"),
        ..Setup::default()
    };
    let mut replicas = Replicas::embedded_with(setup).await;
    let browser = replicas.signed_in().await;
    let url = Url::parse(&format!("{}/tasks/{}/report?type=pdf", replicas.all[0].url, "0".repeat(32))).unwrap();
    let mut report = http().get(url.clone()).header("cookie", browser.cookies_for(&url)).send().await.unwrap();
    assert_eq!(report.status(), 200);
    report.chunk().await.unwrap().unwrap();
    replicas.all[0].terminate();
    let ended = Instant::now();
    let ready = format!("http://127.0.0.1:{operations}/readyz");
    eventually("an ending gateway", async || {
        let answer = http().get(&ready).send().await.ok()?;
        (answer.status() == 503).then_some(())
    })
    .await;
    let mut after = 0;
    let end = loop {
        match report.chunk().await {
            Ok(Some(chunk)) => after += chunk.len(),
            end => break end,
        }
    };
    assert!(after > 50, "the stream went on: {after} bytes, {end:?} after {:?}: {}", ended.elapsed(), replicas.logs());
    replicas.all[0].ended().await;
    assert!(TcpStream::connect(("127.0.0.1", replicas.all[0].port)).await.is_err());
}

#[tokio::test]
async fn only_a_trusted_proxy_says_for_whom_it_asks_and_nobody_says_which_scheme_or_host() {
    for (server, header, believed) in [
        ("", "X-Forwarded-For: 203.0.113.7", None),
        ("trusted_proxies = [\"10.0.0.0/8\"]\n", "X-Forwarded-For: 203.0.113.7", None),
        ("trusted_proxies = [\"127.0.0.0/8\"]\n", "X-Forwarded-For: 6.6.6.6, 203.0.113.7, 127.0.0.9", Some("203.0.113.0/24")),
        ("trusted_proxies = [\"127.0.0.0/8\"]\n", "Forwarded: for=203.0.113.7", None),
        (
            "trusted_proxies = [\"127.0.0.0/8\"]\nforwarded_by = \"forwarded\"\n",
            "Forwarded: for=6.6.6.6, for=\"[2001:db8:1:2::3]:443\";proto=https",
            Some("2001:db8:1::/48"),
        ),
        ("trusted_proxies = [\"127.0.0.0/8\"]\nforwarded_by = \"forwarded\"\n", "X-Forwarded-For: 203.0.113.7", None),
    ] {
        let replicas = Replicas::embedded_with(Setup { server: server.to_owned(), ..Setup::default() }).await;
        let port = replicas.all[0].port;
        let mut stream = connect(port).await;
        let head = format!(
            "GET /auth/login HTTP/1.1\r\nhost: localhost:{port}\r\n{header}\r\nX-Forwarded-Proto: https\r\n\
             X-Forwarded-Host: globex.localhost:{port}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = read_to(&mut stream, NEVER).await.to_lowercase();
        assert!(answer.starts_with("http/1.1 303"), "{answer}");
        let back = format!("redirect_uri=http%3a%2f%2flocalhost%3a{port}%2fauth%2fcallback");
        assert!(answer.contains(&back) && !answer.contains("globex"), "{answer}");
        assert!(!answer.contains("; secure"), "the cookie is one of plain http: {answer}");
        let caller = format!("caller=\"{}\"", believed.unwrap_or("127.0.0.0/24"));
        eventually("the line of the log", async || replicas.logs().contains(&caller).then_some(())).await;
    }
}
