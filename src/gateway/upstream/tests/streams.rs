//! Uploads and reports: whole, cut, silent, wrong, and slower than their sender.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::json;
use tokio::time::timeout;

use super::super::{Kind, Origin, Uploaded, UpstreamError};
use super::{Fake, PATIENCE, Reply, head_and, user};
use crate::contract::ids::TaskId;
use crate::contract::reports::ReportType;
use crate::platform::digest::{hex, sha256};
use crate::platform::hostile::Hostile;

type Chunk = Result<Bytes, std::io::Error>;

async fn upload(fake: &Fake, body: impl Stream<Item = Chunk> + Send + 'static) -> Result<Uploaded, UpstreamError> {
    let name = Hostile::from("app.jar");
    timeout(PATIENCE, fake.service().upload(&user(), &name, None, false, body)).await.unwrap()
}

fn chunks(count: usize) -> impl Stream<Item = Chunk> + Send + 'static {
    stream::iter((0..count).map(|_| Ok(Bytes::from_static(b"0123456789"))))
}

fn stored(content: &[u8]) -> Reply {
    Reply::Json(200, json!({ "sha256": hex(&sha256(content)).to_uppercase() }))
}

#[tokio::test]
async fn an_upload_passes_through_in_chunks_and_its_hash_is_computed_on_the_way() {
    let fake = Fake::new(|_, _| stored(b"01234567890123456789")).await;
    let uploaded = upload(&fake, chunks(2)).await.unwrap();
    assert_eq!(uploaded.sha256.as_str(), hex(&sha256(b"01234567890123456789")));
    assert_eq!((uploaded.size, uploaded.file_name.raw()), (20, "app.jar"));
    let seen = &fake.seen()[0];
    assert_eq!(seen.headers["transfer-encoding"], "chunked");
    assert!(seen.headers["content-type"].starts_with("multipart/form-data; boundary="));
    assert!(String::from_utf8_lossy(&seen.body).contains("name=\"file\"; filename=\"app.jar\""));
    let fake = Fake::new(|_, _| stored(b"")).await;
    assert_eq!(upload(&fake, chunks(0)).await.unwrap().size, 0);
}

#[tokio::test]
async fn a_service_that_stored_something_else_is_found_out() {
    let fake = Fake::new(|_, _| stored(b"other")).await;
    assert_eq!(upload(&fake, chunks(2)).await.unwrap_err().kind, Kind::HashMismatch);
    let fake = Fake::new(|_, _| Reply::Json(200, json!({}))).await;
    assert_eq!(upload(&fake, chunks(2)).await.unwrap_err().kind, Kind::Garbage);
}

#[tokio::test]
async fn a_sender_that_breaks_or_falls_silent_is_told_apart_from_the_service() {
    let fake = Fake::new(|_, _| stored(b"")).await;
    let broken = chunks(3).chain(stream::iter([Err(std::io::Error::other("gone"))]));
    let error = upload(&fake, broken).await.unwrap_err();
    assert_eq!((error.kind, error.origin), (Kind::BodyBroken, Origin::Sender));
    let error = upload(&fake, chunks(3).chain(stream::pending())).await.unwrap_err();
    assert_eq!((error.kind, error.origin), (Kind::BodyBroken, Origin::Sender));
    let fake = Fake::new(|_, _| Reply::Stall(Vec::new())).await;
    let error = upload(&fake, chunks(3)).await.unwrap_err();
    assert_eq!((error.kind, error.origin), (Kind::Timeout, Origin::Network));
}

#[tokio::test]
async fn a_refusal_is_heard_and_never_tried_again() {
    for status in [401, 413, 503] {
        let fake = Fake::new(move |_, _| Reply::Json(status, json!({ "message": "no" }))).await;
        let error = upload(&fake, chunks(2)).await.unwrap_err();
        assert_eq!((error.status, fake.seen().len()), (Some(status), 1));
    }
}

#[tokio::test]
async fn a_service_that_reads_slowly_slows_the_sender() {
    let fake = Fake::impatient(|_, _| Reply::Stall(Vec::new())).await;
    let pulled = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&pulled);
    let endless = stream::repeat_with(move || {
        count.fetch_add(64 * 1024, Ordering::SeqCst);
        Ok(Bytes::from(vec![0; 64 * 1024]))
    });
    let error = upload(&fake, endless).await.unwrap_err();
    assert_eq!((error.kind, error.origin), (Kind::Timeout, Origin::Network));
    let pulled = pulled.load(Ordering::SeqCst);
    assert!(pulled < 16 * 1024 * 1024, "{pulled} bytes were taken although nobody read them");
}

async fn report(fake: &Fake) -> (Option<u64>, String, Option<String>, Vec<Result<Bytes, UpstreamError>>) {
    let task: TaskId = "t1".parse().unwrap();
    let report = fake.service().report(&user(), &task, ReportType::Pdf).await.unwrap();
    let name = report.filename.map(|name| name.raw().to_owned());
    let pieces = timeout(PATIENCE, report.stream.collect()).await.unwrap();
    (report.length, report.content_type.raw().to_owned(), name, pieces)
}

#[tokio::test]
async fn a_report_passes_through_with_its_name_and_kind() {
    let raw = b"HTTP/1.1 200 X\r\ncontent-type: application/pdf\r\ncontent-length: 5\r\n\
        content-disposition: attachment; filename=\"report_t1.pdf\"\r\nconnection: close\r\n\r\n%PDF-";
    let fake = Fake::new(move |_, _| Reply::Raw(raw.to_vec())).await;
    let (length, kind, name, pieces) = report(&fake).await;
    let whole: Vec<u8> = pieces.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!((length, kind.as_str(), name.as_deref()), (Some(5), "application/pdf", Some("report_t1.pdf")));
    assert_eq!(whole, b"%PDF-");
}

#[tokio::test]
async fn a_report_that_is_cut_or_falls_silent_ends_with_an_error() {
    let whole = head_and(200, "application/pdf", &[b'x'; 1000]);
    let part = whole[..whole.len() - 10].to_vec();
    let (cut, stalled) = (part.clone(), part);
    let fake = Fake::new(move |_, _| Reply::Raw(cut.clone())).await;
    assert_eq!(report(&fake).await.3.pop().unwrap().unwrap_err().kind, Kind::Unavailable);
    let fake = Fake::new(move |_, _| Reply::Stall(stalled.clone())).await;
    assert_eq!(report(&fake).await.3.pop().unwrap().unwrap_err().kind, Kind::Timeout);
}

#[tokio::test]
async fn a_report_may_take_longer_than_a_call_as_long_as_it_moves() {
    let limits = super::limits();
    let pause = Duration::from_millis(limits.idle_timeout_ms / 2);
    assert!(pause * 6 > Duration::from_millis(limits.timeout_ms));
    let fake = Fake::new(move |_, _| Reply::Drip(head_and(200, "application/pdf", &[b'x'; 1000]), pause)).await;
    let pieces = report(&fake).await.3;
    assert_eq!(pieces.into_iter().map(|piece| piece.unwrap().len()).sum::<usize>(), 1000);
}

#[tokio::test]
async fn asking_for_a_report_is_a_read_and_is_tried_again() {
    let fake = Fake::new(|_, _| Reply::Json(503, json!({}))).await;
    let task: TaskId = "t1".parse().unwrap();
    let refused = fake.service().report(&user(), &task, ReportType::Pdf).await.err().unwrap();
    assert_eq!((refused.kind, fake.seen().len()), (Kind::Unavailable, 3));
}

#[tokio::test]
async fn a_service_that_closes_upon_a_body_is_told_from_one_that_fails() {
    let fake = Fake::impatient(|_, _| Reply::Raw(Vec::new())).await;
    let endless = stream::repeat_with(|| Ok(Bytes::from(vec![0; 64 * 1024])));
    let error = upload(&fake, endless).await.unwrap_err();
    assert!(error.broke_off_while_sending() && !error.is_failure_of_the_service(), "{error}");
    let fake = Fake::new(|_, _| Reply::Raw(Vec::new())).await;
    let error = upload(&fake, chunks(2)).await.unwrap_err();
    assert!(!error.broke_off_while_sending() && error.is_failure_of_the_service(), "{error}");
}
