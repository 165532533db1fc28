//! The pace of calls, seen from outside: who may call how often, a service that fails is left alone for one tenant only, and a
//! service that is slow costs those who wait for it and nobody else.

use std::io::Write as _;
use std::time::Duration;

use cardea::platform::clock::Clock;
use futures_util::future::{Either, select};
use futures_util::stream::{self, StreamExt as _};
use reqwest::{Body, Client, Method, Response, StatusCode};
use serde_json::Value;
use url::Url;

use super::operations::value;
use crate::support::client::{Browser, Manners, http};
use crate::support::eventually;
use crate::support::front::Front;
use crate::support::provider::Provider;
use crate::support::redis::free_port;
use crate::support::replicas::{Replicas, Setup};
use crate::support::upstream::{Says, Upstream, answer, json};

const TASK: &str = "/scanner/api/v1/tasks/t1";
const NEVER_KEPT: &str = "/scanner/api/v1/domain-ownership/random-content";

/// Windows of an hour: none ends while a test runs.
fn rate(lines: &str) -> String {
    format!("[gateway.api.rate]\nwindow_seconds = 3600\n{lines}")
}

async fn ask(client: &Client, base: &str, bearer: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = client.get(format!("{base}{NEVER_KEPT}"));
    if !bearer.is_empty() {
        request = request.bearer_auth(bearer);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

fn header(answer: &Response, name: &str) -> String {
    answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

/// A refusal for now: its status, that it says when to come back, and its document.
async fn refused(answer: Response, status: StatusCode) -> u64 {
    assert_eq!(answer.status(), status);
    assert_eq!(header(&answer, "content-type"), "application/problem+json");
    let wait: u64 = header(&answer, "retry-after").parse().unwrap();
    let told: Value = answer.json().await.unwrap();
    assert!(told["success"] == false && told["data"]["errCode"].is_u64() && told["request_id"].is_string(), "{told}");
    assert!(wait >= 1);
    wait
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_has_so_many_calls_and_is_told_how_many_are_left_and_when_to_come_back() {
    let upstream = Upstream::start().await;
    let front = Front::with(&upstream.base, &rate("per_caller = 5\nper_network = 14\n")).await;
    let client = http();
    for token in ["token-of-alice", "token-of-bob"] {
        // The service has to accept a token before it is a caller's.
        assert_eq!(ask(&client, &front.base, token, &[]).await.status(), 200);
    }
    for left in (0..5).rev() {
        let answer = ask(&client, &front.base, "token-of-alice", &[]).await;
        assert_eq!(answer.status(), 200);
        assert!(header(&answer, "ratelimit").starts_with(&format!("\"caller\";r={left};t=")), "{:?}", answer.headers());
        let policy = header(&answer, "ratelimit-policy");
        assert!(policy.contains("\"caller\";q=5;w=3600") && policy.contains("\"network\";q=14;w=3600"), "{policy}");
    }
    let answer = ask(&client, &front.base, "token-of-alice", &[]).await;
    assert!(header(&answer, "ratelimit").starts_with("\"caller\";r=0;t="));
    refused(answer, StatusCode::TOO_MANY_REQUESTS).await;
    assert_eq!(upstream.asked().len(), 2 + 5, "nothing of it came to the service");
    // Another caller from the same network, whose own allowance counts refused guesses as well.
    for _ in 0..5 {
        assert_eq!(ask(&client, &front.base, "token-of-bob", &[]).await.status(), 200);
    }
    for _ in 0..2 {
        assert_eq!(ask(&client, &front.base, "", &[]).await.status(), 401);
    }
    let answer = ask(&client, &front.base, "token-of-carol", &[]).await;
    assert!(header(&answer, "ratelimit").starts_with("\"network\";r=0;t="), "{:?}", answer.headers());
    refused(answer, StatusCode::TOO_MANY_REQUESTS).await;
    refused(ask(&client, &front.base, "", &[]).await, StatusCode::TOO_MANY_REQUESTS).await;
}

#[tokio::test]
async fn networks_are_those_of_callers_behind_a_trusted_proxy_and_an_ipv6_one_is_a_64() {
    let server = "trusted_proxies = [\"127.0.0.0/8\"]\n".to_owned();
    let replicas = Replicas::embedded_with(Setup { server, extra: rate("per_network = 3\n"), ..Setup::default() }).await;
    let portal = &replicas.all[0].url;
    let cookies = replicas.signed_in().await.cookies_for(&Url::parse(portal).unwrap());
    let client = http();
    let taken = async |addresses: &[&str]| {
        let mut taken = 0;
        for address in addresses.iter().cycle().take(6) {
            let answer = ask(&client, portal, "", &[("cookie", &cookies), ("x-forwarded-for", address)]).await;
            taken += usize::from(answer.status() == 200);
            assert!([200, 429].contains(&answer.status().as_u16()));
        }
        taken
    };
    assert_eq!(taken(&["203.0.113.7"]).await, 3);
    assert_eq!(taken(&["203.0.113.8"]).await, 3, "another address");
    assert_eq!(taken(&["6.6.6.6, 203.0.113.7"]).await, 0, "what a caller says itself is not believed");
    assert_eq!(taken(&["2001:db8:1:2::1", "2001:db8:1:2:ffff::2"]).await, 3, "one /64");
    assert_eq!(taken(&["2001:db8:1:3::1"]).await, 3);
}

#[tokio::test]
async fn what_one_replica_counted_the_other_knows() {
    let extra = rate("per_caller = 200\nshare_ms = 50\n");
    let replicas = Replicas::on_redis_with(2, Setup { extra, ..Setup::default() }).await;
    let cookies = replicas.signed_in().await.cookies_for(&Url::parse(&replicas.all[0].url).unwrap());
    let client = http();
    for _ in 0..200 {
        assert_eq!(ask(&client, &replicas.all[0].url, "", &[("cookie", &cookies)]).await.status(), 200);
    }
    // Alone it would take two hundred more; it learns of the others with the first few.
    let mut more = 0;
    while ask(&client, &replicas.all[1].url, "", &[("cookie", &cookies)]).await.status() == 200 {
        more += 1;
        assert!(more < 50, "the other replica does not know");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Other people are not affected.
    let bob = replicas.signed_in_as(&replicas.all[1].url, "8", "Bob", "member").await;
    let cookies = bob.cookies_for(&Url::parse(&replicas.all[0].url).unwrap());
    for replica in &replicas.all {
        assert_eq!(ask(&client, &replica.url, "", &[("cookie", &cookies)]).await.status(), 200);
    }
}

#[tokio::test]
async fn without_the_store_each_replica_counts_for_itself() {
    // Guesses are counted whether or not anybody can be recognised.
    let extra = rate("per_network = 20\nshare_ms = 50\n");
    let mut alone = Replicas::on_redis_with(1, Setup { extra, ..Setup::default() }).await;
    alone.redis.as_mut().unwrap().kill();
    let client = http();
    let mut statuses = Vec::new();
    for _ in 0..25 {
        statuses.push(ask(&client, &alone.all[0].url, "", &[]).await.status().as_u16());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 5, "{statuses:?}");
}

/// Somebody at each of the two companies.
async fn two_companies(replicas: &Replicas) -> [(Browser, String); 2] {
    let replica = &replicas.all[0];
    let acme = replicas.signed_in_as(&replica.url, "7", "Dora", "administrator").await;
    let globex = replicas.signed_in_as(&replica.globex, "9", "Carol", "administrator").await;
    replicas.service.desk().calls.clear();
    [(acme, format!("{}{NEVER_KEPT}", replica.url)), (globex, format!("{}{NEVER_KEPT}", replica.globex))]
}

#[tokio::test]
async fn a_service_that_fails_is_left_alone_for_that_tenant_and_tried_again_by_one_call() {
    let extra = "[gateway.api.breaker]\nfailures = 3\nopen_ms = 3000\nopen_most_ms = 3000\n[gateway.upstream]\nretries = 0\n";
    let replicas = Replicas::embedded_with(Setup { extra: extra.to_owned(), ..Setup::default() }).await;
    let [(acme, at_acme), (mut globex, at_globex)] = two_companies(&replicas).await;
    let cookies = acme.cookies_for(&Url::parse(&at_acme).unwrap());
    let client = http();
    let call = async || client.get(&at_acme).header("cookie", &cookies).send().await.unwrap();
    let calls = || replicas.service.desk().calls.len();
    replicas.service.desk().status = Some(503);
    for _ in 0..3 {
        let answer = call().await;
        assert_eq!(
            (answer.status().as_u16(), header(&answer, "content-type").as_str()),
            (503, "application/json"),
            "its own words"
        );
    }
    assert_eq!(calls(), 3);
    let wait = refused(call().await, StatusCode::SERVICE_UNAVAILABLE).await;
    assert!(wait <= 3, "{wait}");
    assert_eq!(calls(), 3, "nobody was asked");
    // One call tries while the others are refused; it fails, and the pause begins anew.
    eventually("a try", async || {
        refused_or_failed(call().await).await;
        (calls() > 3).then_some(())
    })
    .await;
    refused(call().await, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(calls(), 4);
    replicas.service.desk().status = None;
    let other = globex.send(Method::GET, &at_globex, &Manners::default(), |request| request).await;
    assert_eq!(other.status, 200, "{}", other.text());
    refused(call().await, StatusCode::SERVICE_UNAVAILABLE).await;
    eventually("a good try", async || (call().await.status() == 200).then_some(())).await;
    for _ in 0..5 {
        assert_eq!(call().await.status(), 200);
    }
    // The good try, and nothing between it and the bad one.
    assert_eq!(calls(), 4 + 1 + 6);
}

async fn refused_or_failed(answer: Response) {
    assert_eq!(answer.status(), 503);
    answer.bytes().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tries_anew_have_a_budget_of_their_own() {
    let upstream = Upstream::start().await;
    let extra = "[gateway.api.retry]\npercent = 0\nleast = 3\nwindow_seconds = 600\n[gateway.upstream]\nretries = 2\n\
                 [gateway.api.breaker]\nfailures = 1000\nleast_calls = 1000\n";
    let front = Front::with(&upstream.base, extra).await;
    upstream.says([Says::Bytes(json("503 Service Unavailable", "{}"))]);
    let client = http();
    for _ in 0..10 {
        assert_eq!(ask(&client, &front.base, "t", &[]).await.status(), 503);
    }
    assert_eq!(upstream.asked().len(), 10 + 3);
}

#[tokio::test]
async fn when_all_places_are_taken_some_wait_and_others_are_sent_away_at_once() {
    let extra = "[gateway.api.gate]\nat_once = 2\nwaiting = 1\nwait_ms = 60000\n".to_owned();
    let replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let [(acme, at_acme), (mut globex, at_globex)] = two_companies(&replicas).await;
    let cookies = acme.cookies_for(&Url::parse(&at_acme).unwrap());
    let client = http();
    let report = format!("{}/scanner/api/v2/tasks/t1/report", replicas.all[0].url);
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut stream = client.get(&report).header("cookie", &cookies).send().await.unwrap();
        assert!(stream.chunk().await.unwrap().is_some());
        streams.push(stream);
    }
    let headers = [("cookie", &*cookies)];
    let call = || Box::pin(ask(&client, &replicas.all[0].url, "", &headers));
    let (first, waiting) = match select(call(), call()).await {
        Either::Left((answer, waiting)) | Either::Right((answer, waiting)) => (answer, waiting),
    };
    refused(first, StatusCode::SERVICE_UNAVAILABLE).await;
    let other = globex.send(Method::GET, &at_globex, &Manners::default(), |request| request).await;
    assert_eq!(other.status, 200, "another tenant has places of its own");
    // A stream that nobody reads any more gives its place to the one who waits.
    drop(streams.pop());
    assert_eq!(waiting.await.status(), 200);
}

#[tokio::test]
async fn nobody_waits_for_a_place_for_longer_than_that() {
    let extra = "[gateway.api.gate]\nat_once = 1\nwaiting = 9\nwait_ms = 300\n".to_owned();
    let replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let [(acme, at_acme), _] = two_companies(&replicas).await;
    let cookies = acme.cookies_for(&Url::parse(&at_acme).unwrap());
    let client = http();
    let report = format!("{}/scanner/api/v2/tasks/t1/report", replicas.all[0].url);
    let mut stream = client.get(&report).header("cookie", &cookies).send().await.unwrap();
    assert!(stream.chunk().await.unwrap().is_some());
    for _ in 0..2 {
        refused(ask(&client, &replicas.all[0].url, "", &[("cookie", &cookies)]).await, StatusCode::SERVICE_UNAVAILABLE).await;
    }
    assert_eq!(replicas.service.desk().calls.len(), 1);
    drop(stream);
    eventually("the place", async || {
        (ask(&client, &replicas.all[0].url, "", &[("cookie", &cookies)]).await.status() == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_network_that_calls_too_often_costs_no_look_at_its_credentials() {
    let port = free_port();
    let extra = format!("[gateway.operations]\nlisten = \"127.0.0.1:{port}\"\n{}", rate("per_network = 2\n"));
    let replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let client = http();
    for status in [401, 401, 429, 429, 429] {
        assert_eq!(ask(&client, &replicas.all[0].url, "cdk_made-up", &[]).await.status().as_u16(), status);
    }
    let metrics = client.get(format!("http://127.0.0.1:{port}/metrics")).send().await.unwrap().text().await.unwrap();
    assert_eq!(value(&metrics, "cardea_api_key_total{outcome=\"unknown\"}"), Some(2.0), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_take_neither_the_places_nor_the_allowance_of_members() {
    let upstream = Upstream::start().await;
    let extra = "[gateway.api.gate]\nat_once = 1\nstrangers_at_once = 2\nwaiting = 1\nwait_ms = 300\n\
                 [gateway.api.rate]\nwindow_seconds = 3600\nper_tenant = 5\n";
    let front = Front::with(&upstream.base, extra).await;
    let client = http();
    let ok = || Says::Bytes(json("200 OK", "{}"));
    let no = || Says::Bytes(json("401 Unauthorized", "{}"));
    upstream.says([ok(), Says::Silence, Says::Silence, ok(), no(), ok()]);
    assert_eq!(ask(&client, &front.base, "token-of-alice", &[]).await.status(), 200, "she has proved herself");
    // One with a token that nobody knows yet, one without any.
    let unknown = ask(&client, &front.base, "made-up", &[]);
    let nobody = client.get(format!("{}/biz/api/v1/auth/clerk/publishable-key", front.base)).send();
    let both = async { tokio::join!(unknown, nobody) };
    let meanwhile = async {
        upstream.asked_times(3).await;
        refused(ask(&client, &front.base, "made-up-as-well", &[]).await, StatusCode::SERVICE_UNAVAILABLE).await;
        for status in [200, 401] {
            // The second time the service takes her token back.
            let answer = ask(&client, &front.base, "token-of-alice", &[]).await;
            assert_eq!(answer.status(), status);
            assert!(header(&answer, "ratelimit-policy").contains("\"caller\""), "{:?}", answer.headers());
        }
        // She is a stranger again, of whom there were five calls: the first of hers, three others, and one more now.
        assert_eq!(ask(&client, &front.base, "token-of-alice", &[]).await.status(), 503);
        let made_up = ask(&client, &front.base, "made-up-too", &[]).await;
        assert!(header(&made_up, "ratelimit").starts_with("\"tenant\";r=0"), "{:?}", made_up.headers());
        refused(made_up, StatusCode::TOO_MANY_REQUESTS).await;
    };
    match select(Box::pin(both), Box::pin(meanwhile)).await {
        Either::Left(_) => panic!("the service answered"),
        Either::Right(_) => {}
    }
}

/// With a clock that the test moves.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_a_members_for_as_long_as_is_set_after_the_service_accepted_it_last() {
    for (lines, is_known) in [("proven_seconds = 5\n", false), ("", true)] {
        let upstream = Upstream::start().await;
        let clock = Clock::manual(Clock::system().now());
        let extra = format!("[gateway.api.gate]\nstrangers_at_once = 1\nwaiting = 0\n{lines}");
        let front = Front::at(clock.clone(), (&upstream.base, "http://127.0.0.1:9"), &extra).await;
        let client = http();
        let ok = || Says::Bytes(json("200 OK", "{}"));
        upstream.says([ok(), ok(), ok(), Says::Silence, ok()]);
        let alice = async || ask(&client, &front.base, "token-of-alice", &[]).await;
        let is_member = |answer: &Response| header(answer, "ratelimit-policy").contains("\"caller\"");
        let first = alice().await;
        assert!(first.status() == 200 && !is_member(&first), "{:?}", first.headers());
        for _ in 0..2 {
            clock.advance(Duration::from_secs(4));
            let answer = alice().await;
            assert!(answer.status() == 200 && is_member(&answer), "{lines}: {:?}", answer.headers());
        }
        // Somebody has the one place of strangers.
        let somebody = ask(&client, &front.base, "made-up", &[]);
        let meanwhile = async {
            upstream.asked_times(4).await;
            clock.advance(Duration::from_secs(5));
            let answer = alice().await;
            if is_known {
                assert!(answer.status() == 200 && is_member(&answer), "{:?}", answer.headers());
            } else {
                refused(answer, StatusCode::SERVICE_UNAVAILABLE).await;
            }
            assert_eq!(upstream.asked().len(), 4 + usize::from(is_known));
        };
        match select(Box::pin(somebody), Box::pin(meanwhile)).await {
            Either::Left(_) => panic!("the service answered"),
            Either::Right(_) => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_one_call_to_the_breaker_however_often_it_was_tried() {
    let upstream = Upstream::start().await;
    let extra = "[gateway.api.breaker]\nfailures = 3\nopen_ms = 700\nopen_most_ms = 700\n[gateway.upstream]\nretries = 2\n\
                 [gateway.api.retry]\nleast = 1000\n";
    let front = Front::with(&upstream.base, extra).await;
    upstream.says([Says::Bytes(json("503 Service Unavailable", "{}"))]);
    let client = http();
    for asked in [3, 6, 9] {
        assert_eq!(ask(&client, &front.base, "t", &[]).await.status(), 503);
        assert_eq!(upstream.asked().len(), asked);
    }
    refused(ask(&client, &front.base, "t", &[]).await, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(upstream.asked().len(), 9);
    eventually("a call that finds out", async || {
        refused_or_failed(ask(&client, &front.base, "t", &[]).await).await;
        (upstream.asked().len() > 9).then_some(())
    })
    .await;
    assert_eq!(upstream.asked().len(), 10, "it is tried once");
}

/// Both keys are shown to the service as the same server key, so what one asks is waited for by the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_has_used_up_its_places_takes_no_other_key_along_that_asks_the_same() {
    let (provider, upstream) = (Provider::start().await, Upstream::start().await);
    let extra = "[gateway.api.gate]\nat_once_per_caller = 1\nwait_ms = 2000\n";
    let front = Front::at(Clock::system(), (&upstream.base, &provider.issuer), extra).await;
    let mut dora = Browser::new();
    assert_eq!(dora.sign_in_at(&front.base).await.status, 200);
    dora.add_server_key(&front.base, "first", "server-key-one-0123456789").await;
    let full = dora.issue_api_key(&front.base, &[("label", "full")]).await;
    let free = dora.issue_api_key(&front.base, &[("label", "free")]).await;
    let before = upstream.asked().len();
    upstream.says([Says::Silence, Says::Bytes(json("200 OK", r#"{"taskId":"t1","taskStatus":"SCANNING"}"#))]);
    let client = http();
    let polls = async |key: &str| client.get(format!("{}{TASK}", front.base)).bearer_auth(key).send().await.unwrap();
    let held = ask(&client, &front.base, &full, &[]);
    let meanwhile = async {
        upstream.asked_times(before + 1).await;
        let second = async {
            // The first has most likely come and waits for a place; when it has not, this is no test.
            tokio::time::sleep(Duration::from_millis(500)).await;
            polls(&free).await
        };
        let (first, second) = tokio::join!(polls(&full), second);
        refused(first, StatusCode::SERVICE_UNAVAILABLE).await;
        assert_eq!(second.status(), 200, "it has a place of its own");
    };
    match select(Box::pin(held), Box::pin(meanwhile)).await {
        Either::Left(_) => panic!("the service answered"),
        Either::Right(_) => {}
    }
}

/// With a clock that the test moves.
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_takes_its_time_keeps_nobody_from_a_service_that_is_well_again() {
    let upstream = Upstream::start().await;
    let clock = Clock::manual(Clock::system().now());
    let extra = "[gateway.api.breaker]\nfailures = 1\nopen_ms = 1000\n[gateway.upstream]\nretries = 0\n";
    let front = Front::at(clock.clone(), (&upstream.base, "http://127.0.0.1:9"), extra).await;
    upstream.says([Says::Bytes(json("503 Service Unavailable", "{}")), Says::Bytes(json("200 OK", "{}"))]);
    let client = http();
    assert_eq!(ask(&client, &front.base, "t", &[]).await.status(), 503);
    refused(ask(&client, &front.base, "t", &[]).await, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(upstream.asked().len(), 1);
    clock.advance(Duration::from_secs(1));
    // It begins, and nothing more comes of it.
    let body = stream::iter([Ok::<_, std::io::Error>(vec![b'x'; 9_000])]).chain(stream::pending());
    let upload = client.post(format!("{}/scanner/api/v1/files/upload", front.base)).bearer_auth("t");
    let upload = upload.header("content-type", "multipart/form-data; boundary=b").body(Body::wrap_stream(body)).send();
    let others = async {
        upstream.asked_times(2).await;
        for _ in 0..3 {
            assert_eq!(ask(&client, &front.base, "t", &[]).await.status(), 200);
        }
    };
    match select(Box::pin(upload), Box::pin(others)).await {
        Either::Left((answer, _)) => panic!("{answer:?}"),
        Either::Right(_) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_may_have_begun_is_not_tried_again_nor_what_the_subscription_does_not_cover() {
    let upstream = Upstream::start().await;
    let front = Front::with(&upstream.base, "[gateway.upstream]\nretries = 2\ntimeout_ms = 500\n").await;
    let client = http();
    let subscription = r#"{"success":false,"data":{"errCode":1010,"errDetail":"no"}}"#;
    for (asked, (says, status)) in [
        (Says::Hangup, 502),
        (Says::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()), 504),
        (Says::Silence, 504),
        (Says::Bytes(json("503 Service Unavailable", subscription)), 503),
    ]
    .into_iter()
    .enumerate()
    {
        upstream.says([says]);
        let answer = ask(&client, &front.base, "t", &[]).await;
        assert_eq!(answer.status(), status);
        assert_eq!(upstream.asked().len(), asked + 1, "{status}");
        if status == 503 {
            assert_eq!(answer.text().await.unwrap(), subscription, "it passes as it is");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_compressed_answer_says_of_the_subscription_is_read_and_what_cannot_be_read_is_not_tried_again() {
    let upstream = Upstream::start().await;
    let front = Front::with(&upstream.base, "[gateway.upstream]\nretries = 2\n").await;
    let client = http();
    let says = |coding: &str, body: &[u8]| {
        let headers = format!("content-type: application/json\r\ncontent-encoding: {coding}\r\n");
        [Says::Bytes(answer("503 Service Unavailable", &headers, body))]
    };
    let mut before = 0;
    for (coding, body, tries) in [
        ("gzip", gzip(br#"{"success":false,"data":{"errCode":1010,"errDetail":"no"}}"#), 1),
        ("br", b"who knows".to_vec(), 1),
        ("gzip", gzip(br#"{"success":false,"data":{"errCode":5030,"errDetail":"busy"}}"#), 3),
    ] {
        upstream.says(says(coding, &body));
        let heard = ask(&client, &front.base, "t", &[("accept-encoding", "gzip, br")]).await;
        assert_eq!((heard.status().as_u16(), header(&heard, "content-encoding").as_str()), (503, coding));
        assert_eq!(heard.bytes().await.unwrap(), body, "it passes as it is");
        assert_eq!(upstream.asked().len(), before + tries, "{coding}");
        before += tries;
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}
