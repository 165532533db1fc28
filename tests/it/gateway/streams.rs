//! Streams end with their session: live status, uploads and downloads on another replica than the one that ends it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use reqwest::multipart::{Form, Part};
use reqwest::{Response, StatusCode};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use url::Url;

use crate::support::client::{Browser, http};
use crate::support::front::Front;
use crate::support::replicas::{Replicas, Setup};
use crate::support::upstream::{Says, Upstream, json};
use crate::support::{eventually, read_to};

/// Opens a stream with the cookies of a browser.
async fn open(browser: &Browser, address: &str) -> Response {
    let url = Url::parse(address).unwrap();
    let answer = http().get(url.clone()).header("cookie", browser.cookies_for(&url)).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer
}

/// An administrator ends the session of `victim` through the first gateway.
async fn end(replicas: &Replicas, victim: &mut Browser) {
    let here = &replicas.all[0].url;
    let id = victim.told(here).await["session"].as_str().unwrap().to_owned();
    let mut dora = replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    let csrf = dora.csrf(here).await;
    let answer = dora.post(&format!("{here}/admin/sessions/{id}/end"), &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
}

fn closed_for_the_reason(replicas: &Replicas, reason: &str) -> bool {
    let said = |line: &str| line.contains("a stream was closed with its session") && line.contains(reason);
    replicas.all.last().unwrap().log().lines().any(said)
}

async fn said_why(replicas: &Replicas, reason: &str) {
    eventually("the line of the log", async || closed_for_the_reason(replicas, reason).then_some(())).await;
}

async fn live_status_ends(replicas: &Replicas) {
    let there = &replicas.all.last().unwrap().url;
    let mut bob = replicas.signed_in_as(&replicas.all[0].url, "8", "Bob", "member").await;
    // A service that has no task to tell of keeps the stream open: it may come yet.
    let mut live = open(&bob, &format!("{there}/tasks/{}/live", "0".repeat(32))).await;
    assert!(live.chunk().await.unwrap().unwrap().starts_with(b"retry:"));
    end(replicas, &mut bob).await;
    let mut said = String::new();
    while let Some(chunk) = live.chunk().await.unwrap() {
        said.push_str(&String::from_utf8_lossy(&chunk));
    }
    assert!(said.contains("event: signed-out") && said.contains("\"reason\":\"administrator\""), "{said}");
    assert!(said.contains("An administrator of your company ended this session."), "{said}");
    said_why(replicas, "administrator").await;
}

#[tokio::test]
async fn live_status_ends_with_its_session_and_says_why() {
    live_status_ends(&Replicas::on_redis().await).await;
}

#[tokio::test]
async fn live_status_ends_with_its_session_on_the_embedded_store() {
    live_status_ends(&Replicas::embedded().await).await;
}

#[tokio::test]
async fn an_upload_is_cut_with_its_session_and_nothing_goes_on_to_the_service() {
    let replicas = Replicas::on_redis().await;
    let there = &replicas.all[1].url;
    let mut bob = replicas.signed_in_as(&replicas.all[0].url, "8", "Bob", "member").await;
    let csrf = bob.csrf(there).await;
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::io::Error>>(1);
    let body = stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|chunk| (chunk, receiver)));
    let part = Part::stream(reqwest::Body::wrap_stream(body)).file_name("big.war");
    let url = Url::parse(&format!("{there}/uploads")).unwrap();
    let request = http().post(url.clone()).header("cookie", bob.cookies_for(&url)).header("sec-fetch-site", "same-origin");
    let sent = request.header("x-csrf-token", csrf).multipart(Form::new().part("file", part)).send();
    let drive = async {
        // Slowly, until nobody takes it any more.
        while sender.send(Ok(Bytes::from_static(&[7; 1024]))).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
            if replicas.service.desk().cut > 0 {
                break;
            }
        }
        drop(sender);
    };
    let ender = async {
        eventually("the upload at the service", async || (replicas.service.desk().received > 4096).then_some(())).await;
        end(&replicas, &mut bob).await;
        eventually("the cut", async || (replicas.service.desk().cut > 0).then_some(())).await;
    };
    let (answer, (), ()) = tokio::join!(sent, drive, ender);
    let answer = answer.unwrap();
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    let text = answer.text().await.unwrap();
    assert!(
        text.contains("An administrator of your company ended this session.") && text.contains("nothing of it was stored"),
        "{text}"
    );
    said_why(&replicas, "administrator").await;
}

#[tokio::test]
async fn a_download_breaks_off_with_its_session_so_that_nobody_takes_it_for_whole() {
    let replicas = Replicas::on_redis().await;
    let there = &replicas.all[1].url;
    let mut bob = replicas.signed_in_as(&replicas.all[0].url, "8", "Bob", "member").await;
    let mut report = open(&bob, &format!("{there}/tasks/{}/report?type=pdf", "0".repeat(32))).await;
    assert!(report.chunk().await.unwrap().unwrap().starts_with(b"%PDF"));
    end(&replicas, &mut bob).await;
    let broken = loop {
        match report.chunk().await {
            Ok(Some(_)) => {}
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    assert!(broken, "an orderly end would look like a whole report");
    said_why(&replicas, "administrator").await;
}

/// No word comes when the messages are lost: Redis forgets the session behind everybody's back.
#[tokio::test]
async fn a_stream_without_word_looks_for_its_session_by_itself() {
    let setup = Setup { session: "stream_check_seconds = 1\n".to_owned(), ..Setup::default() };
    let replicas = Replicas::on_redis_with(1, setup).await;
    let here = &replicas.all[0].url;
    let bob = replicas.signed_in_as(here, "8", "Bob", "member").await;
    let mut report = open(&bob, &format!("{here}/tasks/{}/report?type=pdf", "0".repeat(32))).await;
    assert!(report.chunk().await.unwrap().is_some());
    let redis = replicas.redis.as_ref().unwrap();
    redis.command(&["FLUSHALL"]).await;
    while let Ok(Some(_)) = report.chunk().await {}
    said_why(&replicas, "ran_out").await;
}

/// A stream outlives an outage of the store: nothing says that its session ended.
#[tokio::test]
async fn a_store_that_is_away_ends_no_stream() {
    let setup = Setup { session: "stream_check_seconds = 1\n".to_owned(), ..Setup::default() };
    let mut replicas = Replicas::on_redis_with(1, setup).await;
    let here = replicas.all[0].url.clone();
    let bob = replicas.signed_in_as(&here, "8", "Bob", "member").await;
    let mut report = open(&bob, &format!("{here}/tasks/{}/report?type=pdf", "0".repeat(32))).await;
    let redis = replicas.redis.as_mut().unwrap();
    redis.command(&["SAVE"]).await;
    redis.kill();
    // Several looks go wrong meanwhile.
    for _ in 0..150 {
        assert!(report.chunk().await.unwrap().is_some());
    }
    redis.resume().await;
    for _ in 0..50 {
        assert!(report.chunk().await.unwrap().is_some());
    }
    assert!(!closed_for_the_reason(&replicas, ""));
}

const EVENTS: &str = "/scanner/api/v2/tasks/t/report";
const OTHER: &str = "/scanner/api/v1/domain-ownership/random-content";

/// Events of a service: the first with the head, the others as the sender says.
fn events() -> (mpsc::Sender<Vec<u8>>, Says) {
    let (pieces, more) = mpsc::channel(1);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let begun = format!("{head}9\r\ndata: 0\n\n\r\n").into_bytes();
    (pieces, Says::Then(begun, Arc::new(tokio::sync::Mutex::new(more))))
}

/// Asks for events over a connection of its own, and reads the first.
async fn listening(front: &Front, version: &str) -> TcpStream {
    let host = front.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let head = format!("GET {EVENTS} {version}\r\nhost: {host}\r\nauthorization: Bearer t\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    // All of it: what is left unread would break the connection at its end, which is seen at once.
    let end = if version == "HTTP/1.1" { "data: 0\n\n\r\n" } else { "data: 0\n\n" };
    let first = read_to(&mut stream, end).await;
    assert!(first.contains(" 200 OK\r\n"), "{first}");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_a_stream_without_news_is_gone_at_the_service_and_its_place_is_free() {
    let upstream = Upstream::start().await;
    let front = Front::with(&upstream.base, "[gateway.api.gate]\nat_once = 1\nwaiting = 0\n").await;
    let other = async || http().get(format!("{}{OTHER}", front.base)).bearer_auth("t").send().await.unwrap().status().as_u16();
    let ok = || Says::Bytes(json("200 OK", "{}"));
    upstream.says([ok()]);
    assert_eq!(other().await, 200, "a token that the service accepted is no stranger's");
    for (before, version) in [(1, "HTTP/1.1"), (3, "HTTP/1.0")] {
        let (_pieces, events) = events();
        upstream.says([events, ok()]);
        let stream = listening(&front, version).await;
        assert_eq!(other().await, 503, "{version}: there is one place");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!upstream.asked()[before].is_gone, "{version}: whoever is there may wait for news");
        let left = Instant::now();
        drop(stream);
        eventually("the end", async || upstream.asked()[before].is_gone.then_some(())).await;
        assert!(left.elapsed() < Duration::from_secs(2), "{version}: {:?}", left.elapsed());
        eventually("the place", async || (other().await == 200).then_some(())).await;
        assert_eq!(upstream.asked().len(), before + 2, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_only_sends_no_more_has_its_stream_as_long_as_there_is_news() {
    let upstream = Upstream::start().await;
    let front = Front::new(&upstream.base).await;
    let (pieces, events) = events();
    upstream.says([events]);
    let mut stream = listening(&front, "HTTP/1.1").await;
    stream.shutdown().await.unwrap();
    for number in 10..30 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        pieces.send(format!("a\r\ndata: {number}\n\n\r\n").into_bytes()).await.unwrap();
        let said = read_to(&mut stream, &format!("data: {number}\n\n\r\n")).await;
        assert!(said.contains(&format!("data: {number}")), "{said}");
    }
    pieces.send(b"0\r\n\r\n".to_vec()).await.unwrap();
    let last = read_to(&mut stream, "0\r\n\r\n").await;
    assert!(last.contains("0\r\n\r\n"), "{last}");
}
