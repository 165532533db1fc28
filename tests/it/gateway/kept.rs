//! Answers that are kept, seen from outside: how often the service is asked, what ends an answer, who is told how it came, and
//! that nobody ever gets one that was somebody else's.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use url::Url;

use super::refresh::expired;
use crate::support::client::{Answer, Browser, Manners, http};
use crate::support::eventually;
use crate::support::front::Front;
use crate::support::replicas::{Replicas, Setup};
use crate::support::upstream::{self, Says, Upstream, answer};

const TASK: &str = "/scanner/api/v1/tasks/t1";
const NEVER_KEPT: &str = "/scanner/api/v1/domain-ownership/random-content";

/// A task of the service, in this state.
fn task(state: &str, note: &str) -> Value {
    json!({ "taskId": "t1", "taskStatus": state, "note": note })
}

async fn read(browser: &mut Browser, url: &str) -> Answer {
    browser.send(Method::GET, url, &Manners::default(), |request| request).await
}

fn field(answer: &Answer, name: &str) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice::<Value>(&answer.bytes).unwrap()[name].as_str().unwrap_or_default().to_owned()
}

fn polls(replicas: &Replicas) -> usize {
    replicas.service.desk().calls.iter().filter(|call| call.path == TASK).count()
}

/// Five hundred tabs that poll the same task at the same moment.
async fn a_crowd_asks(replicas: &Replicas) -> usize {
    let browser = replicas.signed_in().await;
    let cookies = browser.cookies_for(&Url::parse(&replicas.all[0].url).unwrap());
    {
        let mut desk = replicas.service.desk();
        (desk.body, desk.latency) = (Some(task("SCANNING", "")), Duration::from_secs(2));
    }
    let client = http();
    let ask = async |index: usize| {
        let replica = &replicas.all[index % replicas.all.len()];
        let answer = client.get(format!("{}{TASK}", replica.url)).header("cookie", &cookies).send().await.unwrap();
        let cache = answer.headers().get("cache-status").map(|value| value.to_str().unwrap().to_owned());
        (answer.status(), cache.unwrap_or_default(), answer.bytes().await.unwrap())
    };
    let answers = join_all((0..500).map(ask)).await;
    assert!(answers.iter().all(|(status, _, body)| *status == 200 && *body == answers[0].2), "{:?}", answers[0]);
    assert!(answers.iter().any(|(_, cache, _)| cache.contains("collapsed")), "some waited for the answer of another");
    polls(replicas)
}

/// So that no answer is over before the last of them has come, however slow the machine is.
fn long_lived() -> Setup {
    Setup { extra: LONG_LIVED.to_owned(), ..Setup::default() }
}

const LONG_LIVED: &str = "[gateway.cache.task_running]\nfresh_ms = 120000\n";

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_polls_at_once_ask_the_service_once_and_over_two_replicas_at_most_twice() {
    assert_eq!(a_crowd_asks(&Replicas::embedded_with(long_lived()).await).await, 1);
    let on_two = a_crowd_asks(&Replicas::on_redis_with(2, long_lived()).await).await;
    assert!((1..=2).contains(&on_two), "{on_two}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_ever_gets_an_answer_that_was_given_to_somebody_else() {
    let replicas = Replicas::on_redis_with(2, long_lived()).await;
    {
        let mut desk = replicas.service.desk();
        (desk.body, desk.mirrors) = (Some(task("SUCCESS", "")), true);
    }
    let [first, second] = &replicas.all[..] else { panic!("two replicas") };
    let dora = replicas.signed_in_as(&first.url, "7", "Dora", "administrator").await;
    let bob = replicas.signed_in_as(&first.url, "8", "Bob", "member").await;
    // The same subject at another company is another person.
    let double = replicas.signed_in_as(&first.globex, "7", "Dora", "administrator").await;
    let mut people = [(dora, &first.url, &second.url), (bob, &first.url, &second.url), (double, &first.globex, &second.globex)];
    let mut tokens = BTreeSet::new();
    let mut own = Vec::new();
    for (browser, here, _) in &mut people {
        let token = field(&read(browser, &format!("{here}{NEVER_KEPT}")).await, "bearer");
        tokens.insert(token.clone());
        own.push(token);
    }
    assert_eq!(tokens.len(), 3);
    for round in 0..6 {
        let asked = people.iter_mut().map(async |(browser, here, there)| {
            let mut got = Vec::new();
            for portal in [*here, *there] {
                got.push(field(&read(browser, &format!("{portal}{TASK}")).await, "bearer"));
                let search = format!("{portal}/scanner/api/v1/tasks/t1/results/search");
                let csrf = browser.csrf(portal).await;
                got.push(field(&browser.call(Method::POST, &search, &csrf).await, "bearer"));
            }
            got
        });
        for (got, own) in join_all(asked).await.iter().zip(&own) {
            assert!(got.iter().all(|bearer| bearer == own), "round {round}: {got:?} is not only {own}");
        }
    }
    assert!(polls(&replicas) <= 6, "most were kept: {}", polls(&replicas));
    // Anybody without a session, or with one that is over, gets nothing.
    let mut gone = people[0].0.clone();
    let csrf = people[0].0.csrf(&first.url).await;
    people[0].0.post(&format!("{}/auth/logout", first.url), &[("csrf", &csrf)]).await;
    for portal in [&first.url, &second.url] {
        eventually("the end of the session", async || {
            (read(&mut gone, &format!("{portal}{TASK}")).await.status == 401).then_some(())
        })
        .await;
        assert_eq!(read(&mut Browser::new(), &format!("{portal}{TASK}")).await.status, 401);
    }
}

/// What was kept for an administrator is not for the same person as a member; a new token alone changes nothing.
async fn another_role_is_another_reader(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    replicas.service.desk().body = Some(task("SUCCESS", "for an administrator"));
    let mut other = replicas.signed_in_as(there, "7", "Dora", "administrator").await;
    let mut browser = expired(replicas).await;
    for portal in [here, there] {
        assert_eq!(field(&read(&mut browser, &format!("{portal}{TASK}")).await, "note"), "for an administrator");
        assert_eq!(field(&read(&mut other, &format!("{portal}{TASK}")).await, "note"), "for an administrator");
    }
    assert!(replicas.provider.seen().refreshes > 0, "its token was over");
    replicas.service.desk().body = Some(task("SUCCESS", "for a member"));
    assert_eq!(field(&read(&mut other, &format!("{there}{TASK}")).await, "note"), "for an administrator", "kept");
    // A sign-in tells that the role is another one now, for all sessions of the person.
    let mut third = replicas.signed_in_as(here, "7", "Dora", "member").await;
    for browser in [&mut third, &mut browser, &mut other] {
        for portal in [here, there] {
            assert_eq!(field(&read(browser, &format!("{portal}{TASK}")).await, "note"), "for a member");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_for_an_administrator_is_not_for_the_same_person_as_a_member() {
    another_role_is_another_reader(&Replicas::on_redis_with(2, long_lived()).await).await;
    another_role_is_another_reader(&Replicas::embedded_with(long_lived()).await).await;
}

/// A change through the API at the first replica, then one on the portal's own page at the second.
async fn changes_end_what_is_kept(replicas: &Replicas) {
    let (here, there) = (replicas.all[0].url.clone(), replicas.all.last().unwrap().url.clone());
    let mut browser = replicas.signed_in().await;
    let csrf = browser.csrf(&here).await;
    replicas.service.desk().body = Some(task("SUCCESS", "before"));
    let mut kept = browser.clone();
    let mut is = async |portal: &str| field(&read(&mut kept, &format!("{portal}{TASK}")).await, "note");
    for portal in [&here, &there] {
        assert_eq!(is(portal).await, "before");
    }
    let before = polls(replicas);
    replicas.service.desk().body = Some(task("SUCCESS", "after the call"));
    for portal in [&here, &there, &here] {
        assert_eq!(is(portal).await, "before", "it is kept");
    }
    assert_eq!(polls(replicas), before);
    let gone = browser.call(Method::POST, &format!("{here}/scanner/api/v1/tasks/terminate"), &csrf).await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    assert_eq!(is(&here).await, "after the call", "at once where it was changed");
    eventually("the change on the other replica", async || (is(&there).await == "after the call").then_some(())).await;
    replicas.service.desk().body = Some(task("SUCCESS", "after the page"));
    let page = format!("{there}/tasks/{}/delete", "0".repeat(32));
    let deleted = browser.post(&page, &[("csrf", &csrf)]).await;
    assert_eq!(deleted.status, 303, "{}", deleted.text());
    assert_eq!(is(&there).await, "after the page", "at once where it was changed");
    eventually("the change on the other replica", async || (is(&here).await == "after the page").then_some(())).await;
    // One that the service refuses, or that is cut on its way, may have been done all the same.
    replicas.service.desk().body = Some(task("SUCCESS", "after trouble"));
    replicas.service.desk().status = Some(504);
    let failed = browser.call(Method::POST, &format!("{here}/scanner/api/v1/tasks/terminate"), &csrf).await;
    assert_eq!(failed.status, 504);
    replicas.service.desk().status = None;
    assert_eq!(is(&here).await, "after trouble");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_by_call_or_on_a_page_ends_what_is_kept_on_all_replicas() {
    changes_end_what_is_kept(&Replicas::on_redis().await).await;
    changes_end_what_is_kept(&Replicas::embedded().await).await;
}

#[tokio::test]
async fn how_an_answer_came_is_told_to_administrators_and_programs_and_to_nobody_else() {
    let replicas = Replicas::embedded().await;
    replicas.service.desk().body = Some(task("SUCCESS", ""));
    let portal = replicas.all[0].url.clone();
    let mut dora = replicas.signed_in_as(&portal, "7", "Dora", "administrator").await;
    let mut bob = replicas.signed_in_as(&portal, "8", "Bob", "member").await;
    let url = format!("{portal}{TASK}");
    let told = read(&mut dora, &url).await;
    assert!(told.header("cache-status").starts_with("cardea; fwd=miss; fwd-status=200; ttl="), "{:?}", told.headers);
    let hit = read(&mut dora, &url).await;
    assert!(hit.header("cache-status").starts_with("cardea; hit; ttl="), "{:?}", hit.headers);
    for _ in 0..2 {
        assert_eq!(read(&mut bob, &url).await.header("cache-status"), "");
    }
    // Its own tag: the same for the same bytes, good for a question with it, in `GET` and `HEAD`.
    let tag = hit.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag == told.header("etag"), "{tag}");
    let if_none = |tag: &str| Manners { headers: vec![("if-none-match", tag.to_owned())], ..Manners::default() };
    for method in [Method::GET, Method::HEAD] {
        let same = dora.send(method.clone(), &url, &if_none(&tag), |request| request).await;
        assert_eq!((same.status.as_u16(), same.bytes.len(), same.header("etag")), (304, 0, &*tag), "{method}");
        assert_eq!(same.header("cache-control"), "private, no-cache");
    }
    let other = dora.send(Method::GET, &url, &if_none("\"other\""), |request| request).await;
    assert_eq!((other.status.as_u16(), &other.bytes), (200, &hit.bytes));
    let head = dora.send(Method::HEAD, &url, &Manners::default(), |request| request).await;
    assert_eq!((head.bytes.len(), head.header("content-length")), (0, &*hit.bytes.len().to_string()));
    assert_eq!(polls(&replicas), 2, "one for each person");
}

/// A program that asks in front of a service on the bare socket.
struct Rig {
    upstream: Upstream,
    front: Front,
    client: Client,
}

impl Rig {
    async fn new(extra: &str) -> Self {
        let upstream = Upstream::start().await;
        let front = Front::with(&upstream.base, extra).await;
        Self { upstream, front, client: http() }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.front.base)).bearer_auth("token-of-alice")
    }

    async fn cache_status(&self, path: &str) -> (StatusCode, String) {
        let answer = self.get(path).send().await.unwrap();
        let told = answer.headers().get("cache-status").map(|value| value.to_str().unwrap().to_owned());
        (answer.status(), told.unwrap_or_default())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_forbids_it_is_never_kept() {
    let rig = Rig::new(LONG_LIVED).await;
    let body = br#"{"taskId":"t1","taskStatus":"SUCCESS"}"#.as_slice();
    let json_type = "content-type: application/json\r\n";
    for (number, line) in [
        "set-cookie: a=1\r\n",
        "cache-control: no-store\r\n",
        "cache-control: max-age=60, private\r\n",
        "cache-control: no-cache\r\n",
        "cache-control: no-store;\r\n",
        "cache-control: private, x=\"\u{e9}\"\r\n",
        "cache-control: max-age=0\r\ncache-control: must-revalidate\r\n",
        "cache-control: max-age=60\r\ncache-control: no-store\r\n",
        "cache-control: public\r\ncache-control: private\r\n",
        "pragma: x\r\npragma: no-cache\r\n",
        "vary: *\r\n",
        "vary: x-user\r\n",
        "content-encoding: gzip\r\n",
    ]
    .into_iter()
    .enumerate()
    {
        rig.upstream.says([Says::Bytes(answer("200 OK", &format!("{json_type}{line}"), body))]);
        let before = rig.upstream.asked().len();
        for time in 1..=3 {
            let got = rig.get(&format!("/scanner/api/v1/tasks/t{number}")).send().await.unwrap();
            assert_eq!(got.status(), 200, "{line}");
            assert!(!got.headers().contains_key("set-cookie"), "{line}");
            assert_eq!(rig.upstream.asked().len(), before + time, "{line}");
        }
    }
    for status in ["404 Not Found", "403 Forbidden", "500 Internal Server Error", "206 Partial Content"] {
        rig.upstream.says([Says::Bytes(upstream::json(status, "{}"))]);
        let before = rig.upstream.asked().len();
        for time in 1..=2 {
            rig.get("/scanner/api/v1/tasks/other").send().await.unwrap();
            assert_eq!(rig.upstream.asked().len(), before + time, "{status}");
        }
    }
    // A part is asked for each time, and is no whole answer for those who come later.
    rig.upstream.says([Says::Bytes(answer("206 Partial Content", "content-range: bytes 0-1/38\r\n", b"{}"))]);
    let before = rig.upstream.asked().len();
    let part = rig.get("/scanner/api/v1/tasks/part").header("range", "bytes=0-1").send().await.unwrap();
    assert_eq!(part.status(), 206);
    rig.upstream.says([Says::Bytes(answer("200 OK", json_type, body))]);
    for _ in 0..3 {
        let whole = rig.get("/scanner/api/v1/tasks/part").send().await.unwrap();
        assert_eq!(whole.bytes().await.unwrap(), body);
    }
    assert_eq!(rig.upstream.asked().len(), before + 2, "and the whole is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_service_is_in_trouble_an_old_answer_is_given_out_and_said_to_be_old() {
    let rig = Rig::new("[gateway.cache.task_running]\nfresh_ms = 1\n[gateway.upstream]\nretries = 0\n").await;
    rig.upstream.says([Says::Bytes(upstream::json("200 OK", r#"{"taskId":"t1","taskStatus":"SCANNING"}"#))]);
    assert_eq!(rig.cache_status(TASK).await.0, 200);
    let bad = |status: &str| Says::Bytes(upstream::json(status, "{}"));
    for says in [Says::Hangup, bad("503 Service Unavailable"), Says::Bytes(b"garbage\r\n\r\n".to_vec())] {
        rig.upstream.says([says]);
        let (status, told) = rig.cache_status(TASK).await;
        assert_eq!(status, 200, "{told}");
        assert!(told.contains("ttl=-"), "{told}");
    }
    // What was never answered cannot be made up.
    assert_eq!(rig.cache_status("/scanner/api/v1/tasks/unknown").await.0, 502);
    // A refusal is news, and the end of what was kept.
    rig.upstream.says([bad("404 Not Found")]);
    eventually("the news", async || (rig.cache_status(TASK).await.0 == 404).then_some(())).await;
    rig.upstream.says([Says::Hangup]);
    assert_eq!(rig.cache_status(TASK).await.0, 502);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_large_to_be_kept_passes_as_it_comes() {
    let extra = "[gateway.upstream]\nmax_answer_bytes = 65536\n".to_owned();
    let replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let mut browser = replicas.signed_in().await;
    let note = "x".repeat(300_000);
    replicas.service.desk().body = Some(task("SUCCESS", &note));
    let url = format!("{}{TASK}", replicas.all[0].url);
    let before = polls(&replicas);
    for _ in 0..3 {
        assert_eq!(field(&read(&mut browser, &url).await, "note"), note);
    }
    assert_eq!(polls(&replicas), before + 3, "nothing of it was kept, and nothing asked for twice");
}

/// An answer of the service that comes as the other end of the channel says.
fn fed(headers: &str) -> (mpsc::Sender<Vec<u8>>, Says) {
    let (pieces, more) = mpsc::channel(1);
    let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes();
    (pieces, Says::Then(head, Arc::new(Mutex::new(more))))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_pass_as_they_happen_where_other_answers_are_kept() {
    let rig = Rig::new(LONG_LIVED).await;
    for accept in [None, Some("application/json;q=0.1, text/event-stream")] {
        let (pieces, says) = fed("content-type: Text/Event-Stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n");
        let (others, also) = fed("content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n");
        rig.upstream.says([says, also]);
        let before = rig.upstream.asked().len();
        let path = format!("{TASK}?accept={}", accept.is_some());
        let get = || accept.iter().fold(rig.get(&path), |request, accept| request.header("accept", *accept));
        let mut first = get().send().await.unwrap();
        let mut second = get().send().await.unwrap();
        for number in 0..3 {
            // The next one happens only when the last has arrived.
            let event = format!("data: {number}\n\n");
            let piece = format!("{:x}\r\n{event}\r\n", event.len());
            for (pieces, stream) in [(&pieces, &mut first), (&others, &mut second)] {
                pieces.send(piece.clone().into_bytes()).await.unwrap();
                assert_eq!(stream.chunk().await.unwrap().unwrap(), event);
            }
        }
        let asked = &rig.upstream.asked()[before..];
        assert_eq!(asked.len(), 2, "each caller asks once");
        let told = |head: &str| accept.is_none_or(|accept| head.contains(&format!("accept: {accept}\r\n")));
        assert!(asked.iter().all(|asked| told(&asked.head)), "{asked:?}");
        drop((first, second));
        eventually("the end of both at the service", async || {
            // Whoever has left is noticed with the next event.
            let _ = (pieces.try_send(b"1\r\n\n\r\n".to_vec()), others.try_send(b"1\r\n\n\r\n".to_vec()));
            rig.upstream.asked()[before..].iter().all(|asked| asked.is_gone).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_to_be_kept_is_asked_for_once_by_each_caller_and_begins_before_it_ends() {
    let rig = Rig::new("[gateway.upstream]\nmax_answer_bytes = 65536\n").await;
    let json_type = "content-type: application/json\r\nconnection: close\r\n";
    let (half, bytes) = ("x".repeat(50_000), 150_000);
    let chunk = format!("{:x}\r\n{half}\r\n", half.len());
    // One whose length is told is not waited for at all; of another as much as might be kept.
    let told = (format!("{json_type}content-length: {bytes}\r\n"), [half.clone(), half.clone(), half.clone()], 1);
    let untold = (format!("{json_type}transfer-encoding: chunked\r\n"), [chunk.clone(), chunk.clone(), chunk + "0\r\n\r\n"], 2);
    for (number, (headers, parts, ahead)) in [told, untold].into_iter().enumerate() {
        let path = format!("{TASK}{number}");
        let (pieces, says) = fed(&headers);
        rig.upstream.says([says]);
        let before = rig.upstream.asked().len();
        let feed = async {
            for part in &parts[..ahead] {
                pieces.send(part.clone().into_bytes()).await.unwrap();
            }
        };
        let (first, ()) = tokio::join!(rig.get(&path).send(), feed);
        let mut first = first.unwrap();
        let mut read = first.chunk().await.unwrap().unwrap().len();
        assert!(read > 0, "it began before its end was there");
        let rest = async {
            for part in &parts[ahead..] {
                pieces.send(part.clone().into_bytes()).await.unwrap();
            }
        };
        let all = async {
            while read < bytes {
                read += first.chunk().await.unwrap().unwrap().len();
            }
        };
        tokio::join!(rest, all);
        assert_eq!((read, rig.upstream.asked().len()), (bytes, before + 1));
        // Those who come later ask once each, and wait for nothing of it.
        for time in 2..=4 {
            let (pieces, says) = fed(&headers);
            rig.upstream.says([says]);
            let answer = rig.get(&path).send().await.unwrap();
            assert!(answer.headers()["cache-status"].to_str().unwrap().contains("fwd=bypass"), "{answer:?}");
            for part in &parts {
                pieces.send(part.clone().into_bytes()).await.unwrap();
            }
            drop(pieces);
            assert_eq!(answer.bytes().await.unwrap().len(), bytes);
            assert_eq!(rig.upstream.asked().len(), before + time);
        }
        // What they say of their own is heard, since nobody else gets the answer.
        rig.upstream.says([Says::Bytes(answer("200 OK", json_type, b""))]);
        let head = rig.client.head(format!("{}{path}", rig.front.base)).bearer_auth("token-of-alice");
        assert_eq!(head.header("if-none-match", "\"7\"").send().await.unwrap().status(), 200);
        let asked = rig.upstream.asked().pop().unwrap().head;
        assert!(asked.starts_with("HEAD ") && asked.contains("if-none-match: \"7\"\r\n"), "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_who_ask_for_the_same_large_answer_at_once_make_twenty_calls() {
    let rig = Rig::new("[gateway.upstream]\nmax_answer_bytes = 65536\n").await;
    let body = vec![b'x'; 200_000];
    rig.upstream.says([Says::Bytes(answer("200 OK", "content-type: application/json\r\n", &body))]);
    let answers = join_all((0..20).map(async |_| rig.get(TASK).send().await.unwrap().bytes().await.unwrap())).await;
    assert!(answers.iter().all(|answer| *answer == body));
    assert_eq!(rig.upstream.asked().len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_that_has_ended_is_shown_what_was_kept_for_it_for_a_moment_only() {
    let upstream = Upstream::start().await;
    let front = Front::new(&upstream.base).await;
    upstream.says([Says::Bytes(upstream::json("200 OK", r#"{"taskId":"t1","taskStatus":"SUCCESS"}"#))]);
    let ask = async || {
        let answer = http().get(format!("{}{TASK}", front.base)).bearer_auth("token-of-alice").send().await.unwrap();
        answer.status().as_u16()
    };
    assert_eq!(ask().await, 200);
    // Nobody here is told of the end of a token; the service knows.
    upstream.says([Says::Bytes(upstream::json("401 Unauthorized", "{}"))]);
    eventually("the end of what was kept", async || (ask().await == 401).then_some(())).await;
    upstream.says([Says::Hangup]);
    assert_eq!(ask().await, 502, "and trouble does not bring it back");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_bearers_are_two_readers_and_so_are_two_languages() {
    let rig = Rig::new(LONG_LIVED).await;
    let mut seen = 0;
    for bearer in ["token-of-alice", "token-of-bob"] {
        for language in ["en", "zh"] {
            for _ in 0..2 {
                let body = format!(r#"{{"taskId":"t1","taskStatus":"SUCCESS","for":"{bearer} {language}"}}"#);
                rig.upstream.says([Says::Bytes(upstream::json("200 OK", &body))]);
                let request = rig.client.get(format!("{}{TASK}", rig.front.base)).bearer_auth(bearer);
                let got = request.header("x-user-language", language).send().await.unwrap().text().await.unwrap();
                assert_eq!(got, body);
            }
            seen += 1;
            assert_eq!(rig.upstream.asked().len(), seen);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_everybody_may_ask_no_token_of_anybody_goes_and_all_share_what_is_kept() {
    let rig = Rig::new(LONG_LIVED).await;
    let open = "/biz/api/v1/auth/clerk/publishable-key";
    rig.upstream.says([Says::Bytes(upstream::json("200 OK", r#"{"key":"pk"}"#))]);
    for bearer in [Some("token-of-alice"), Some("token-of-bob"), None] {
        let request = rig.client.get(format!("{}{open}", rig.front.base));
        let request = if let Some(bearer) = bearer { request.bearer_auth(bearer) } else { request };
        assert_eq!(request.send().await.unwrap().text().await.unwrap(), r#"{"key":"pk"}"#);
    }
    let asked = rig.upstream.asked();
    assert_eq!(asked.len(), 1, "it is the same for everybody");
    assert!(!asked[0].head.to_ascii_lowercase().contains("authorization"), "{}", asked[0].head);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_fills_the_store_with_questions_that_differ_in_words_without_meaning() {
    let rig = Rig::new(LONG_LIVED).await;
    let url = format!("{}/biz/api/v1/auth/clerk/publishable-key", rig.front.base);
    rig.upstream.says((0..3).map(|_| Says::Bytes(upstream::json("200 OK", r#"{"key":"pk"}"#))).collect::<Vec<_>>());
    for query in ["?z=1", "?z=1", "?z=2"] {
        assert_eq!(rig.client.get(format!("{url}{query}")).send().await.unwrap().status(), 200);
    }
    let asked = rig.upstream.asked();
    assert_eq!(asked.len(), 3, "they pass, and nothing of them is kept");
    assert!(asked[2].head.starts_with("GET /biz/api/v1/auth/clerk/publishable-key?z=2 "), "{}", asked[2].head);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wanted_only_as_it_was_is_judged_by_the_tag_that_was_given_out() {
    let rig = Rig::new(LONG_LIVED).await;
    let lines = "content-type: application/json\r\nlast-modified: Sat, 28 Nov 2026 12:00:00 GMT\r\netag: \"theirs\"\r\n";
    rig.upstream.says([Says::Bytes(answer("200 OK", lines, br#"{"taskId":"t1","taskStatus":"SUCCESS"}"#))]);
    let tag = rig.get(TASK).send().await.unwrap().headers()["etag"].to_str().unwrap().to_owned();
    for (name, value, status) in [
        ("if-match", &*tag, 200),
        ("if-match", "*", 200),
        ("if-match", "\"theirs\"", 412),
        ("if-unmodified-since", "Sat, 28 Nov 2026 12:00:00 GMT", 200),
        ("if-unmodified-since", "Sat, 28 Nov 2026 11:00:00 GMT", 412),
    ] {
        let answer = rig.get(TASK).header(name, value).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{name}: {value}");
        let told: Value = answer.json().await.unwrap();
        assert_eq!(told["data"]["errCode"].as_u64(), (status == 412).then_some(4120), "{told}");
    }
    assert_eq!(rig.upstream.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_on_a_condition_is_judged_by_the_tag_that_was_given_out_and_answered_whole() {
    let rig = Rig::new(LONG_LIVED).await;
    let body = r#"{"taskId":"t1","taskStatus":"SUCCESS"}"#;
    rig.upstream.says([Says::Bytes(upstream::json("200 OK", body))]);
    let tag = rig.get(TASK).send().await.unwrap().headers()["etag"].to_str().unwrap().to_owned();
    for (name, value, status) in [
        ("if-match", &*tag, 200),
        ("if-match", "\"other\"", 412),
        ("if-none-match", &*tag, 304),
        ("if-none-match", "\"other\"", 200),
        ("if-range", &*tag, 200),
        ("if-range", "\"other\"", 200),
    ] {
        let answer = rig.get(TASK).header("range", "bytes=0-1").header(name, value).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{name}: {value}");
        if status == 200 {
            assert_eq!(answer.text().await.unwrap(), body, "{name}: {value}");
        }
    }
    assert_eq!(rig.upstream.asked().len(), 1, "the service has never seen that tag");
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_searches_are_one_question_however_their_json_is_written() {
    let rig = Rig::new(LONG_LIVED).await;
    let ask = async |body: &'static str| {
        let url = format!("{}/scanner/api/v1/tasks/t1/results/search", rig.front.base);
        let request = rig.client.post(url).bearer_auth("t").header("content-type", "application/json").body(body);
        assert_eq!(request.send().await.unwrap().status(), 200, "{body}");
        rig.upstream.asked().len()
    };
    assert_eq!(ask(r#"{"size":10,"sorts":["severity"]}"#).await, 1);
    assert_eq!(ask(r#"{ "sorts" : ["severity"], "size" : 10 }"#).await, 1);
    assert_eq!(ask(r#"{"size":11,"sorts":["severity"]}"#).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_asked_for_before_a_change_is_not_kept_after_it() {
    let rig = Rig::new(LONG_LIVED).await;
    let (pieces, more) = mpsc::channel(1);
    let old = br#"{"taskId":"t1","taskStatus":"SUCCESS","note":"before"}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", old.len());
    let new = r#"{"taskId":"t1","taskStatus":"SUCCESS","note":"after"}"#;
    let slow = Says::Then(head.into_bytes(), Arc::new(Mutex::new(more)));
    rig.upstream.says([slow, Says::Bytes(upstream::json("200 OK", "")), Says::Bytes(upstream::json("200 OK", new))]);
    let first = rig.get(TASK).send();
    let change = async {
        rig.upstream.asked_times(1).await;
        let url = format!("{}/scanner/api/v1/tasks/terminate", rig.front.base);
        let changed =
            rig.client.post(url).bearer_auth("token-of-alice").json(&json!({ "taskIds": ["t1"] })).send().await.unwrap();
        assert_eq!(changed.status(), 200);
        // Whoever asks after the change does not wait for what was asked before it.
        assert_eq!(rig.get(TASK).send().await.unwrap().text().await.unwrap(), new);
        pieces.send(old.to_vec()).await.unwrap();
    };
    let (first, ()) = tokio::join!(first, change);
    assert_eq!(first.unwrap().bytes().await.unwrap(), old.as_slice());
    for _ in 0..3 {
        assert_eq!(rig.get(TASK).send().await.unwrap().text().await.unwrap(), new);
    }
    assert_eq!(rig.upstream.asked().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_one_whose_question_is_under_way_leaves_those_who_wait_are_answered() {
    let replicas = Replicas::embedded_with(long_lived()).await;
    let browser = replicas.signed_in().await;
    let cookies = browser.cookies_for(&Url::parse(&replicas.all[0].url).unwrap());
    {
        let mut desk = replicas.service.desk();
        (desk.body, desk.latency) = (Some(task("SCANNING", "")), Duration::from_secs(2));
        desk.calls.clear();
    }
    let client = http();
    let ask = || client.get(format!("{}{TASK}", replicas.all[0].url)).header("cookie", &cookies).send();
    let waiting = || replicas.service.desk().waiting;
    let mut first = Box::pin(ask());
    tokio::select! {
        answer = &mut first => panic!("{answer:?}"),
        () = eventually("the question", async || (waiting() == 1).then_some(())) => {}
    }
    let others = join_all((0..20).map(|_| ask()));
    let leave = async {
        // The others have most likely come; when they have not, they ask for themselves.
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(first);
    };
    let (others, ()) = tokio::join!(others, leave);
    assert!(others.into_iter().all(|answer| answer.unwrap().status() == 200));
    // The service noted the call that was given up, or not; the others made one of their own.
    assert!(polls(&replicas) <= 2, "{}", polls(&replicas));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_for_those_who_told_the_service_the_same_in_every_header_that_it_sees() {
    let upstream = Upstream::start().await;
    let front = Front::with(&upstream.base, LONG_LIVED).await;
    upstream.says([Says::Bytes(answer("200 OK", "content-type: application/json\r\nvary: accept-language\r\n", b"{}"))]);
    let ask = async |lines: &[(&str, &[u8])]| {
        let request = http().get(format!("{}{TASK}", front.base)).bearer_auth("t");
        let request = lines.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        assert_eq!(request.send().await.unwrap().status(), 200);
    };
    let told: [&[(&str, &[u8])]; 8] = [
        &[],
        &[("x-user-language", b"en")],
        &[("x-user-language", b"en"), ("x-user-language", b"zh")],
        &[("x-user-language", b"en"), ("accept-language", b"zh")],
        &[("accept-language", b"zh")],
        &[("x-user-language", b"\xe4")],
        &[("x-user-language", b"\xe5")],
        &[("content-type", b"text/plain")],
    ];
    for (at, lines) in told.iter().enumerate() {
        ask(lines).await;
        ask(lines).await;
        assert_eq!(upstream.asked().len(), at + 1, "{lines:?}");
    }
}
