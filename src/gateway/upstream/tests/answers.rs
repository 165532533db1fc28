//! Answers that are late, wrong, too large or missing, and what is tried again.

use std::time::Duration;

use serde_json::json;

use super::super::{Kind, Origin};
use super::{Fake, Reply, head_and, nowhere, service, user};
use crate::config::gateway::PublicAuth;
use crate::contract::ids::TaskId;
use crate::contract::tasks::{CreateTask, Search};

fn task() -> TaskId {
    "t1".parse().unwrap()
}

fn good() -> Reply {
    Reply::Json(200, json!({ "taskId": "t1", "taskStatus": "RUNNING" }))
}

#[tokio::test]
async fn reads_are_tried_again_after_a_gateway_error_and_writes_never() {
    for status in [502, 503, 504] {
        let fake = Fake::new(move |number, _| if number < 2 { Reply::Json(status, json!({})) } else { good() }).await;
        fake.service().task(&user(), &task()).await.unwrap();
        assert_eq!(fake.seen().len(), 3);
        let fake = Fake::new(move |_, _| Reply::Json(status, json!({}))).await;
        fake.service().search_tasks(&user(), &Search::default()).await.unwrap_err();
        assert_eq!(fake.seen().len(), 3, "a search is a read, and there is an end to it");
        let fake = Fake::new(move |_, _| Reply::Json(status, json!({}))).await;
        let error = fake.service().create_task(&user(), &CreateTask::default()).await.unwrap_err();
        assert_eq!(fake.seen().len(), 1);
        assert!(error.retry, "a person may try");
    }
}

#[tokio::test]
async fn other_errors_are_final_at_once_and_keep_their_meaning() {
    for (status, body, kind, retry) in [
        (400, json!({ "data": { "errCode": 4000 } }), Kind::Invalid, false),
        (401, json!({}), Kind::Unauthorized, false),
        (402, json!({}), Kind::Forbidden, false),
        (403, json!({}), Kind::Forbidden, false),
        (404, json!({}), Kind::NotFound, false),
        (409, json!({}), Kind::Conflict, false),
        (413, json!({}), Kind::TooLarge, false),
        (422, json!({}), Kind::Invalid, false),
        (429, json!({}), Kind::TooMany { retry_after: None }, true),
        (500, json!({}), Kind::Unavailable, true),
        (500, json!({ "data": { "errCode": 1010 } }), Kind::Subscription, false),
        (500, json!({ "data": { "errCode": "1010" } }), Kind::Subscription, false),
        (502, json!({ "data": { "errCode": 1010 } }), Kind::Subscription, false),
        (503, json!({ "data": { "errCode": 1010 } }), Kind::Subscription, false),
        (302, json!({}), Kind::Garbage, false),
    ] {
        let fake = Fake::new(move |_, _| Reply::Json(status, body.clone())).await;
        let error = fake.service().task(&user(), &task()).await.unwrap_err();
        assert_eq!((&error.kind, error.retry, error.status), (&kind, retry, Some(status)));
        assert_eq!((error.origin, fake.seen().len()), (Origin::Service, 1));
        assert_eq!(error.their_request_id.unwrap().raw(), "theirs");
    }
}

#[tokio::test]
async fn the_words_of_an_error_are_found_in_many_shapes() {
    for (body, code, words) in [
        (r#"{"success":false,"message":"m","data":{"errCode":4001,"errDetail":"d"}}"#, Some(4001), "m"),
        (r#"{"errorCode":"77","errDetail":"d"}"#, Some(77), "d"),
        (r#"{"data":{"errDetail":"inner"}}"#, None, "inner"),
        (r#"{"error":"Bad Request","status":400}"#, None, "Bad Request"),
        (r#""just words""#, None, "just words"),
        ("<html>oops</html>", None, "<html>oops</html>"),
        ("", None, ""),
    ] {
        let fake = Fake::new(move |_, _| Reply::Raw(head_and(400, "text/html", body.as_bytes()))).await;
        let error = fake.service().task(&user(), &task()).await.unwrap_err();
        assert_eq!((error.code, error.text.raw()), (code, words));
    }
    let long = "x".repeat(200_000);
    let fake = Fake::new(move |_, _| Reply::Raw(head_and(500, "text/plain", long.as_bytes()))).await;
    let error = fake.service().task(&user(), &task()).await.unwrap_err();
    assert_eq!((error.kind, error.text.raw().len()), (Kind::Unavailable, 500));
}

#[tokio::test]
async fn an_envelope_that_refuses_is_an_error_at_status_200() {
    let body = json!({ "success": false, "message": "gone", "data": { "errCode": 4040 } });
    let fake = Fake::new(move |_, _| Reply::Json(200, body.clone())).await;
    let error = fake.service().task(&user(), &task()).await.unwrap_err();
    assert_eq!((error.kind, error.text.raw()), (Kind::NotFound, "gone"));
}

#[tokio::test]
async fn what_cannot_be_read_is_garbage() {
    let large = format!("\"{}\"", "x".repeat(200_000));
    for body in ["<html>", "{\"taskId\":", "null", "[]", "{}", "{\"taskId\":\"\"}", large.as_str()] {
        let raw = head_and(200, "application/json", body.as_bytes());
        let fake = Fake::new(move |_, _| Reply::Raw(raw.clone())).await;
        let error = fake.service().task(&user(), &task()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Garbage, "{body:.40}");
    }
    let fake = Fake::new(|_, _| Reply::Raw(b"SSH-2.0-not-http\r\n\r\n".to_vec())).await;
    assert_eq!(fake.service().task(&user(), &task()).await.unwrap_err().origin, Origin::Network);
}

#[tokio::test]
async fn silence_is_a_timeout_and_a_cut_is_unavailable() {
    let whole = head_and(200, "application/json", b"{\"taskId\":\"t1\"}");
    for sent in [0, 30, whole.len() - 3] {
        let part = whole[..sent].to_vec();
        let fake = Fake::new(move |_, _| Reply::Stall(part.clone())).await;
        let error = fake.service().task(&user(), &task()).await.unwrap_err();
        assert_eq!((error.is_unconnected(), fake.seen().len()), (false, 1), "it was asked once: {sent}");
        assert_eq!((error.kind, error.origin, error.retry), (Kind::Timeout, Origin::Network, true), "{sent}");
        let part = whole[..sent].to_vec();
        let fake = Fake::new(move |_, _| Reply::Raw(part.clone())).await;
        let error = fake.service().task(&user(), &task()).await.unwrap_err();
        assert_eq!((error.is_unconnected(), fake.seen().len()), (false, 1), "it was asked once: {sent}");
        assert_eq!((error.kind, error.origin, error.retry), (Kind::Unavailable, Origin::Network, true), "{sent}");
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_is_unavailable_and_errors_hold_no_secret() {
    let base = nowhere().await;
    let error = service(&base, PublicAuth::None).task(&user(), &task()).await.unwrap_err();
    assert_eq!((error.kind.clone(), error.is_unconnected()), (Kind::Unavailable, true));
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("a-user-token") && !shown.contains(&base));
}

#[tokio::test]
async fn retry_after_is_told_in_seconds() {
    let raw = b"HTTP/1.1 429 X\r\nretry-after: 7\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec();
    let fake = Fake::new(move |_, _| Reply::Raw(raw.clone())).await;
    let error = fake.service().task(&user(), &task()).await.unwrap_err();
    assert_eq!(error.kind, Kind::TooMany { retry_after: Some(Duration::from_secs(7)) });
}
