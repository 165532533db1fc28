//! Signing out: here, at the provider, by the provider; and taking tokens back without anybody waiting for it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use url::Url;

use super::signin::{OIDC, STRICT, identity};
use crate::support::client::{Answer, Browser, Manners, http};
use crate::support::eventually;
use crate::support::openid::now;
use crate::support::provider::person;
use crate::support::replicas::{Replica, Replicas, Setup};

async fn leave(portal: &str, browser: &mut Browser) -> Answer {
    let page = browser.get(&format!("{portal}/tasks")).await;
    assert_eq!(page.status, 200, "{}", page.text());
    browser.post(&format!("{portal}/auth/logout"), &[("csrf", &page.hidden("csrf"))]).await
}

async fn is_signed_in(portal: &str, browser: &Browser) -> bool {
    browser.clone().get(&format!("{portal}/tasks")).await.status == 200
}

#[tokio::test]
async fn a_copied_cookie_is_dead_after_the_sign_out_and_a_second_one_is_no_error() {
    let replicas = Replicas::on_redis().await;
    let portal = &replicas.all[0].url;
    let mut browser = replicas.signed_in().await;
    let copy = browser.clone();
    let csrf = browser.get(&format!("{portal}/tasks")).await.hidden("csrf");
    let address = format!("{portal}/auth/logout");
    let foreign = Manners { fetch_site: Some("cross-site"), origin: Some("http://evil.example".to_owned()), headers: Vec::new() };
    for refused in [
        browser.get(&address).await,
        browser.post(&address, &[]).await,
        browser.post(&address, &[("csrf", "another")]).await,
        browser.post_as(&address, &[("csrf", &csrf)], &foreign).await,
    ] {
        assert!(matches!(refused.status.as_u16(), 403 | 405), "{}: {}", refused.status, refused.text());
    }
    assert!(is_signed_in(portal, &browser).await, "nothing of it signed anybody out");
    let out = browser.post(&address, &[("csrf", &csrf)]).await;
    assert_eq!((out.status.as_u16(), out.header("location")), (303, "/auth/signed-out"), "{}", out.text());
    for replica in &replicas.all {
        assert!(!is_signed_in(&replica.url, &copy).await);
    }
    let page = browser.follow(out).await.text();
    assert!(page.contains("You may still be signed in at your company's sign-in page"), "{page}");
    for mut late in [browser, copy] {
        let again = late.post(&address, &[("csrf", &csrf)]).await;
        assert_eq!((again.status.as_u16(), again.header("location")), (303, "/auth/signed-out"), "{}", again.text());
    }
    let given_back = async || replicas.provider.seen().revoked.first().cloned();
    assert!(eventually("the grant is given back", given_back).await.starts_with("refresh-"));
}

#[tokio::test]
async fn taking_tokens_back_is_tried_again_and_nobody_waits_for_it() {
    let replicas = Replicas::embedded().await;
    replicas.provider.state().revocation_outage = 2;
    let mut browser = replicas.signed_in().await;
    let out = leave(&replicas.all[0].url, &mut browser).await;
    assert_eq!(out.status, 303);
    assert!(replicas.provider.seen().revoked.is_empty(), "the answer came before the token was taken back");
    let given_back = async || replicas.provider.seen().revoked.first().cloned();
    eventually("the grant is given back", given_back).await;

    // Without a refresh token, the access token goes.
    replicas.provider.state().edit = |answer| _ = answer.remove("refresh_token");
    let mut browser = replicas.signed_in().await;
    leave(&replicas.all[0].url, &mut browser).await;
    let given_back = async || replicas.provider.seen().revoked.get(1).cloned();
    assert!(eventually("the token is given back", given_back).await.starts_with("access-"));
}

#[tokio::test]
async fn taking_tokens_back_and_waiting_for_the_provider_end_where_the_settings_say() {
    let lines = format!("{OIDC}limits = {{ revocation_tries = 2, sign_out_wait_ms = 200 }}\n");
    let mut replicas = Replicas::embedded_with(identity(&lines)).await;
    replicas.provider.speak_openid();
    replicas.provider.state().revocation_outage = 100;
    let mut browser = replicas.signed_in().await;
    assert_eq!(leave(&replicas.all[0].url, &mut browser).await.status, 200);
    let given_up = async || replicas.logs().contains("could not be taken back").then_some(());
    eventually("it is given up", given_up).await;
    assert_eq!(replicas.provider.state().revocation_outage, 98);

    // A gateway that does not know its provider yet, and a provider that does not say a word.
    let mut browser = replicas.signed_in().await;
    replicas.all[0].kill();
    replicas.provider.state().openid.as_mut().unwrap().is_silent = true;
    replicas.all[0].resume().await;
    let portal = &replicas.all[0].url;
    let page = browser.get(&format!("{portal}/tasks/new")).await;
    let started = Instant::now();
    let out = browser.post(&format!("{portal}/auth/logout"), &[("csrf", &page.hidden("csrf"))]).await;
    assert_eq!((out.status.as_u16(), out.header("location")), (303, "/auth/signed-out"), "{}", out.text());
    assert!(started.elapsed() < Duration::from_secs(10), "the timeout of calls to the provider is 15 seconds");
    assert!(!is_signed_in(portal, &browser).await);
}

#[tokio::test]
async fn a_provider_that_has_a_sign_out_of_its_own_is_asked_for_it() {
    let replicas = Replicas::embedded_with(identity(OIDC)).await;
    replicas.provider.speak_openid();
    let portal = &replicas.all[0].url;
    let mut browser = replicas.signed_in().await;
    let out = leave(portal, &mut browser).await;
    // A page and no redirect: browsers apply form-action to redirects, too.
    assert_eq!(out.status, 200, "{}", out.text());
    assert!(!is_signed_in(portal, &browser).await, "one is signed out here whatever comes next");
    let onward = out.header("refresh").strip_prefix("0; url=").unwrap().to_owned();
    assert_eq!(out.link("href", "/end"), onward, "there is a link for browsers that do not go by themselves");
    let asked: BTreeMap<String, String> = Url::parse(&onward).unwrap().query_pairs().into_owned().collect();
    assert_eq!(asked["post_logout_redirect_uri"], format!("{portal}/auth/signed-out"));
    assert_eq!(asked["client_id"], "portal");
    assert_eq!(asked["id_token_hint"].split('.').count(), 3);
    assert!(asked["state"].len() >= 22, "{asked:?}");

    let back = browser.open(&onward).await;
    assert_eq!((back.status.as_u16(), back.url.path()), (200, "/auth/signed-out"));
    assert!(back.text().contains("was asked to sign you out, too"), "{}", back.text());
    let ended = replicas.provider.state().openid.as_ref().unwrap().ended.clone();
    assert_eq!(ended.len(), 1);
    // Nobody is told that who did not come that way.
    for address in ["/auth/signed-out", "/auth/signed-out?state=1", "/auth/signed-out?state=another"] {
        let page = browser.get(&format!("{portal}{address}")).await.text();
        assert!(page.contains("You may still be signed in"), "{address}: {page}");
    }
    let stranger = Browser::new().get(back.url.as_str()).await.text();
    assert!(stranger.contains("You may still be signed in"), "{stranger}");
    assert!(!replicas.logs().contains(&asked["id_token_hint"]) && !replicas.logs().contains(&asked["state"]));
    let again = browser.get(&format!("{portal}/auth/login")).await;
    assert!(again.header("location").contains("prompt=login"), "Back is no way in");
}

#[tokio::test]
async fn a_sign_out_stays_here_where_the_settings_say_so_and_waits_for_no_provider() {
    let local = format!("{OIDC}sign_out_at_provider = false\n");
    let replicas = Replicas::embedded_with(identity(&local)).await;
    replicas.provider.speak_openid();
    let mut browser = replicas.signed_in().await;
    let out = leave(&replicas.all[0].url, &mut browser).await;
    assert_eq!((out.status.as_u16(), out.header("location")), (303, "/auth/signed-out"));

    let plain = "scopes = [\"profile\"]\nend_session_url = \"http://127.0.0.1:9/end\"\n";
    let replicas = Replicas::embedded_with(identity(plain)).await;
    let mut browser = replicas.signed_in().await;
    let out = leave(&replicas.all[0].url, &mut browser).await;
    let onward = out.header("refresh");
    assert!(onward.contains("http://127.0.0.1:9/end?client_id=portal&") && !onward.contains("id_token_hint"), "{onward}");
}

/// What the provider's program sends.
async fn send(replica: &Replica, host: &str, form: &[(&str, &str)]) -> (u16, String, String) {
    let address = format!("http://{host}:{}/auth/backchannel-logout", replica.port);
    let answer = http().post(address).form(form).send().await.unwrap();
    let cached = answer.headers().get("cache-control").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    (answer.status().as_u16(), cached, answer.text().await.unwrap())
}

async fn logged_out(replica: &Replica, token: &str) -> (u16, String) {
    let (status, cached, body) = send(replica, "localhost", &[("logout_token", token)]).await;
    assert_eq!(cached, "no-store", "{status} {body}");
    (status, body)
}

/// A browser that signed in as this person in this session at the provider.
async fn arrived(replicas: &Replicas, subject: &str, session: &str) -> Browser {
    replicas.provider.state().person = person(subject, "Dora", "member");
    session.clone_into(&mut replicas.provider.state().openid.as_mut().unwrap().session);
    replicas.signed_in().await
}

#[tokio::test]
async fn the_provider_ends_one_session_or_all_of_a_person_on_every_replica() {
    let replicas = Replicas::on_redis_with(2, identity(OIDC)).await;
    replicas.provider.speak_openid();
    let [first, second] = &replicas.all[..] else { panic!("two") };
    let mine = [arrived(&replicas, "7", "a").await, arrived(&replicas, "7", "b").await, arrived(&replicas, "7", "c").await];
    let other = arrived(&replicas, "8", "d").await;
    let kind = Some("logout+jwt");

    let token = replicas.provider.logout_token(kind, &json!({ "sid": "b" }));
    assert_eq!(logged_out(second, &token).await, (200, String::new()));
    eventually("the session ends", async || (!is_signed_in(&first.url, &mine[1]).await).then_some(())).await;
    assert!(!is_signed_in(&second.url, &mine[1]).await);
    for kept in [&mine[0], &mine[2], &other] {
        assert!(is_signed_in(&first.url, kept).await && is_signed_in(&second.url, kept).await);
    }
    let (status, body) = logged_out(first, &token).await;
    assert_eq!(status, 400, "a token is good once, on whichever replica: {body}");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"], "invalid_request");

    // The session of one person in the name of another ends nothing.
    let token = replicas.provider.logout_token(kind, &json!({ "sid": "d", "sub": "7" }));
    assert_eq!(logged_out(first, &token).await.0, 200);
    assert!(is_signed_in(&first.url, &other).await);

    let mine = [&mine[0], &mine[2], &arrived(&replicas, "7", "e").await];
    let token = replicas.provider.logout_token(kind, &json!({ "sub": "7" }));
    assert_eq!(logged_out(first, &token).await.0, 200);
    for ended in mine {
        eventually("the session ends", async || (!is_signed_in(&second.url, ended).await).then_some(())).await;
        assert!(!is_signed_in(&first.url, ended).await);
    }
    assert!(is_signed_in(&second.url, &other).await);
    for unknown in [json!({ "sid": "nobody" }), json!({ "sub": "nobody" }), json!({ "sub": "7" })] {
        let token = replicas.provider.logout_token(kind, &unknown);
        assert_eq!(logged_out(second, &token).await.0, 200, "what has ended has ended: {unknown}");
    }
    let back = arrived(&replicas, "7", "f").await;
    assert!(is_signed_in(&first.url, &back).await, "a new sign-in is a new session");
    let logs = replicas.logs();
    assert_eq!(logs.matches("session_ended").count(), 4, "each is written down once: {logs}");
}

#[tokio::test]
async fn a_logout_token_that_is_not_right_ends_nothing() {
    for (profile, loose) in [(OIDC, true), (STRICT, false)] {
        let replicas = Replicas::embedded_with(identity(profile)).await;
        replicas.provider.speak_openid();
        replicas.provider.state().callback_extra = vec![("iss".to_owned(), replicas.provider.issuer.clone())];
        let replica = &replicas.all[0];
        let browser = arrived(&replicas, "7", "a").await;
        let make = |kind, changes: &Value| replicas.provider.logout_token(kind, changes);
        let kind = Some("logout+jwt");
        let good = make(kind, &json!({ "sid": "a" }));
        let (head, rest) = good.split_once('.').unwrap();
        let mut bad = vec![
            ("a nonce", make(kind, &json!({ "sid": "a", "nonce": "n" }))),
            ("no events", make(kind, &json!({ "sid": "a", "events": null }))),
            ("other events", make(kind, &json!({ "sid": "a", "events": { "urn:other": {} } }))),
            ("ten minutes old", make(kind, &json!({ "sid": "a", "iat": now() - 600, "exp": now() + 60 }))),
            ("over", make(kind, &json!({ "sid": "a", "exp": now() - 120 }))),
            ("another client's", make(kind, &json!({ "sid": "a", "aud": "another" }))),
            ("another issuer's", make(kind, &json!({ "sid": "a", "iss": "https://evil.example" }))),
            ("nobody's", make(kind, &json!({}))),
            ("without id", make(kind, &json!({ "sid": "a", "jti": null }))),
            ("of another type", make(Some("at+jwt"), &json!({ "sid": "a" }))),
            ("not signed", format!("eyJhbGciOiJub25lIn0.{}.", rest.split_once('.').unwrap().0)),
            ("cut", format!("{head}.{}", rest.split_once('.').unwrap().0)),
            ("empty", String::new()),
            ("no token at all", "<html>".to_owned()),
        ];
        if !loose {
            bad.push(("without a type", make(None, &json!({ "sid": "a" }))));
        }
        for (words, token) in &bad {
            let (status, body) = logged_out(replica, token).await;
            assert_eq!(status, 400, "{words}: {body}");
            assert!(!body.contains(&replicas.provider.issuer), "nothing is told that is not known: {body}");
        }
        let (twice, _, _) = send(replica, "localhost", &[("logout_token", &good), ("logout_token", &good)]).await;
        let (none, _, _) = send(replica, "localhost", &[("token", &good)]).await;
        let json_body = http().post(format!("{}/auth/backchannel-logout", replica.url)).json(&json!({ "logout_token": good }));
        let as_json = json_body.send().await.unwrap().status().as_u16();
        let by_get = http().get(format!("{}/auth/backchannel-logout?logout_token={good}", replica.url)).send().await.unwrap();
        assert_eq!((twice, none, as_json, by_get.status().as_u16()), (400, 400, 400, 405));
        assert!(is_signed_in(&replica.url, &browser).await, "nothing of it ended anything");
        let (elsewhere, _, _) = send(replica, "globex.localhost", &[("logout_token", &good)]).await;
        assert!(is_signed_in(&replica.url, &browser).await, "another tenant's back channel ends nothing here: {elsewhere}");
        assert_eq!(logged_out(replica, &good).await.0, 200);
        assert!(!is_signed_in(&replica.url, &browser).await);
        assert!(!replicas.logs().contains(&good));
    }
}

/// The provider ends a session on one replica while requests of it are in flight on the other; nothing of it may come back.
async fn nothing_comes_back(tries: usize) {
    let extra = "[gateway.limits]\nsign_ins_per_minute = 10000\n".to_owned();
    let replicas = Replicas::on_redis_with(2, Setup { extra, ..identity(OIDC) }).await;
    replicas.provider.speak_openid();
    // Tokens run out at once, so that every request also refreshes them.
    replicas.provider.state().lifetime = Some(1);
    replicas.provider.state().latency = Duration::from_millis(20);
    replicas.service.desk().latency = Duration::from_millis(150);
    let there = format!("{}/tasks", replicas.all[1].url);
    for attempt in 0..tries {
        let session = format!("session-{attempt}");
        let victim = arrived(&replicas, "8", &session).await;
        let handle = victim.cookie("localhost", "cardea");
        let before = replicas.service.desk().calls.len();
        let slow = join_all((0..3).map(|_| {
            let (mut tab, url) = (victim.clone(), there.clone());
            async move { (tab.get(&url).await.status.as_u16(), tab.cookie("localhost", "cardea")) }
        }));
        let end = async {
            let under_way = async || {
                let desk = replicas.service.desk();
                (desk.waiting > 0 || desk.calls.len() > before).then_some(())
            };
            eventually("a request that is under way", under_way).await;
            let named = if attempt % 2 == 0 { json!({ "sid": session }) } else { json!({ "sub": "8" }) };
            let token = replicas.provider.logout_token(Some("logout+jwt"), &named);
            assert_eq!(logged_out(&replicas.all[0], &token).await.0, 200);
        };
        let (answers, ()) = tokio::join!(slow, end);
        for (status, cookie) in answers {
            assert!([200, 303, 401].contains(&status), "try {attempt}: {status}");
            assert!(cookie.is_none() || cookie == handle, "try {attempt}: an answer gave another handle");
        }
        for replica in &replicas.all {
            let dead = async || (!is_signed_in(&replica.url, &victim).await).then_some(());
            eventually("the end of the session", dead).await;
            assert!(!is_signed_in(&replica.url, &victim).await, "try {attempt}: what is dead stays dead");
        }
    }
    let redis = replicas.redis.as_ref().unwrap();
    for kind in ["tokens", "login"] {
        let left = redis.command(&["KEYS", &format!("*:{kind}:r")]).await;
        assert!(!left.contains(kind), "of all those sessions something is left: {left}");
    }
}

#[tokio::test]
async fn a_logout_of_the_provider_holds_against_requests_in_flight_on_another_replica() {
    nothing_comes_back(6).await;
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn a_logout_of_the_provider_holds_two_hundred_times() {
    nothing_comes_back(200).await;
}

#[tokio::test]
async fn a_session_that_the_provider_ended_during_the_sign_in_never_begins() {
    let replicas = Replicas::on_redis_with(2, identity(OIDC)).await;
    replicas.provider.speak_openid();
    for (named, begins) in [
        (json!({ "sid": "a" }), false),
        (json!({ "sub": "7", "iat": now() + 20 }), false),
        (json!({ "sid": "other" }), true),
        (json!({ "sub": "other", "iat": now() + 20 }), true),
    ] {
        replicas.provider.state().person = person("7", "Dora", "member");
        "a".clone_into(&mut replicas.provider.state().openid.as_mut().unwrap().session);
        if begins {
            // The ends of before are remembered for a while.
            replicas.provider.state().person = person("9", "Nora", "member");
            "z".clone_into(&mut replicas.provider.state().openid.as_mut().unwrap().session);
        }
        replicas.provider.state().userinfo_latency = Duration::from_secs(1);
        let before = replicas.provider.seen().codes;
        let mut browser = Browser::new();
        let arriving = async {
            let page = browser.sign_in_at(&replicas.all[0].url).await;
            page.status.as_u16()
        };
        let ending = async {
            eventually("the id token", async || (replicas.provider.seen().codes > before).then_some(())).await;
            let token = replicas.provider.logout_token(Some("logout+jwt"), &named);
            logged_out(&replicas.all[1], &token).await.0
        };
        let (arrived, ended) = tokio::join!(arriving, ending);
        assert_eq!((arrived, ended), (if begins { 200 } else { 400 }, 200), "{named}");
        assert_eq!(is_signed_in(&replicas.all[0].url, &browser).await, begins, "{named}");
    }
    replicas.provider.state().userinfo_latency = Duration::ZERO;
}

#[tokio::test]
async fn without_an_openid_provider_there_is_no_back_channel() {
    let replicas = Replicas::embedded().await;
    let (status, cached, _) = send(&replicas.all[0], "localhost", &[("logout_token", "x.y.z")]).await;
    assert_eq!((status, cached.as_str()), (404, "no-store"));
}

#[tokio::test]
async fn a_logout_that_the_store_did_not_take_may_be_sent_again() {
    let mut replicas = Replicas::on_redis_with(1, identity(OIDC)).await;
    replicas.provider.speak_openid();
    let browser = arrived(&replicas, "7", "a").await;
    // The keys are known by now, so that it is the store alone that is missing.
    let token = replicas.provider.logout_token(Some("logout+jwt"), &json!({ "sid": "a" }));
    replicas.redis.as_mut().unwrap().command(&["SAVE"]).await;
    replicas.redis.as_mut().unwrap().kill();
    let started = Instant::now();
    let (status, body) = logged_out(&replicas.all[0], &token).await;
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("temporarily_unavailable"), "{body}");
    assert!(started.elapsed() < Duration::from_mins(1), "it does not hang");
    replicas.redis.as_mut().unwrap().resume().await;
    let sent = async || (logged_out(&replicas.all[0], &token).await.0 == 200).then_some(());
    eventually("the same token is taken", sent).await;
    assert!(!is_signed_in(&replicas.all[0].url, &browser).await);
}
