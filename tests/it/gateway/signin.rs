//! Signing in from outside: many tabs, callbacks that are not ours, odd answers of the provider, roles, and where one comes out.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use url::Url;

use crate::support::client::{Answer, Browser, Manners};
use crate::support::openid::now;
use crate::support::provider::{Grant, person};
use crate::support::replicas::{Replicas, Setup};

pub(super) const OIDC: &str = "profile = \"oidc\"\nscopes = [\"openid\", \"profile\"]\n";
pub(super) const STRICT: &str = "profile = \"strict\"\nscopes = [\"openid\", \"profile\"]\n";

fn identity(lines: &str) -> Setup {
    Setup { identity: lines.to_owned(), ..Setup::default() }
}

/// Begins a sign-in and gives the callback that the provider sends the browser to, not opened yet.
async fn callback(portal: &str, browser: &mut Browser, target: &str) -> Url {
    let mut login = Url::parse(&format!("{portal}/auth/login")).unwrap();
    login.query_pairs_mut().append_pair("return_to", target);
    let asked = browser.get(login.as_str()).await.location().unwrap();
    browser.get(asked.as_str()).await.location().unwrap()
}

/// The same address with another query.
fn with_query(url: &Url, change: impl FnOnce(&mut Vec<(String, String)>)) -> String {
    let mut pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    change(&mut pairs);
    let mut url = url.clone();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url.into()
}

#[track_caller]
fn refused(answer: &Answer, status: u16, words: &str) {
    let page = answer.text();
    assert_eq!(answer.status, status, "{page}");
    assert!(page.contains("The sign-in did not work") && page.contains(words), "{page}");
    assert!(page.contains("/auth/login"), "there is a way on: {page}");
    assert!(page.contains(answer.header("x-request-id")) && answer.header("x-request-id").len() == 32, "{page}");
    assert_eq!(answer.header("cache-control"), "no-store");
}

async fn is_signed_in(replicas: &Replicas, browser: &Browser) -> bool {
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
    let replicas = Replicas::embedded().await;
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
    for _ in 0..3 {
        let again = browser.get(own.as_str()).await;
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
async fn token_answers_may_be_odd_and_still_sign_in() {
    let replicas = Replicas::embedded().await;
    let edits: [fn(&mut Map<String, Value>); 8] = [
        |answer| _ = answer.remove("refresh_token"),
        |answer| _ = answer.remove("expires_in"),
        |answer| _ = answer.insert("expires_in".to_owned(), json!("3600")),
        |answer| _ = answer.insert("expires_in".to_owned(), json!(1e300)),
        |answer| _ = answer.insert("expires_in".to_owned(), json!(null)),
        |answer| _ = answer.insert("token_type".to_owned(), json!("bearer")),
        |answer| _ = answer.remove("token_type"),
        |answer| _ = answer.insert("more".to_owned(), json!({ "of": ["this"] })),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        replicas.provider.state().edit = edit;
        let mut browser = Browser::new();
        let page = browser.sign_in_at(&replicas.all[0].url).await;
        assert_eq!((page.status.as_u16(), page.url.path()), (200, "/tasks"), "{index}: {}", page.text());
    }
}

#[tokio::test]
async fn what_is_no_token_answer_is_a_page_and_no_session() {
    let replicas = Replicas::embedded().await;
    let huge = format!("{{\"access_token\":\"a\",\"more\":\"{}\"}}", "x".repeat(1_000_000));
    let cases = [
        (200, "text/html", "<html>Please log in</html>".to_owned(), 502, "could not be checked"),
        (200, "application/json", huge, 502, "could not be checked"),
        (200, "application/json", "{\"access_token\":\"\"}".to_owned(), 502, "could not be checked"),
        (200, "application/json", "{\"token_type\":\"Bearer\"}".to_owned(), 502, "could not be checked"),
        (200, "application/json", "{\"access_token\":\"a\",\"token_type\":\"mac\"}".to_owned(), 502, "could not be checked"),
        (302, "text/html", String::new(), 502, "could not be checked"),
        (400, "application/json", "{\"error\":\"invalid_grant\"}".to_owned(), 400, "not known here any more"),
        (401, "application/json", "{\"error\":\"invalid_client\"}".to_owned(), 502, "not set up for each other"),
        (400, "application/json", "{\"error\":\"invalid_scope\"}".to_owned(), 502, "not set up for each other"),
        (503, "text/html", "down".to_owned(), 503, "cannot be reached right now"),
        (429, "text/html", String::new(), 503, "cannot be reached right now"),
    ];
    for (status, kind, body, expected, words) in cases {
        let head = body.chars().take(60).collect::<String>();
        replicas.provider.state().on_code = Grant::Say(status, kind, body);
        let mut browser = Browser::new();
        let back = callback(&replicas.all[0].url, &mut browser, "/tasks").await;
        let answer = browser.get(back.as_str()).await;
        assert_eq!(answer.status, expected, "{status} {head}: {}", answer.text());
        refused(&answer, expected, words);
        assert!(!answer.text().contains("Please log in"));
        assert!(!is_signed_in(&replicas, &browser).await, "{status} {head}");
    }
    replicas.provider.state().on_code = Grant::Good;
    assert_eq!(Browser::new().sign_in_at(&replicas.all[0].url).await.status, 200);
}

/// Changes head and claims of an id token.
type Edit = fn(&mut Value, &mut Value);

#[tokio::test]
async fn an_id_token_that_is_not_right_signs_nobody_in_and_asks_for_keys_once() {
    let replicas = Replicas::embedded_with(identity(OIDC)).await;
    replicas.provider.speak_openid();
    let cases: [(&str, Edit, bool); 14] = [
        ("as it should be", |_, _| {}, true),
        ("30 seconds in the future", |_, claims| claims["iat"] = json!(now() + 30), true),
        ("without a type", |head, _| _ = head.as_object_mut().unwrap().remove("typ"), true),
        ("600 seconds in the future", |_, claims| claims["iat"] = json!(now() + 600), false),
        ("for another client", |_, claims| claims["aud"] = json!("another"), false),
        ("of another issuer", |_, claims| claims["iss"] = json!("https://evil.example"), false),
        ("with another nonce", |_, claims| claims["nonce"] = json!("another"), false),
        ("without a nonce", |_, claims| _ = claims.as_object_mut().unwrap().remove("nonce"), false),
        ("over", |_, claims| claims["exp"] = json!(now() - 600), false),
        ("of somebody else than userinfo", |_, claims| claims["sub"] = json!("somebody"), false),
        ("not signed", |head, _| head["alg"] = json!("none"), false),
        ("signed as if by a secret", |head, _| head["alg"] = json!("HS256"), false),
        ("with an unknown key", |head, _| head["kid"] = json!("k2"), false),
        ("with another unknown key", |head, _| head["kid"] = json!("k3"), false),
    ];
    for (words, edit, good) in cases {
        replicas.provider.state().openid.as_mut().unwrap().edit = edit;
        let mut browser = Browser::new();
        let back = callback(&replicas.all[0].url, &mut browser, "/tasks").await;
        let answer = browser.get(back.as_str()).await;
        assert_eq!(answer.status, if good { 303 } else { 502 }, "{words}: {}", answer.text());
        assert_eq!(is_signed_in(&replicas, &browser).await, good, "{words}");
        if !good {
            refused(&answer, 502, "could not be checked");
        }
    }
    let fetches = replicas.provider.state().openid.as_ref().unwrap().key_fetches;
    assert_eq!(fetches, 1, "within a minute");
    assert!(replicas.logs().contains("bad_id_token"));
}

/// How a target may begin that leads a browser, or a proxy, elsewhere.
const STARTS: &[&str] = &[
    "//",
    "///",
    "////",
    "/\\",
    "\\\\",
    "\\/",
    "/%09/",
    "/\t/",
    "\t//",
    "/%5c",
    "/%5C%5C",
    "/%2f",
    "/%2F%2F",
    "//%2f",
    "https:",
    "https:/",
    "https://",
    "http:",
    "http://",
    "HTTPS://",
    "javascript:alert(1)//",
    "data:text/html,",
    "ftp://",
    "/.//",
    "/..//",
    "/%2e%2e//",
    "/;@",
    "/@",
    "@",
    " //",
    "%20//",
    "\n//",
    "/\n/",
    "/\r/",
    "\r\n//",
    "/%0d%0aLocation:%20//",
    "/%00//",
    "\u{0}//",
    "/%E3%80%82",
    "/\u{3002}",
    "\u{2028}//",
    "/\u{301d}",
    "/tasks//",
    "/tasks/..//",
    "/tasks/../../",
    "/tasks\\",
    "/tasks%2f..%2f",
    "/tasks;//",
    "/tasks/%252e%252e/",
    "//\u{ff0f}",
    "tasks",
    "?",
    "#",
    "./",
    "../",
    "//[::1]@",
    "/auth/login?return_to=//",
    "/s/",
];

/// Ways to write another site, as it stands behind `return_to`.
fn redirect_payloads(own: &str) -> Vec<String> {
    let hosts = ["evil.example", "user:pw@evil.example", own, "[2001:db8::1]", "3221225985", "evil%E3%80%82example"];
    let ends = ["", "/", "/tasks", "/%2e%2e", "?x=/tasks", "#/tasks"];
    let mut all = Vec::new();
    for start in STARTS {
        for host in hosts {
            all.extend(ends.iter().map(|end| format!("{start}{host}{end}")));
        }
    }
    all
}

#[tokio::test]
async fn no_way_to_write_another_site_leads_there_after_a_sign_in() {
    let replicas = Replicas::embedded().await;
    let portal = &replicas.all[0].url;
    let mut browser = replicas.signed_in().await;
    let payloads = redirect_payloads(portal.trim_start_matches("http://"));
    assert!(payloads.len() > 1500);
    for payload in &payloads {
        let mut login = Url::parse(&format!("{portal}/auth/login")).unwrap();
        login.query_pairs_mut().append_pair("return_to", payload);
        let answer = browser.get(login.as_str()).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"), "{payload:?}");
    }
    // The same through a whole sign-in: the target is kept on this side, so the provider cannot change it either.
    for payload in payloads.iter().step_by(211) {
        let back = callback(portal, &mut Browser::new(), payload).await;
        assert!(!back.as_str().contains("evil"), "{back}");
        let mut fresh = Browser::new();
        let back = callback(portal, &mut fresh, payload).await;
        let changed = with_query(&back, |pairs| pairs.push(("return_to".to_owned(), "//evil.example".to_owned())));
        assert_eq!(fresh.get(&changed).await.header("location"), "/", "{payload:?}");
    }
    for fragment in ["/tasks#https://evil.example", "/tasks#"] {
        let mut login = Url::parse(&format!("{portal}/auth/login")).unwrap();
        login.query_pairs_mut().append_pair("return_to", fragment);
        assert_eq!(browser.get(login.as_str()).await.header("location"), "/", "a fragment is the browser's alone");
    }
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

#[tokio::test]
async fn who_has_no_role_here_is_told_so_and_can_come_as_somebody_else() {
    let lines = "scopes = [\"profile\"]\nmember_values = [\"member\", \"auditor\"]\nadministrator_values = [\"boss\"]\n";
    let replicas = Replicas::embedded_with(identity(lines)).await;
    let portal = &replicas.all[0].url;
    for (role, admitted, administrator) in [
        ("member", true, false),
        ("auditor", true, false),
        ("boss", true, true),
        ("guest", false, false),
        ("Member", false, false),
    ] {
        replicas.provider.state().person = person("7", "Dora", role);
        let before = replicas.provider.seen().revoked.len();
        let mut browser = Browser::new();
        let page = browser.sign_in_at(portal).await;
        assert_eq!(page.status, if admitted { 200 } else { 403 }, "{role}: {}", page.text());
        if admitted {
            assert_eq!(!page.links("href", "/admin/keys").is_empty(), administrator, "{role}");
            continue;
        }
        refused(&page, 403, "your account has no role that may use this portal");
        assert!(!is_signed_in(&replicas, &browser).await);
        let asked = browser.get(&page.link("href", "other=1")).await.location().unwrap();
        let query: BTreeMap<String, String> = asked.query_pairs().into_owned().collect();
        assert_eq!(query["prompt"], "login", "the provider asks who it is");
        let revoked = async || replicas.provider.seen().revoked.get(before).cloned();
        let token = crate::support::eventually("the grant is given back", revoked).await;
        assert!(token.starts_with("refresh-"), "{token}");
    }
    assert!(replicas.logs().contains("no_fitting_role"));
}
