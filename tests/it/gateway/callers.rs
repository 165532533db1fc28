//! Who may call the service's operations through a gateway: a session cookie with proof that our own page sends it, or a
//! bearer, never both; and what becomes of a call whose token or session is over.

use std::time::Duration;

use bytes::Bytes;
use cardea::platform::clock::Timestamp;
use futures_util::stream;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use url::Url;

use super::refresh::expired;
use crate::support::client::{Answer, Browser, Manners, http};
use crate::support::eventually;
use crate::support::provider::person;
use crate::support::replicas::{Replicas, Setup};

const SEARCH: &str = "/scanner/api/v1/tasks/search";
const TASK: &str = "/scanner/api/v1/tasks/t1";

fn problem(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), "application/problem+json", "{}", answer.text());
    serde_json::from_slice(&answer.bytes).unwrap()
}

impl Browser {
    /// A call as a script of our own page makes it.
    pub(super) async fn call(&mut self, method: Method, url: &str, csrf: &str) -> Answer {
        let manners = Manners {
            headers: vec![("x-csrf-token", csrf.to_owned()), ("accept", "application/json".to_owned())],
            ..Self::own_manners(url)
        };
        let is_read = method == Method::GET;
        self.send(method, url, &manners, |request| if is_read { request } else { request.json(&json!({})) }).await
    }
}

#[tokio::test]
async fn of_all_that_a_page_can_say_only_the_same_origin_with_the_token_asks_the_service() {
    let replicas = Replicas::embedded().await;
    let here = replicas.all[0].url.clone();
    let mut browser = replicas.signed_in().await;
    let csrf = browser.csrf(&here).await;
    let url = format!("{here}{SEARCH}");
    replicas.service.desk().calls.clear();
    let own = Some(here.clone());
    let sites = [Some("same-origin"), Some("same-site"), Some("cross-site"), Some("none"), Some("junk"), None];
    let origins = [own.clone(), Some(replicas.all[0].globex.clone()), Some("null".to_owned()), None];
    let tokens = [Some(csrf.clone()), Some("A".repeat(csrf.len())), None];
    let mut let_in = 0;
    for fetch_site in sites {
        for origin in &origins {
            for token in &tokens {
                let headers = token.iter().map(|token| ("x-csrf-token", token.clone())).collect();
                let manners = Manners { fetch_site, origin: origin.clone(), headers };
                // Each asks something else: an answer that is kept would ask nobody.
                let body = json!({ "page": let_in });
                let answer = browser.send(Method::POST, &url, &manners, |request| request.json(&body)).await;
                let from_here = fetch_site == Some("same-origin") || (fetch_site.is_none() && *origin == own);
                let fine = from_here && token.as_ref() == Some(&csrf);
                assert_eq!(answer.status, if fine { 200 } else { 403 }, "{fetch_site:?} {origin:?} {token:?}: {}", answer.text());
                let_in += usize::from(fine);
            }
        }
    }
    assert_eq!((let_in, replicas.service.desk().calls.len()), (5, 5));
    // Reads need no token, and are not begun for another site.
    for (fetch_site, status) in [(None, 200), (Some("same-origin"), 200), (Some("none"), 200), (Some("cross-site"), 403)] {
        let manners = Manners { fetch_site, ..Manners::default() };
        let answer = browser.send(Method::GET, &format!("{here}{TASK}"), &manners, |request| request).await;
        assert_eq!(answer.status, status, "{fetch_site:?}: {}", answer.text());
    }
    // What a form of any site can send is no JSON.
    let manners = Manners { headers: vec![("x-csrf-token", csrf)], ..Browser::own_manners(&url) };
    for media in [Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("multipart/form-data; boundary=x"), None] {
        let answer = browser.send(Method::POST, &url, &manners, |request| {
            let request = request.body("{}");
            if let Some(media) = media { request.header("content-type", media) } else { request }
        });
        assert_eq!(answer.await.status, 415, "{media:?}");
    }
}

#[tokio::test]
async fn without_a_credential_or_with_two_the_service_is_not_asked_and_nobody_is_led_elsewhere() {
    let replicas = Replicas::embedded().await;
    let here = replicas.all[0].url.clone();
    let mut browser = replicas.signed_in().await;
    replicas.service.desk().calls.clear();
    let url = format!("{here}{TASK}");
    let bearer = |request: reqwest::RequestBuilder| request.bearer_auth("whatever");
    let both = browser.send(Method::GET, &url, &Manners::default(), bearer).await;
    assert_eq!((both.status.as_u16(), problem(&both)["data"]["errCode"].as_u64()), (400, Some(4000)));
    let mut stranger = Browser::new();
    for method in [Method::GET, Method::HEAD] {
        let answer = stranger.send(method, &url, &Manners::default(), |request| request).await;
        assert_eq!((answer.status.as_u16(), answer.location()), (401, None));
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    let answer = stranger.send(Method::GET, &url, &Manners::default(), bearer).await;
    assert_eq!(problem(&answer)["data"]["errCode"], 4010);
    assert_eq!(problem(&stranger.send(Method::GET, &url, &Manners::default(), |r| r).await)["login_url"], "/auth/login");
    let options = stranger.send(Method::OPTIONS, &url, &Manners::default(), |request| request).await;
    assert_eq!((options.status.as_u16(), options.header("allow")), (204, "GET, HEAD, OPTIONS"));
    let wrong = stranger.send(Method::DELETE, &url, &Manners::default(), |request| request).await;
    assert_eq!((wrong.status.as_u16(), wrong.header("allow")), (405, "GET, HEAD, OPTIONS"));
    // The cookie of one company on the host of another.
    let cookie = browser.cookie("localhost", "cardea").unwrap();
    browser.plant("globex.localhost", "cardea", &cookie);
    let foreign = browser.send(Method::GET, &format!("{}{TASK}", replicas.all[0].globex), &Manners::default(), |r| r).await;
    assert_eq!(foreign.status, 401);
    let nobody = http().get(format!("{here}{TASK}")).header("host", "nobody.example").send().await.unwrap();
    assert_eq!(nobody.status(), StatusCode::MISDIRECTED_REQUEST);
    assert!(replicas.service.desk().calls.is_empty());
}

#[tokio::test]
async fn a_cookie_that_cannot_be_read_in_front_of_another_leads_to_nobody_else() {
    let replicas = Replicas::embedded().await;
    let here = replicas.all[0].url.clone();
    let dora = replicas.signed_in().await.cookie("localhost", "cardea").unwrap();
    replicas.provider.state().person = person("8", "Erik", "member");
    let erik = replicas.signed_in().await.cookie("localhost", "cardea").unwrap();
    let mut asked = 0;
    let mut call = async |lines: &[String]| {
        asked += 1;
        replicas.service.desk().calls.clear();
        let mut request = http().get(format!("{here}/scanner/api/v1/tasks/odd{asked}"));
        for line in lines {
            request = request.header("cookie", line);
        }
        let status = request.send().await.unwrap().status().as_u16();
        (status, replicas.service.desk().calls.first().map(|call| call.bearer.clone()))
    };
    let (of_dora, of_erik) = (call(&[format!("cardea={dora}")]).await, call(&[format!("cardea={erik}")]).await);
    assert_eq!((of_dora.0, of_erik.0), (200, 200));
    assert!(of_dora != of_erik && of_dora.1.is_some());
    for odd in ["cardea=%ff", "cardea=%c3%28", "cardea=\"%ff\""] {
        // Often: each worker remembers for itself.
        for _ in 0..8 {
            assert_eq!(call(&[odd.to_owned()]).await, (401, None), "{odd}");
            assert_eq!(call(&[format!("{odd}; cardea={dora}")]).await, of_dora, "{odd}");
            assert_eq!(call(&[odd.to_owned()]).await, (401, None), "{odd}");
            assert_eq!(call(&[format!("{odd}; cardea={erik}")]).await, of_erik, "{odd}");
            assert_eq!(call(&[odd.to_owned(), format!("cardea={dora}")]).await, of_dora, "{odd}");
        }
    }
}

async fn a_refused_token_is_renewed_once(replicas: &Replicas) {
    let there = replicas.all.last().unwrap().url.clone();
    let mut browser = replicas.signed_in().await;
    let csrf = browser.csrf(&there).await;
    replicas.service.desk().calls.clear();
    let grants = replicas.provider.seen().refreshes;
    replicas.provider.forget_access_tokens();
    for url in [format!("{there}{TASK}"), format!("{there}{SEARCH}")] {
        let method = if url.ends_with("search") { Method::POST } else { Method::GET };
        let answer = browser.call(method, &url, &csrf).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let statuses: Vec<u16> = replicas.service.desk().calls.iter().map(|call| call.status).collect();
    assert_eq!((statuses, replicas.provider.seen().refreshes), (vec![401, 200, 200], grants + 1));
    // A service that believes no token at all: one renewal, one more try, and no loop.
    replicas.service.desk().calls.clear();
    replicas.service.desk().status = Some(401);
    let answer = browser.call(Method::GET, &format!("{there}/scanner/api/v1/tasks/t2"), &csrf).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert!(replicas.service.desk().calls.len() <= 2);
    for status in [403, 500] {
        replicas.service.desk().calls.clear();
        replicas.service.desk().status = Some(status);
        let answer = browser.call(Method::POST, &format!("{there}/scanner/api/v2/tasks"), &csrf).await;
        assert_eq!((answer.status.as_u16(), replicas.service.desk().calls.len()), (status, 1), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_token_that_the_service_refuses_is_renewed_once_and_the_call_made_again() {
    a_refused_token_is_renewed_once(&Replicas::on_redis().await).await;
    a_refused_token_is_renewed_once(&Replicas::embedded().await).await;
}

#[tokio::test]
async fn a_token_at_its_end_is_renewed_before_an_upload_and_a_refused_upload_is_not_sent_twice() {
    let replicas = Replicas::on_redis().await;
    let there = replicas.all[1].url.clone();
    let mut browser = expired(&replicas).await;
    let csrf = browser.csrf(&there).await;
    let url = format!("{there}/scanner/api/v1/files/upload");
    let mut upload = async || {
        let manners = Manners { headers: vec![("x-csrf-token", csrf.clone())], ..Browser::own_manners(&url) };
        let form = Form::new().part("file", Part::bytes(b"PK".as_slice()).file_name("a.jar"));
        browser.send(Method::POST, &url, &manners, |request| request.multipart(form)).await
    };
    assert_eq!(upload().await.status, 200);
    assert_eq!(replicas.service.desk().calls.len(), 1);
    replicas.provider.forget_access_tokens();
    let refused = upload().await;
    assert_eq!((refused.status.as_u16(), problem(&refused)["type"].as_str()), (401, Some("token-refreshed-resend")));
    assert_eq!(replicas.service.desk().calls.len(), 2, "the body was sent once");
    assert_eq!(upload().await.status, 200);
}

#[tokio::test]
async fn streams_of_a_call_end_with_its_session_on_another_replica() {
    let replicas = Replicas::on_redis().await;
    let (here, there) = (replicas.all[0].url.clone(), replicas.all[1].url.clone());
    let mut browser = replicas.signed_in().await;
    let csrf = browser.csrf(&here).await;
    let address = Url::parse(&format!("{there}/scanner/api/v2/tasks/t1/report")).unwrap();
    let cookies = browser.cookies_for(&address);
    let mut report = http().get(address).header("cookie", &cookies).send().await.unwrap();
    assert!(report.chunk().await.unwrap().is_some());
    let (_sender, receiver) = mpsc::channel::<Result<Bytes, std::io::Error>>(1);
    let body = stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|chunk| (chunk, receiver)));
    let part = Part::stream(reqwest::Body::wrap_stream(body)).file_name("big.war");
    let upload = http().post(format!("{there}/scanner/api/v1/files/upload")).header("cookie", &cookies);
    let upload = upload.header("sec-fetch-site", "same-origin").header("x-csrf-token", &csrf);
    let upload = upload.multipart(Form::new().part("file", part)).send();
    let end = async {
        eventually("the beginning", async || (replicas.service.desk().received > 0).then_some(())).await;
        let answer = browser.post(&format!("{here}/auth/logout"), &[("csrf", &csrf)]).await;
        assert!(answer.status.is_redirection(), "{}", answer.text());
    };
    let (upload, ()) = tokio::join!(upload, end);
    // The service saw no whole upload; the caller is told, or cut.
    assert!(upload.map_or(true, |answer| answer.status().is_client_error()));
    eventually("the cut", async || (replicas.service.desk().cut > 0).then_some(())).await;
    let ended = tokio::time::timeout(Duration::from_secs(5), async { while let Ok(Some(_)) = report.chunk().await {} });
    ended.await.expect("the download goes on after the end of its session");
    let after = browser.call(Method::GET, &format!("{there}{TASK}"), &csrf).await;
    assert_eq!(after.status, 401);
}

#[tokio::test]
async fn what_programs_poll_keeps_no_session_alive_and_what_people_do_does() {
    let session = "idle_minutes = 1\nextend_seconds = 0\n".to_owned();
    let replicas = Replicas::embedded_with(Setup { session, ..Setup::default() }).await;
    let here = replicas.all[0].url.clone();
    let mut browser = replicas.signed_in().await;
    let csrf = browser.csrf(&here).await;
    let deadline = async |browser: &mut Browser| {
        let told: Value = serde_json::from_slice(&browser.session(&here, "?touch=false").await.bytes).unwrap();
        Timestamp::parse_rfc3339(told["idle_ends_at"].as_str().unwrap()).unwrap().seconds()
    };
    let begun = deadline(&mut browser).await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(browser.call(Method::GET, &format!("{here}{TASK}"), &csrf).await.status, 200);
    assert!(deadline(&mut browser).await - begun <= 1);
    assert_eq!(browser.call(Method::POST, &format!("{here}{SEARCH}"), &csrf).await.status, 200);
    assert!(deadline(&mut browser).await - begun >= 2);
}
