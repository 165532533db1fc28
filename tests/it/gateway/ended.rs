//! Ended sessions stay ended: requests that are in flight on another replica bring nothing back, copies of a cookie are dead.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Method;
use url::Url;

use crate::support::client::{Answer, Browser, Manners};
use crate::support::eventually;
use crate::support::replicas::{Replicas, Setup};

/// Who ends the session.
#[derive(Clone, Copy)]
enum By {
    /// Its user, in it.
    SignOut,
    /// Its user, from another session.
    Elsewhere,
    Administrator,
}

/// Requests in flight while the session ends.
const IN_FLIGHT: usize = 3;
/// The longest that a copy of a session may be believed after its end.
const BELIEVED: Duration = Duration::from_secs(1);

/// Every request touches its session, and its tokens run out at once, so that it refreshes them, too.
async fn replicas() -> Replicas {
    let extra = "[gateway.limits]\nsign_ins_per_minute = 100000\n[gateway.tenant]\nsessions_per_user = 1000\n".to_owned();
    let setup = Setup { session: "extend_seconds = 0\n".to_owned(), extra, ..Setup::default() };
    let replicas = Replicas::on_redis_with(2, setup).await;
    {
        let mut provider = replicas.provider.state();
        provider.lifetime = Some(1);
        provider.latency = Duration::from_millis(20);
    }
    replicas.service.desk().latency = Duration::from_millis(150);
    replicas
}

/// The browser, address and token with which a session will be ended.
async fn ready(replicas: &Replicas, by: By, victim: &Browser, administrator: &Browser) -> (Browser, String, String) {
    let here = &replicas.all[0].url;
    let id = victim.clone().told(here).await["session"].as_str().unwrap().to_owned();
    let (mut ender, address) = match by {
        By::SignOut => (victim.clone(), format!("{here}/auth/logout")),
        By::Elsewhere => (replicas.signed_in_as(here, "8", "Bob", "member").await, format!("{here}/account/sessions/{id}/end")),
        By::Administrator => (administrator.clone(), format!("{here}/admin/sessions/{id}/end")),
    };
    let csrf = ender.csrf(here).await;
    (ender, address, csrf)
}

/// One waits at the service, or has just been there.
fn under_way(replicas: &Replicas, before: usize) -> bool {
    let desk = replicas.service.desk();
    desk.waiting > 0 || desk.calls.len() > before
}

/// Ends a session while slow requests of it are in flight on the other replica; nothing of it may come back.
#[expect(clippy::print_stderr, reason = "the figure of the long run is read by people")]
async fn nothing_comes_back(by: By, tries: usize) {
    let replicas = replicas().await;
    // Whom the provider speaks of is whoever signed in last, so the administrator's token must not have to be refreshed.
    replicas.provider.state().lifetime = Some(36_000);
    let administrator = replicas.signed_in_as(&replicas.all[0].url, "7", "Dora", "administrator").await;
    replicas.provider.state().lifetime = Some(1);
    let there = replicas.all[1].url.clone();
    let mut latest = Duration::ZERO;
    for attempt in 0..tries {
        let victim = replicas.signed_in_as(&replicas.all[0].url, "8", "Bob", "member").await;
        let (mut by_whom, address, csrf) = ready(&replicas, by, &victim, &administrator).await;
        let handle = victim.cookie("localhost", "cardea").unwrap();
        let before = replicas.service.desk().calls.len();
        let slow = join_all((0..IN_FLIGHT).map(|_| {
            let (mut tab, url) = (victim.clone(), format!("{there}/tasks"));
            async move { (tab.get(&url).await.status.as_u16(), tab.cookie("localhost", "cardea")) }
        }));
        let end = async {
            eventually("a request that is under way", async || under_way(&replicas, before).then_some(())).await;
            let answer = by_whom.post(&address, &[("csrf", &csrf)]).await;
            assert_eq!(answer.status, 303, "{}", answer.text());
            assert!(!answer.header("location").contains("/auth/login"), "it was ended by who may");
            Instant::now()
        };
        let (answers, ended) = tokio::join!(slow, end);
        for (status, cookie) in answers {
            // One that came after the end is told why.
            assert!([200, 303, 401].contains(&status), "try {attempt}: {status}");
            assert_eq!(cookie.as_ref(), Some(&handle), "try {attempt}: no answer gives another handle");
        }
        // Word reaches the other replica at once; without word a copy is believed for a second, counted from its reading.
        for replica in &replicas.all {
            let mut copied = victim.clone();
            copied.plant("localhost", "cardea", &handle);
            loop {
                let asked = ended.elapsed();
                if copied.session(&replica.url, "?touch=false").await.status == 401 {
                    latest = latest.max(asked);
                    break;
                }
                assert!(asked < BELIEVED, "try {attempt}: a request begun {asked:?} after the end was answered");
            }
            let told = copied.get(&format!("{}/tasks", replica.url)).await.status.as_u16();
            let expected = if matches!(by, By::SignOut) { 303 } else { 401 };
            assert_eq!(told, expected, "try {attempt}: to the sign-in, or why there is none");
        }
    }
    // Of all those sessions the store has tombstones, and neither tokens nor entries.
    let redis = replicas.redis.as_ref().unwrap();
    let count = async |kind: &str| redis.command(&["KEYS", &format!("*:{kind}:r")]).await.matches(kind).count();
    let enders = if matches!(by, By::Elsewhere) { tries } else { 0 };
    assert_eq!((count("tokens").await, count("login").await), (1 + enders, 1 + enders), "the administrator's and the enders'");
    eprintln!("{tries} tries: dead everywhere within {latest:?}");
}

#[tokio::test]
async fn a_sign_out_holds_against_requests_in_flight_on_another_replica() {
    nothing_comes_back(By::SignOut, 10).await;
}

#[tokio::test]
async fn an_end_from_another_session_holds_against_requests_in_flight_on_another_replica() {
    nothing_comes_back(By::Elsewhere, 10).await;
}

#[tokio::test]
async fn an_administrators_end_holds_against_requests_in_flight_on_another_replica() {
    nothing_comes_back(By::Administrator, 10).await;
}

#[tokio::test]
#[ignore = "three times two hundred tries take some minutes; the same with ten tries each runs always"]
async fn no_end_of_six_hundred_is_undone_by_requests_in_flight() {
    for by in [By::SignOut, By::Elsewhere, By::Administrator] {
        nothing_comes_back(by, 200).await;
    }
}

/// The ways that must not sign out, and the one that must, on each store.
async fn only_a_right_sign_out_ends_the_session(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut dora = replicas.signed_in().await;
    let logout = format!("{here}/auth/logout");
    let csrf = dora.csrf(here).await;
    assert_eq!(dora.get(&logout).await.status, 405);
    assert_eq!(dora.post(&logout, &[]).await.status, 403, "without the token");
    assert_eq!(dora.post(&logout, &[("csrf", "x")]).await.status, 403);
    let own = Browser::own_manners(&logout);
    for site in ["cross-site", "same-site", "none"] {
        let manners = Manners { fetch_site: Some(site), ..own.clone() };
        assert_eq!(dora.post_as(&logout, &[("csrf", &csrf)], &manners).await.status, 403, "{site}");
    }
    assert_eq!(dora.session(there, "").await.status, 200, "nothing of this signed out");

    let mut copied = dora.clone();
    let answer = dora.post(&logout, &[("csrf", &csrf)]).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/auth/signed-out"));
    assert_eq!(dora.cookie("localhost", "cardea"), None, "the cookie is taken back");
    for replica in &replicas.all {
        eventually("the end", async || (copied.session(&replica.url, "").await.status == 401).then_some(())).await;
        let url = format!("{}/tasks", replica.url);
        let posted = copied.send(Method::POST, &url, &Browser::own_manners(&url), |request| request).await;
        assert!(!posted.status.is_success());
    }
    for browser in [&mut dora, &mut copied] {
        let again = browser.post(&logout, &[("csrf", &csrf)]).await;
        assert_eq!((again.status.as_u16(), again.header("location")), (303, "/auth/signed-out"), "twice is no error");
    }
}

#[tokio::test]
async fn a_copied_cookie_is_dead_after_a_right_sign_out_on_every_replica() {
    only_a_right_sign_out_ends_the_session(&Replicas::on_redis().await).await;
}

#[tokio::test]
async fn a_copied_cookie_is_dead_after_a_right_sign_out_on_the_embedded_store() {
    only_a_right_sign_out_ends_the_session(&Replicas::embedded().await).await;
}

#[tokio::test]
async fn a_sign_in_ignores_and_ends_the_session_that_was_presented() {
    let replicas = Replicas::on_redis().await;
    let mut dora = replicas.signed_in().await;
    let (old, here) = (dora.clone(), &replicas.all[0].url);
    let page = dora.open(&format!("{here}/auth/login?again=1&return_to=%2Ftasks")).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_ne!(dora.cookie("localhost", "cardea"), old.cookie("localhost", "cardea"));
    for replica in &replicas.all {
        eventually("the old end", async || (old.clone().session(&replica.url, "").await.status == 401).then_some(())).await;
        assert_eq!(dora.session(&replica.url, "").await.status, 200);
    }
    // A handle from outside is not taken over either.
    let mut fixed = Browser::new();
    fixed.plant("localhost", "cardea", &old.cookie("localhost", "cardea").unwrap());
    fixed.sign_in_at(here).await;
    assert_ne!(fixed.cookie("localhost", "cardea"), old.cookie("localhost", "cardea"));
    assert_eq!(old.clone().session(here, "").await.status, 401);
}

/// A form as the page at `from` sends it.
async fn sent(browser: &mut Browser, url: &str, from: &str, csrf: &str) -> Answer {
    let mut manners = Browser::own_manners(url);
    if !from.is_empty() {
        manners.headers.push(("referer", from.to_owned()));
    }
    browser.post_as(url, &[("csrf", csrf)], &manners).await
}

/// The answer is a page in the company's frame with words, and with one link to a sign-in, which comes back to a path.
#[track_caller]
fn leads_back(answer: &Answer, words: &[&str], back: &str) -> String {
    let page = answer.text();
    assert_eq!((answer.status.as_u16(), answer.header("location")), (401, ""), "{}: {page}", answer.url);
    assert!(page.contains("security portal") && !page.contains("Sign out"), "{page}");
    for words in words.iter().chain(&["Nothing was changed."]) {
        assert!(page.contains(words), "{words}: {page}");
    }
    let links = answer.links("href", "/auth/login");
    let [link] = links.as_slice() else { panic!("not one link to a sign-in: {page}") };
    let told = Url::parse(link).unwrap();
    let pairs: Vec<(String, String)> = told.query_pairs().into_owned().collect();
    assert_eq!(pairs, [("return_to".to_owned(), back.to_owned())], "{}", answer.url);
    link.clone()
}

#[tokio::test]
async fn a_form_sent_after_a_sign_out_in_another_tab_is_told_so_and_led_back_to_its_page() {
    let replicas = Replicas::embedded().await;
    let here = &replicas.all[0].url;
    let mut tab = replicas.signed_in().await;
    let (csrf, copied) = (tab.csrf(here).await, tab.clone());
    assert_eq!(tab.post(&format!("{here}/auth/logout"), &[("csrf", &csrf)]).await.status, 303);
    let before = replicas.service.desk().calls.len();
    // The browser has no cookie any more; a copy of it has one that is dead.
    for mut tab in [tab, copied] {
        for (address, from, back) in [
            ("/account/sessions/end-others", "/account/sessions", "/account/sessions"),
            ("/account/sessions/4f/end", "", "/account/sessions"),
            ("/tasks/new", "/tasks?page=2", "/tasks?page=2"),
            ("/tasks/new", "", "/tasks/new"),
            ("/tasks/4f/terminate", "/tasks/4f", "/tasks/4f"),
            ("/tasks/4f/terminate", "", "/tasks/4f"),
            ("/tasks/4f/delete", "/tasks/4f/delete", "/tasks/4f/delete"),
            ("/tasks/new/4f/target", "/tasks/new/4f/target", "/tasks/new/4f/target"),
            ("/tasks/new/4f/accounts/remove", "", "/tasks/new/4f/accounts"),
            ("/tasks/new/4f/delete", "", "/tasks/new"),
            ("/groups/4f/terminate", "/groups/4f", "/groups/4f"),
            ("/shares", "/shares/new?task=4f", "/shares/new?task=4f"),
            ("/shares/4f/end", "/shares", "/shares"),
            ("/admin/keys", "/admin/keys", "/admin/keys"),
            ("/admin/keys/4f/remove", "", "/admin/keys/4f"),
            ("/admin/sessions/people/4f/end", "/admin/sessions?q=bo", "/admin/sessions?q=bo"),
            // No page of ours that a sign-in returns to.
            ("/admin/keys", "/auth/signed-out", "/admin/keys"),
            ("/uploads", "", "/"),
        ] {
            let from = if from.is_empty() { String::new() } else { format!("{here}{from}") };
            let answer = sent(&mut tab, &format!("{here}{address}"), &from, &csrf).await;
            leads_back(&answer, &["Please sign in", "You are not signed in, or your session has ended."], back);
        }
        // What the browser says of the page before is no way out.
        for from in ["https://evil.example/tasks", &format!("{here}.evil.example/"), &format!("{here}//evil.example/tasks")] {
            let answer = sent(&mut tab, &format!("{here}/shares/4f/end"), from, &csrf).await;
            leads_back(&answer, &[], "/shares/4f");
        }
        let read = tab.get(&format!("{here}/account/sessions")).await;
        assert_eq!(read.location().unwrap().query(), Some("return_to=%2Faccount%2Fsessions"), "what is read is redirected");
        let answer = sent(&mut tab, &format!("{here}/account/sessions/end-others"), "", &csrf).await;
        let after = tab.open(&leads_back(&answer, &[], "/account/sessions")).await;
        assert!(after.status == 200 && after.url.path() == "/account/sessions", "{}", after.text());
    }
    assert_eq!(replicas.service.desk().calls.len(), before, "nothing of it reached the service");
}

#[tokio::test]
async fn a_form_of_a_session_that_another_ended_is_told_who_did_and_that_nothing_was_changed() {
    let replicas = Replicas::embedded().await;
    let here = &replicas.all[0].url;
    let (mut tab, mut other) = (replicas.signed_in().await, replicas.signed_in().await);
    let csrf = tab.csrf(here).await;
    let token = other.csrf(here).await;
    assert_eq!(other.post(&format!("{here}/account/sessions/end-others"), &[("csrf", &token)]).await.status, 303);
    let answer = sent(&mut tab, &format!("{here}/tasks/4f/delete"), &format!("{here}/tasks/4f/delete"), &csrf).await;
    let words = ["Your session was ended", "You ended this session from another one."];
    leads_back(&answer, &words, "/tasks/4f/delete");
    // Who only reads is told the same, without a word about changes.
    let read = tab.get(&format!("{here}/tasks?page=2")).await;
    assert!(
        read.status == 401 && read.text().contains(words[1]) && !read.text().contains("Nothing was changed"),
        "{}",
        read.text()
    );
    assert!(read.link("href", "/auth/login").ends_with("?return_to=%2Ftasks%3Fpage%3D2"));
}
