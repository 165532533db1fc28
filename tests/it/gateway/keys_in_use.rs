//! API keys and server keys in use, over sockets: who gets in with which key, for how long, and with which key of the tenant the
//! service is then asked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cardea::platform::clock::Clock;
use futures_util::stream;
use reqwest::header::HeaderValue;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, Response};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::support::client::{Browser, Manners, http};
use crate::support::eventually;
use crate::support::front::Front;
use crate::support::provider::Provider;
use crate::support::replicas::{Replicas, Setup};
use crate::support::service::Service;
use crate::support::upstream::{Says, Upstream, json};

const SK: &str = "server-key-one-0123456789";
const OTHER_SK: &str = "server-key-two-0123456789";
const TASK: &str = "/scanner/api/v1/tasks/t1";
const REPORT: &str = "/scanner/api/v2/tasks/t1/report";
const NEVER_KEPT: &str = "/scanner/api/v1/domain-ownership/random-content";

/// Gateways whose tenant acme has a server key, and its administrator.
struct Office {
    replicas: Replicas,
    dora: Browser,
    client: Client,
}

impl Office {
    async fn new(replicas: Replicas) -> Self {
        replicas.service.desk().keys = vec![SK.to_owned(), OTHER_SK.to_owned()];
        let mut dora = replicas.signed_in().await;
        dora.add_server_key(&replicas.all[0].url, "first", SK).await;
        replicas.service.desk().calls.clear();
        Self { replicas, dora, client: http() }
    }

    fn here(&self) -> String {
        self.replicas.all[0].url.clone()
    }

    fn there(&self) -> String {
        self.replicas.all.last().unwrap().url.clone()
    }

    async fn issue(&mut self, fields: &[(&str, &str)]) -> String {
        let portal = self.here();
        self.dora.issue_api_key(&portal, fields).await
    }

    async fn ask(&self, portal: &str, path: &str, key: &str) -> Response {
        self.client.get(format!("{portal}{path}")).bearer_auth(key).send().await.unwrap()
    }

    async fn status(&self, portal: &str, key: &str) -> u16 {
        self.ask(portal, NEVER_KEPT, key).await.status().as_u16()
    }

    /// Where the one key there is can be rotated or revoked.
    async fn act(&mut self, what: &str) -> String {
        let list = self.dora.get(&format!("{}/admin/keys", self.here())).await;
        list.link("href", &format!("/{what}"))
    }

    /// Rotates the one key there is; gives the new text.
    async fn rotate(&mut self, overlap: &str) -> String {
        let url = self.act("rotate").await;
        let form = self.dora.get(&url).await;
        let (csrf, once, newest) = (form.hidden("csrf"), form.hidden("once"), form.hidden("newest"));
        let made = self.dora.post(&url, &[("csrf", &csrf), ("once", &once), ("newest", &newest), ("overlap", overlap)]).await;
        assert_eq!(made.status, 200, "{}", made.text());
        made.by_id("api-key")
    }

    /// The bearers that the service was shown, with what it said to them.
    fn shown(&self) -> Vec<(String, u16)> {
        self.replicas.service.desk().calls.drain(..).map(|call| (call.bearer, call.status)).collect()
    }
}

/// Reads a report that never ends until it is cut.
async fn cut(mut report: Response) {
    let reading = async { while let Ok(Some(_)) = report.chunk().await {} };
    tokio::time::timeout(Duration::from_secs(10), reading).await.expect("the report goes on");
}

async fn problem(answer: Response, status: u16) -> Value {
    assert_eq!(answer.status().as_u16(), status);
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let told: Value = answer.json().await.unwrap();
    assert!(told["success"] == false && told["request_id"].is_string(), "{told}");
    told
}

/// A key is good for its tenant, its operations and its network; the service sees the server key and never the API key.
async fn a_key_is_good_for_what_it_was_issued_for(replicas: Replicas) {
    let mut office = Office::new(replicas).await;
    let (here, there) = (office.here(), office.there());
    let everything = office.issue(&[]).await;
    let reader = office.issue(&[("group", "read"), ("label", "reader")]).await;
    let elsewhere = office.issue(&[("networks", "203.0.113.0/24"), ("label", "elsewhere")]).await;
    let nearby = office.issue(&[("networks", "127.0.0.0/8\r\n::1"), ("label", "nearby")]).await;
    for portal in [&here, &there] {
        for key in [&everything, &reader, &nearby] {
            let answer = office.ask(portal, TASK, key).await;
            assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
        }
        let create = |key: &str| office.client.post(format!("{portal}/scanner/api/v2/tasks")).bearer_auth(key).body("{}").send();
        assert_eq!(create(&everything).await.unwrap().status(), 200);
        problem(create(&reader).await.unwrap(), 403).await;
        let told = problem(office.ask(portal, TASK, &elsewhere).await, 403).await;
        assert!(told["message"].as_str().unwrap().contains("network"), "{told}");
    }
    // Keys, as they are or nearly, at another company and at none.
    let mut wrong = everything.clone();
    let last = wrong.pop().unwrap();
    wrong.push(if last == '0' { '1' } else { '0' });
    for (portal, key) in [(&office.replicas.all[0].globex, &everything), (&here, &wrong), (&here, &SK.to_owned())] {
        let answer = office.ask(portal, TASK, key).await;
        assert_eq!(answer.headers()["www-authenticate"], "Bearer");
        problem(answer, 401).await;
    }
    let shown = office.shown();
    assert!(shown.len() >= 3 && shown.iter().all(|(bearer, status)| bearer == SK && *status == 200), "{shown:?}");
    // With a session beside it, it is nobody.
    let url = format!("{here}{TASK}");
    let both = office.dora.send(Method::GET, &url, &Manners::default(), |request| request.bearer_auth(&everything)).await;
    assert_eq!(both.status, 400, "{}", both.text());
    assert!(office.shown().is_empty());
    let logs = office.replicas.logs();
    for secret in [&everything, &reader, &elsewhere, &nearby, &SK.to_owned()] {
        assert!(!logs.contains(secret.as_str()));
    }
}

#[tokio::test]
async fn a_key_is_good_for_its_tenant_its_operations_and_its_network_only() {
    a_key_is_good_for_what_it_was_issued_for(Replicas::on_redis().await).await;
    a_key_is_good_for_what_it_was_issued_for(Replicas::embedded().await).await;
}

#[tokio::test]
async fn a_revoked_key_is_nobodys_on_any_replica_within_a_second() {
    let mut office = Office::new(Replicas::on_redis().await).await;
    let (here, there) = (office.here(), office.there());
    let key = office.issue(&[]).await;
    for portal in [&here, &there] {
        for path in [NEVER_KEPT, TASK] {
            assert_eq!(office.ask(portal, path, &key).await.status(), 200);
        }
    }
    let url = office.act("revoke").await;
    let csrf = office.dora.get(&url).await.hidden("csrf");
    let revoked = office.dora.post(&url, &[("csrf", &csrf)]).await;
    assert_eq!(revoked.status, 303, "{}", revoked.text());
    let since = Instant::now();
    assert_eq!(office.status(&here, &key).await, 401, "at once where it was revoked");
    tokio::time::sleep(Duration::from_secs(1).saturating_sub(since.elapsed())).await;
    office.replicas.service.desk().calls.clear();
    for portal in [&here, &there] {
        for path in [NEVER_KEPT, TASK] {
            problem(office.ask(portal, path, &key).await, 401).await;
        }
    }
    assert!(office.shown().is_empty(), "what was kept for it is for nobody either");
}

#[tokio::test]
async fn the_text_before_a_rotation_works_beside_the_new_one_or_ends_with_it() {
    let mut office = Office::new(Replicas::on_redis().await).await;
    let portals = [office.here(), office.there()];
    let first = office.issue(&[]).await;
    assert_eq!(office.status(&portals[1], &first).await, 200);
    let second = office.rotate("24h").await;
    assert_ne!(first, second);
    for portal in &portals {
        for key in [&first, &second] {
            assert_eq!(office.status(portal, key).await, 200, "both overlap");
        }
    }
    let third = office.rotate("0").await;
    let since = Instant::now();
    tokio::time::sleep(Duration::from_secs(1).saturating_sub(since.elapsed())).await;
    for portal in &portals {
        assert_eq!(office.status(portal, &third).await, 200);
        for key in [&first, &second] {
            assert_eq!(office.status(portal, key).await, 401, "no overlap was asked for");
        }
    }
}

#[tokio::test]
async fn a_server_key_that_the_service_refuses_gives_way_to_the_other_one() {
    let mut office = Office::new(Replicas::on_redis().await).await;
    let (here, there) = (office.here(), office.there());
    let key = office.issue(&[]).await;
    let list = office.dora.add_server_key(&here, "second", OTHER_SK).await;
    let csrf = list.hidden("csrf");
    let activated = office.dora.post(&list.link("action", "/activate"), &[("csrf", &csrf)]).await;
    assert_eq!(activated.status, 303, "{}", activated.text());
    for portal in [&here, &there] {
        eventually("the newer key", async || {
            office.shown();
            assert_eq!(office.status(portal, &key).await, 200);
            (office.shown() == [(OTHER_SK.to_owned(), 200)]).then_some(())
        })
        .await;
    }
    office.replicas.service.desk().keys = vec![SK.to_owned()];
    for portal in [&here, &there] {
        assert_eq!(office.status(portal, &key).await, 200);
        assert_eq!(office.shown(), [(OTHER_SK.to_owned(), 401), (SK.to_owned(), 200)]);
        let create = office.client.post(format!("{portal}/scanner/api/v2/tasks")).bearer_auth(&key).body("{}").send();
        assert_eq!(create.await.unwrap().status(), 200, "the first one did nothing");
        assert_eq!(office.shown(), [(SK.to_owned(), 200)], "the refused one comes last for a while");
    }
    // Neither: that is no fault of the caller's, and no reason to sign in.
    office.replicas.service.desk().keys.clear();
    problem(office.ask(&here, NEVER_KEPT, &key).await, 502).await;
    assert_eq!(office.shown().len(), 2);
}

#[tokio::test]
async fn an_upload_that_met_a_refused_server_key_is_sent_again_with_the_other_one() {
    let mut office = Office::new(Replicas::embedded().await).await;
    let here = office.here();
    let key = office.issue(&[]).await;
    let list = office.dora.add_server_key(&here, "second", OTHER_SK).await;
    let csrf = list.hidden("csrf");
    assert_eq!(office.dora.post(&list.link("action", "/activate"), &[("csrf", &csrf)]).await.status, 303);
    eventually("the newer key", async || {
        office.shown();
        assert_eq!(office.status(&here, &key).await, 200);
        (office.shown() == [(OTHER_SK.to_owned(), 200)]).then_some(())
    })
    .await;
    let upload = async || {
        let form = Form::new().part("file", Part::bytes(b"PK".as_slice()).file_name("a.jar"));
        let request = office.client.post(format!("{here}/scanner/api/v1/files/upload")).bearer_auth(&key);
        request.multipart(form).send().await.unwrap()
    };
    office.replicas.service.desk().keys = vec![SK.to_owned()];
    let refused = upload().await;
    assert_eq!(refused.headers()["retry-after"], "1");
    let told = problem(refused, 503).await;
    assert!(told["message"].as_str().unwrap().contains("server key"), "{told}");
    assert_eq!(upload().await.status(), 200);
    assert_eq!(office.shown(), [(OTHER_SK.to_owned(), 401), (SK.to_owned(), 200)]);
    // None is left: the caller's own key is not what is wrong.
    office.replicas.service.desk().keys.clear();
    problem(upload().await, 502).await;
    problem(upload().await, 502).await;
    assert_eq!(office.shown(), [(SK.to_owned(), 401), (OTHER_SK.to_owned(), 401)], "one after the other");
}

/// With a clock that the test moves: reads, and an upload that meets the refused key and is sent again.
#[tokio::test]
async fn a_refused_server_key_is_tried_last_for_as_long_as_is_set() {
    for (lines, seconds) in [("[gateway.api.retry]\nrefused_key_seconds = 5\n", 5), ("", 60)] {
        let provider = Provider::start().await;
        let service = Service::start(&provider).await;
        service.desk().keys = vec![SK.to_owned(), OTHER_SK.to_owned()];
        let clock = Clock::manual(Clock::system().now());
        let front = Front::at(clock.clone(), (&service.base, &provider.issuer), lines).await;
        let mut dora = Browser::new();
        assert_eq!(dora.sign_in_at(&front.base).await.status, 200);
        dora.add_server_key(&front.base, "first", SK).await;
        let key = dora.issue_api_key(&front.base, &[]).await;
        let list = dora.add_server_key(&front.base, "second", OTHER_SK).await;
        let csrf = list.hidden("csrf");
        assert_eq!(dora.post(&list.link("action", "/activate"), &[("csrf", &csrf)]).await.status, 303);
        let client = http();
        let shown = || -> Vec<(String, u16)> { service.desk().calls.drain(..).map(|call| (call.bearer, call.status)).collect() };
        let read = async || {
            shown();
            let answer = client.get(format!("{}{NEVER_KEPT}", front.base)).bearer_auth(&key).send().await.unwrap();
            assert_eq!(answer.status(), 200);
            shown()
        };
        let [newer, refused, older] = [(OTHER_SK, 200), (OTHER_SK, 401), (SK, 200)].map(|(sk, status)| (sk.to_owned(), status));
        eventually("the newer key", async || (read().await == [newer.clone()]).then_some(())).await;
        service.desk().keys = vec![SK.to_owned()];
        assert_eq!(read().await, [refused.clone(), older.clone()]);
        clock.advance(Duration::from_secs(seconds - 1));
        assert_eq!(read().await, std::slice::from_ref(&older), "it comes last for {seconds} seconds");
        clock.advance(Duration::from_secs(1));
        let upload = async || {
            shown();
            let form = Form::new().part("file", Part::bytes(b"PK".as_slice()).file_name("a.jar"));
            let request = client.post(format!("{}/scanner/api/v1/files/upload", front.base)).bearer_auth(&key);
            let answer = request.multipart(form).send().await.unwrap();
            let wait = answer.headers().get("retry-after").map(|value| value.to_str().unwrap().parse().unwrap());
            (answer.status().as_u16(), wait, shown())
        };
        let (status, wait, tried) = upload().await;
        assert_eq!((status, tried), (503, vec![refused.clone()]), "its time is over");
        // As long after it as was asked for, and as a sender may take besides.
        clock.advance(Duration::from_secs(wait.unwrap()) + Duration::from_secs(2));
        assert_eq!(upload().await, (200, None, vec![older.clone()]));
    }
}

/// A key of a network and one of another, behind a proxy of the first one that writes these headers: who gets in with which.
async fn behind_a_proxy(header: &'static str, named: &[(&[u8], u16, u16)]) {
    let server = format!("trusted_proxies = [\"127.0.0.0/8\"]\nforwarded_by = \"{header}\"\n");
    let mut office = Office::new(Replicas::embedded_with(Setup { server, ..Setup::default() }).await).await;
    let near = office.issue(&[("networks", "127.0.0.0/8\r\n::1"), ("label", "near")]).await;
    let far = office.issue(&[("networks", "203.0.113.0/24"), ("label", "far")]).await;
    let url = format!("{}{TASK}", office.here());
    let name = if header == "forwarded" { "forwarded" } else { "x-forwarded-for" };
    for (value, with_near, with_far) in named {
        for (key, status) in [(&near, with_near), (&far, with_far)] {
            let value = HeaderValue::from_bytes(value).unwrap();
            let answer = office.client.get(&url).bearer_auth(key).header(name, value.clone()).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), *status, "{value:?}");
        }
    }
    assert_eq!(office.status(&office.here(), &near).await, 200, "the proxy itself");
}

#[tokio::test]
async fn what_a_proxy_says_so_that_it_cannot_be_read_opens_no_network() {
    let with_x: [(&[u8], u16, u16); 6] = [
        (b"203.0.113.9", 403, 200),
        (b"\xff, 203.0.113.9", 403, 200),
        (b"127.0.0.1, \xff", 403, 403),
        (b"\xff", 403, 403),
        (b"junk", 403, 403),
        (b"::", 403, 403),
    ];
    behind_a_proxy("x-forwarded-for", &with_x).await;
    let with_grammar: [(&[u8], u16, u16); 5] = [
        (b"for=203.0.113.9", 403, 200),
        (b"x=\"\xff\", for=203.0.113.9", 403, 200),
        (b"for=unknown", 403, 403),
        (b"\xff", 403, 403),
        (b"for=\"203.0.113.9", 403, 403),
    ];
    behind_a_proxy("forwarded", &with_grammar).await;
}

#[tokio::test]
async fn without_a_server_key_an_api_key_is_told_so_and_the_service_asked_nothing() {
    let replicas = Replicas::embedded().await;
    let portal = replicas.all[0].url.clone();
    let mut dora = replicas.signed_in().await;
    let key = dora.issue_api_key(&portal, &[]).await;
    replicas.service.desk().calls.clear();
    let answer = http().get(format!("{portal}{NEVER_KEPT}")).bearer_auth(&key).send().await.unwrap();
    let status = answer.status().as_u16();
    let told = problem(answer, status).await;
    assert!((500..600).contains(&status) && told["message"].as_str().unwrap().contains("server key"), "{status}: {told}");
    assert!(replicas.service.desk().calls.is_empty());
}

/// Over sockets, with a clock that the test moves: nobody waits for a day.
#[tokio::test]
async fn a_key_ends_when_its_time_is_over_and_is_then_like_one_that_never_was() {
    let provider = Provider::start().await;
    let service = Service::start(&provider).await;
    service.desk().keys = vec![SK.to_owned()];
    let real = Clock::system().now();
    let clock = Clock::manual(real);
    let front = Front::at(clock.clone(), (&service.base, &provider.issuer), "").await;
    let sign_in = async || {
        let mut dora = Browser::new();
        assert_eq!(dora.sign_in_at(&front.base).await.status, 200);
        dora
    };
    let mut dora = sign_in().await;
    dora.add_server_key(&front.base, "first", SK).await;
    let short = dora.issue_api_key(&front.base, &[("days", "1"), ("label", "short")]).await;
    let long = dora.issue_api_key(&front.base, &[("days", "30"), ("label", "long")]).await;
    let list = dora.get(&format!("{}/admin/keys", front.base)).await;
    let at = list.links("href", "/rotate").pop().unwrap();
    let form = dora.get(&at).await;
    let newest = form.hidden("newest");
    let fields = [("csrf", &*form.hidden("csrf")), ("once", &*form.hidden("once")), ("newest", &newest), ("overlap", "24h")];
    let newer = dora.post(&at, &fields).await.by_id("api-key");
    let client = http();
    let ask = async |key: &str| {
        let asked = client.get(format!("{}{NEVER_KEPT}", front.base)).bearer_auth(key).send().await.unwrap();
        (asked.status().as_u16(), asked.headers()["content-type"].clone(), asked.json::<Value>().await.unwrap())
    };
    for key in [&short, &long, &newer] {
        assert_eq!(ask(key).await.0, 200, "before the end all of them work, the rotated one too");
    }
    clock.advance(Duration::from_hours(24));
    assert_eq!(ask(&newer).await.0, 200);
    let without_id = |mut told: (u16, _, Value)| {
        told.2.as_object_mut().unwrap().remove("request_id");
        told
    };
    let unknown = without_id(ask(&format!("cdk_{}", "0".repeat(62))).await);
    assert_eq!(unknown.0, 401);
    for key in [&short, &long] {
        assert_eq!(without_id(ask(key).await), unknown, "expired, or ended with its overlap");
    }
    provider.state().asked_at = clock.now().seconds();
    let mut dora = sign_in().await;
    let list = dora.get(&format!("{}/admin/keys", front.base)).await.text();
    assert!(list.contains("Expired") && list.contains("Ends soon"), "{list}");
}

/// Revoked or rotated away: what was begun with the text before is over, on the replica that did it and on the other.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_key_has_begun_ends_with_it_on_every_replica() {
    let mut office = Office::new(Replicas::on_redis().await).await;
    let (here, there) = (office.here(), office.there());
    let first = office.issue(&[]).await;
    let begin = async |office: &Office, key: &str| {
        let mut reports = Vec::new();
        for portal in [&here, &there] {
            let mut report = office.ask(portal, REPORT, key).await;
            assert_eq!(report.status(), 200);
            assert!(report.chunk().await.unwrap().is_some());
            reports.push(report);
        }
        reports
    };
    let reports = begin(&office, &first).await;
    let second = office.rotate("0").await;
    for report in reports {
        cut(report).await;
    }
    let mut reports = begin(&office, &second).await;
    let (sender, receiver) = mpsc::channel::<std::io::Result<Bytes>>(1);
    let body =
        stream::unfold(receiver, async |mut receiver: mpsc::Receiver<_>| receiver.recv().await.map(|piece| (piece, receiver)));
    let form = Form::new().part("file", Part::stream(reqwest::Body::wrap_stream(body)).file_name("a.war"));
    let upload = office.client.post(format!("{there}/scanner/api/v1/files/upload")).bearer_auth(&second).multipart(form).send();
    let meanwhile = async {
        let before = office.replicas.service.desk().received;
        sender.send(Ok(Bytes::from(vec![0; 9_000]))).await.unwrap();
        eventually("the upload", async || (office.replicas.service.desk().received > before + 4096).then_some(())).await;
        for report in &mut reports {
            assert!(report.chunk().await.unwrap().is_some(), "nothing has ended yet");
        }
        let url = office.act("revoke").await;
        let csrf = office.dora.get(&url).await.hidden("csrf");
        assert_eq!(office.dora.post(&url, &[("csrf", &csrf)]).await.status, 303);
    };
    let (upload, ()) = tokio::join!(upload, meanwhile);
    // It is told, or cut; its sender was not done.
    assert!(upload.map_or(true, |answer| answer.status() == 401));
    eventually("the end of the upload", async || (office.replicas.service.desk().cut == 1).then_some(())).await;
    for report in reports {
        cut(report).await;
    }
    drop(sender);
}

/// However short an answer is, and before there is one.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_the_service_and_an_answer_that_drips_end_with_their_key() {
    let (provider, upstream) = (Provider::start().await, Upstream::start().await);
    let front = Front::at(Clock::system(), (&upstream.base, &provider.issuer), "").await;
    let mut dora = Browser::new();
    assert_eq!(dora.sign_in_at(&front.base).await.status, 200);
    dora.add_server_key(&front.base, "first", SK).await;
    let key = dora.issue_api_key(&front.base, &[]).await;
    let list = dora.get(&format!("{}/admin/keys", front.base)).await;
    let url = list.link("href", "/revoke");
    let csrf = dora.get(&url).await.hidden("csrf");
    let before = upstream.asked().len();
    let (pieces, more) = mpsc::channel(1);
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\ncontent-length: 1000\r\n\r\n%PDF".to_vec();
    let drips = Says::Then(head, Arc::new(tokio::sync::Mutex::new(more)));
    upstream.says([drips, Says::Silence, Says::Silence, Says::Bytes(json("200 OK", "{}"))]);
    let ask = |path: &str| http().get(format!("{}{path}", front.base)).bearer_auth(&key).send();
    let mut report = ask(REPORT).await.unwrap();
    assert_eq!(report.chunk().await.unwrap().unwrap(), "%PDF");
    let create = http().post(format!("{}/scanner/api/v2/tasks", front.base)).bearer_auth(&key).body("{}").send();
    let revoked = async {
        upstream.asked_times(before + 3).await;
        // They go on for as long as the key is good.
        tokio::time::sleep(Duration::from_millis(1200)).await;
        pieces.send(b" and".to_vec()).await.unwrap();
        assert_eq!(report.chunk().await.unwrap().unwrap(), " and");
        assert_eq!(dora.post(&url, &[("csrf", &csrf)]).await.status, 303);
        let since = Instant::now();
        cut(report).await;
        since
    };
    let (read, created, since) = tokio::join!(ask(NEVER_KEPT), create, revoked);
    for answer in [read, created] {
        let told = problem(answer.unwrap(), 401).await;
        assert!(told["message"].as_str().unwrap().contains("revoked"), "{told}");
    }
    eventually("the end at the service", async || upstream.asked()[before..].iter().all(|asked| asked.is_gone).then_some(()))
        .await;
    // The service itself would be waited for much longer.
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    drop(pieces);
}
