//! Streams end with their session: live status, uploads and downloads on another replica than the one that ends it.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use reqwest::multipart::{Form, Part};
use reqwest::{Response, StatusCode};
use tokio::sync::mpsc;
use url::Url;

use crate::support::client::{Browser, http};
use crate::support::eventually;
use crate::support::replicas::{Replicas, Setup};

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
