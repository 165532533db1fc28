//! Signing in from outside: many tabs, callbacks that are not ours, what the provider says, and browsers that leave.

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::support::client::{Answer, Browser, Manners};
use crate::support::replicas::{Replicas, Setup};

pub(super) const OIDC: &str = "profile = \"oidc\"\nscopes = [\"openid\", \"profile\"]\n";
pub(super) const STRICT: &str = "profile = \"strict\"\nscopes = [\"openid\", \"profile\"]\n";

pub(super) fn identity(lines: &str) -> Setup {
    Setup { identity: lines.to_owned(), ..Setup::default() }
}

/// Begins a sign-in and gives the callback that the provider sends the browser to, not opened yet.
pub(super) async fn callback(portal: &str, browser: &mut Browser, target: &str) -> Url {
    let mut login = Url::parse(&format!("{portal}/auth/login")).unwrap();
    login.query_pairs_mut().append_pair("return_to", target);
    let asked = browser.get(login.as_str()).await.location().unwrap();
    browser.get(asked.as_str()).await.location().unwrap()
}

/// The same address with another query.
pub(super) fn with_query(url: &Url, change: impl FnOnce(&mut Vec<(String, String)>)) -> String {
    let mut pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    change(&mut pairs);
    let mut url = url.clone();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url.into()
}

#[track_caller]
pub(super) fn refused(answer: &Answer, status: u16, words: &str) {
    let page = answer.text();
    assert_eq!(answer.status, status, "{page}");
    assert!(page.contains("The sign-in did not work") && page.contains(words), "{page}");
    assert!(page.contains("/auth/login"), "there is a way on: {page}");
    assert!(page.contains(answer.header("x-request-id")) && answer.header("x-request-id").len() == 32, "{page}");
    assert_eq!(answer.header("cache-control"), "no-store");
}

pub(super) async fn is_signed_in(replicas: &Replicas, browser: &Browser) -> bool {
    browser.clone().get(&format!("{}/tasks", replicas.all[0].url)).await.status == 200
}

#[tokio::test]
async fn ten_tabs_that_sign_in_side_by_side_all_come_out_where_they_were_going() {
    for replicas in [Replicas::on_redis().await, Replicas::embedded().await] {
        let mut browser = Browser::new();
        let targets: Vec<String> = (0..10).map(|tab| format!("/tasks?page={}", tab + 1)).collect();
        let mut callbacks = Vec::new();
        for (tab, target) in targets.iter().enumerate() {
            let portal = &replicas.all[tab % replicas.all.len()].url;
            callbacks.push((target, callback(portal, &mut browser, target).await));
        }
        let mut earlier = Vec::new();
        for tab in [7, 2, 9, 0, 4, 1, 8, 3, 6, 5] {
            let (target, callback) = &callbacks[tab];
            let answer = browser.get(callback.as_str()).await;
            assert_eq!((answer.status.as_u16(), answer.header("location")), (303, target.as_str()), "{}", answer.text());
            assert!(browser.cookies_for(callback).len() < 4096);
            earlier.push(browser.clone());
        }
        let last = earlier.pop().unwrap();
        assert!(is_signed_in(&replicas, &last).await);
        for old in &earlier {
            assert!(!is_signed_in(&replicas, old).await, "each sign-in ends the one before in the same browser");
        }
        assert_eq!(replicas.provider.seen().codes, 10);
    }
}

#[tokio::test]
async fn a_callback_that_nobody_here_began_asks_the_provider_nothing() {
    used_once_and_by_its_browser(&Replicas::on_redis().await).await;
    used_once_and_by_its_browser(&Replicas::embedded().await).await;
}

async fn used_once_and_by_its_browser(replicas: &Replicas) {
    let portal = &replicas.all[0].url;
    let mut browser = Browser::new();
    let own = callback(portal, &mut browser, "/shares").await;
    let without = |name: &str| with_query(&own, |pairs| pairs.retain(|(key, _)| key != name));
    let twice = |name: &'static str, value: &'static str| {
        with_query(&own, |pairs| pairs.extend([(name.to_owned(), value.to_owned()), (name.to_owned(), value.to_owned())]))
    };
    let unknown = with_query(&own, |pairs| {
        pairs.iter_mut().filter(|(key, _)| key == "state").for_each(|(_, value)| *value = "y".repeat(value.len()));
    });
    let short = with_query(&own, |pairs| pairs.iter_mut().filter(|(key, _)| key == "state").for_each(|pair| pair.1.truncate(9)));
    for wrong in
        [without("state"), unknown, short, twice("code", "c"), twice("state", "s"), twice("iss", "i"), twice("error", "e")]
    {
        refused(&browser.get(&wrong).await, 400, "not known here any more");
    }
    refused(&Browser::new().get(own.as_str()).await, 400, "not known here any more");
    let mut elsewhere = Browser::new();
    callback(portal, &mut elsewhere, "/").await;
    refused(&elsewhere.get(own.as_str()).await, 400, "not known here any more");
    let foreign = own.as_str().replace("localhost", "globex.localhost");
    refused(&browser.clone().get(&foreign).await, 400, "not known here any more");
    assert!(replicas.provider.seen().forms.is_empty(), "no code was sent to the provider");
    assert!(replicas.logs().contains("sign_in_refused"), "it is written down");

    // None of that used the sign-in up.
    let first = browser.get(own.as_str()).await;
    assert_eq!(first.header("location"), "/shares", "{}", first.text());
    for replica in replicas.all.iter().chain(&replicas.all) {
        let here = own.as_str().replace(&format!("{portal}/"), &format!("{}/", replica.url));
        let again = browser.get(&here).await;
        assert_eq!((again.status.as_u16(), again.header("location")), (303, "/shares"), "back and reload go on");
    }
    assert_eq!(replicas.provider.seen().forms.len(), 1, "the code was sent once");
    let unfinished = callback(portal, &mut Browser::new(), "/").await;
    let nothing = browser.get(&with_query(&unfinished, |pairs| pairs.retain(|(key, _)| key != "code"))).await;
    refused(&nothing, 400, "not known here any more");
}

#[tokio::test]
async fn an_answer_in_another_providers_name_is_not_used() {
    // Profile, what the provider says of itself, `iss` of the callback (none, or after the right one), whether it signs in.
    type Said = fn(&mut Value);
    let silent: Said = |_| {};
    let promising: Said = |document| document["authorization_response_iss_parameter_supported"] = json!(true);
    let plain = "scopes = [\"profile\"]\n";
    let cases: [(&str, Said, Option<&str>, bool); 13] = [
        (plain, silent, None, true),
        (plain, silent, Some(""), true),
        (plain, silent, Some("/"), false),
        (plain, silent, Some("x"), false),
        (OIDC, silent, None, true),
        (OIDC, silent, Some(""), true),
        (OIDC, silent, Some("/"), false),
        (OIDC, silent, Some("UPPER"), false),
        (OIDC, promising, None, false),
        (OIDC, promising, Some(""), true),
        (STRICT, silent, None, false),
        (STRICT, silent, Some("/"), false),
        (STRICT, silent, Some(""), true),
    ];
    for (profile, document, iss, good) in cases {
        let replicas = Replicas::embedded_with(identity(profile)).await;
        replicas.provider.speak_openid();
        let issuer = replicas.provider.issuer.clone();
        let told = iss.map(|end| if end == "UPPER" { issuer.to_uppercase() } else { format!("{issuer}{end}") });
        replicas.provider.state().openid.as_mut().unwrap().document = document;
        replicas.provider.state().callback_extra = told.into_iter().map(|iss| ("iss".to_owned(), iss)).collect();
        let mut browser = Browser::new();
        let back = callback(&replicas.all[0].url, &mut browser, "/tasks").await;
        let words = format!("{profile} iss {iss:?}");
        if !good {
            let error = with_query(&back, |pairs| {
                pairs.retain(|(key, _)| key != "code");
                pairs.push(("error".to_owned(), "access_denied".to_owned()));
            });
            let mut other = browser.clone();
            refused(&other.get(&error).await, 400, "This answer does not come from");
            refused(&browser.get(back.as_str()).await, 400, "not known here any more");
            let back = callback(&replicas.all[0].url, &mut browser, "/tasks").await;
            refused(&browser.get(back.as_str()).await, 400, "This answer does not come from");
            assert!(replicas.provider.seen().forms.is_empty(), "{words}: no code was sent anywhere");
            assert!(replicas.logs().contains("wrong_issuer"), "{words}");
            continue;
        }
        let answer = browser.get(back.as_str()).await;
        assert_eq!(answer.header("location"), "/tasks", "{words}: {}", answer.text());
    }
}

#[tokio::test]
async fn every_error_of_a_provider_is_a_page_in_plain_words_that_leads_back_to_where_one_was_going() {
    let replicas = Replicas::embedded().await;
    let portal = &replicas.all[0].url;
    for (error, status, words) in [
        ("access_denied", 403, "did not let you in, or you left it"),
        ("login_required", 403, "did not let you in, or you left it"),
        ("temporarily_unavailable", 503, "cannot be reached right now"),
        ("server_error", 503, "cannot be reached right now"),
        ("invalid_scope", 502, "not set up for each other"),
        ("unauthorized_client", 502, "not set up for each other"),
        ("<script>alert(1)</script>", 502, "not set up for each other"),
        ("odd\ninvented line of the log", 502, "not set up for each other"),
        ("", 502, "not set up for each other"),
    ] {
        let mut browser = Browser::new();
        let back = callback(portal, &mut browser, "/tasks?status=failed").await;
        let told = with_query(&back, |pairs| {
            pairs.retain(|(key, _)| key != "code");
            pairs.push(("error".to_owned(), error.to_owned()));
            pairs.push(("error_description".to_owned(), "<b>words of the provider</b>".to_owned()));
        });
        let answer = browser.get(&told).await;
        refused(&answer, status, words);
        let page = answer.text();
        assert!(!page.contains("words of the provider") && !page.contains("alert(1)"), "{page}");
        let again = answer.link("href", "/auth/login?return_to");
        let next = browser.open(&again).await;
        assert_eq!(next.url.as_str(), format!("{portal}/tasks?status=failed"), "the way on leads to the target");
    }
    let logs = replicas.logs();
    assert!(logs.contains("invented line"), "what the provider said is told to the operator: {logs}");
    assert!(!logs.contains("\ninvented line"), "and stays within its line: {logs}");
}

#[tokio::test]
async fn a_program_without_a_session_gets_401_and_is_never_redirected() {
    let replicas = Replicas::embedded().await;
    let portal = &replicas.all[0].url;
    let fetch = Manners {
        fetch_site: Some("same-origin"),
        origin: Some(portal.clone()),
        headers: vec![("sec-fetch-mode", "cors".to_owned()), ("x-csrf-token", "t".to_owned())],
    };
    let mut browser = Browser::new();
    for (method, path) in [("POST", "/uploads"), ("POST", "/tasks/new"), ("GET", "/tasks"), ("GET", "/tasks/4f/live")] {
        let method = method.parse().unwrap();
        let answer = browser.send(method, &format!("{portal}{path}"), &fetch, |request| request.body("x")).await;
        assert_eq!(answer.status, 401, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), "application/problem+json", "{path}");
        let problem: Value = serde_json::from_slice(&answer.bytes).unwrap();
        assert_eq!(problem["login_url"], "/auth/login", "{problem}");
    }
    for method in ["HEAD", "OPTIONS"] {
        let answer = browser.send(method.parse().unwrap(), &format!("{portal}/tasks"), &fetch, |request| request).await;
        assert!(!answer.status.is_redirection() && !answer.status.is_success(), "{method}: {}", answer.status);
    }
    assert!(replicas.service.desk().calls.is_empty(), "nothing of it reached the service");
    let page = browser.get(&format!("{portal}/tasks")).await;
    assert_eq!(page.location().unwrap().path(), "/auth/login", "people are led to the sign-in");
}

#[tokio::test]
async fn a_browser_that_leaves_during_a_slow_exchange_leaves_nothing_that_signs_anybody_in() {
    let replicas = Replicas::on_redis().await;
    let portal = &replicas.all[0].url;
    let mut browser = Browser::new();
    let back = callback(portal, &mut browser, "/tasks").await;
    replicas.provider.state().latency = Duration::from_secs(2);
    let mut leaving = browser.clone();
    let left = tokio::time::timeout(Duration::from_millis(700), leaving.get(back.as_str())).await;
    assert!(left.is_err(), "the browser left before an answer came");
    assert_eq!(replicas.provider.seen().forms.len(), 1, "the provider was asked");
    replicas.provider.state().latency = Duration::ZERO;
    refused(&browser.get(back.as_str()).await, 400, "not known here any more");
    refused(&Browser::new().get(back.as_str()).await, 400, "not known here any more");
    assert!(!is_signed_in(&replicas, &browser).await);
    assert_eq!(replicas.provider.seen().forms.len(), 1, "the code was sent once");
    assert_eq!(browser.sign_in_at(portal).await.status, 200, "the next sign-in works");
}
