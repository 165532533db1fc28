//! Who is an administrator now: a role that the provider takes away or gives counts in all sessions of the person, on pages that
//! ask nobody else too.

use std::time::Duration;

use serde_json::json;

use super::refresh::expired;
use crate::support::client::Browser;
use crate::support::eventually;
use crate::support::provider::{Grant, person};
use crate::support::replicas::{Replicas, Setup};

const PAGES: [&str; 2] = ["/admin/sessions", "/admin/keys"];

fn dora(role: &str) -> serde_json::Map<String, serde_json::Value> {
    person("7", "Dora", role)
}

/// Tries to end the session of somebody else; the status.
async fn ends(browser: &mut Browser, portal: &str, victim: &mut Browser) -> u16 {
    let id = victim.told(portal).await["session"].as_str().unwrap().to_owned();
    let csrf = browser.csrf(portal).await;
    browser.post(&format!("{portal}/admin/sessions/{id}/end"), &[("csrf", &csrf)]).await.status.as_u16()
}

fn handle(browser: &Browser) -> Option<String> {
    browser.cookie("localhost", "cardea")
}

/// The two addresses are two replicas, or twice the only one.
async fn what_one_session_learns_counts_in_all(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut bob = replicas.signed_in_as(here, "8", "Bob", "member").await;
    let mut second = replicas.signed_in_as(there, "7", "Dora", "administrator").await;
    let mut first = expired(replicas).await;
    for page in PAGES {
        assert_eq!(second.get(&format!("{there}{page}")).await.status, 200);
    }
    let before = replicas.provider.seen().asked;
    replicas.provider.state().person = dora("member");
    assert_eq!(first.get(&format!("{here}/tasks")).await.status, 200);

    // The other session has a good token and asks the provider nothing. Its right is gone with the answer above.
    let mut old = second.clone();
    for page in PAGES {
        let answer = second.get(&format!("{there}{page}")).await;
        assert_eq!(answer.status, 403, "{}", answer.text());
        assert!(!answer.text().contains("href=\"/admin/"), "the way there is gone, too: {}", answer.text());
    }
    assert_eq!(ends(&mut second, there, &mut bob).await, 403);
    assert_eq!(bob.session(there, "").await.status, 200, "nothing ended");
    assert_eq!(replicas.provider.seen().asked - before, 1);
    assert_eq!(second.told(there).await["user"]["role"], "member");
    assert_ne!(handle(&second), handle(&old), "with another role the session has another handle");
    for portal in [here, there] {
        eventually("the end of the old handle", async || (old.session(portal, "").await.status == 401).then_some(())).await;
    }

    // A sign-in tells news as well: the role is back, for the sessions that were there before.
    replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    for (browser, portal) in [(&mut first, there), (&mut second, here)] {
        for page in PAGES {
            let answer = browser.get(&format!("{portal}{page}")).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            assert!(answer.text().contains("href=\"/admin/keys\""));
        }
    }
    assert_eq!(ends(&mut second, here, &mut bob).await, 303);
    eventually("two lines of the trail", async || {
        let logs = replicas.logs();
        let lines: Vec<&str> = logs.lines().filter(|line| line.contains("role_changed")).collect();
        (lines.len() == 2 && lines.iter().any(|line| line.contains("member"))).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_role_that_one_session_learns_counts_in_all_sessions_of_the_person_on_every_replica() {
    what_one_session_learns_counts_in_all(&Replicas::on_redis().await).await;
}

#[tokio::test]
async fn a_role_that_one_session_learns_counts_in_all_on_the_embedded_store() {
    what_one_session_learns_counts_in_all(&Replicas::embedded().await).await;
}

/// Nothing but the page of an administrator is asked for, with a token that is over.
async fn the_role_is_read_again_first(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut bob = replicas.signed_in_as(here, "8", "Bob", "member").await;
    for (index, page) in PAGES.iter().enumerate() {
        replicas.provider.state().person = dora("administrator");
        let mut browser = expired(replicas).await;
        replicas.provider.state().person = dora("member");
        let before = replicas.provider.seen().asked;
        if index == 0 {
            assert_eq!(ends(&mut browser, there, &mut bob).await, 403);
        }
        let answer = browser.get(&format!("{there}{page}")).await;
        assert!(answer.status == 403 && !answer.text().contains("href=\"/admin/"), "{}", answer.text());
        assert_eq!(replicas.provider.seen().asked - before, 1);
        assert_eq!(bob.session(here, "").await.status, 200, "nothing ended");
        // And the other way round.
        let mut browser = expired(replicas).await;
        let old = handle(&browser);
        replicas.provider.state().person = dora("administrator");
        let answer = browser.get(&format!("{there}{page}")).await;
        assert!(answer.status == 200 && answer.text().contains("href=\"/admin/keys\""), "{}", answer.text());
        assert_ne!(handle(&browser), old);
        assert_eq!(browser.get(&format!("{here}{page}")).await.status, 200);
    }
    assert!(replicas.service.desk().calls.iter().all(|call| call.method != "DELETE"));
}

#[tokio::test]
async fn an_expired_token_is_refreshed_before_an_administrators_right_is_used() {
    the_role_is_read_again_first(&Replicas::on_redis().await).await;
}

#[tokio::test]
async fn an_expired_token_is_refreshed_before_an_administrators_right_is_used_on_the_embedded_store() {
    the_role_is_read_again_first(&Replicas::embedded().await).await;
}

#[tokio::test]
async fn while_nobody_can_tell_the_role_no_administrators_right_is_used_and_nobody_is_signed_out() {
    let session = "refresh_rest_seconds = 0\nrefresh_wait_seconds = 2\n".to_owned();
    let replicas = Replicas::on_redis_with(2, Setup { session, ..Setup::default() }).await;
    let (here, there) = (&replicas.all[0].url, &replicas.all[1].url);
    let mut bob = replicas.signed_in_as(here, "8", "Bob", "member").await;
    replicas.provider.state().person = dora("administrator");
    let mut browser = expired(&replicas).await;
    let refused = async |browser: &mut Browser, bob: &mut Browser| {
        for page in PAGES {
            let answer = browser.get(&format!("{there}{page}")).await;
            assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "5"), "{}", answer.text());
            assert_eq!(answer.header("set-cookie"), "");
        }
        assert_eq!(ends(browser, there, bob).await, 503);
        assert_eq!(bob.session(here, "").await.status, 200, "nothing ended");
        assert_eq!(browser.get(&format!("{here}/account/sessions")).await.status, 200, "what needs no right goes on");
    };
    // No new token.
    replicas.provider.state().on_refresh = Grant::Say(500, "text/plain", "no".to_owned());
    refused(&mut browser, &mut bob).await;
    // A new token, and no word about whose it is.
    replicas.provider.state().on_refresh = Grant::Good;
    replicas.provider.state().userinfo_latency = Duration::from_hours(1);
    refused(&mut browser, &mut bob).await;
    replicas.provider.state().userinfo_latency = Duration::ZERO;
    let page = format!("{there}/admin/sessions");
    eventually("the right", async || (browser.get(&page).await.status == 200).then_some(())).await;
}

#[tokio::test]
async fn who_may_not_come_in_any_more_loses_all_sessions_at_once() {
    let identity = "scopes = [\"profile\", \"email\"]\nmember_values = [\"member\"]\n".to_owned();
    let replicas = Replicas::on_redis_with(2, Setup { identity, ..Setup::default() }).await;
    let (here, there) = (&replicas.all[0].url, &replicas.all[1].url);
    let mut second = replicas.signed_in_as(there, "7", "Dora", "administrator").await;
    let mut bob = replicas.signed_in_as(here, "8", "Bob", "member").await;
    replicas.provider.state().person = dora("administrator");
    let mut first = expired(&replicas).await;
    replicas.provider.state().person = person("7", "Dora", "nothing");
    assert_eq!(first.get(&format!("{here}/admin/keys")).await.status, 303, "to the sign-in");
    for portal in [here, there] {
        eventually("the end of both", async || {
            let statuses = (first.session(portal, "").await.status, second.session(portal, "").await.status);
            (statuses.0 == 401 && statuses.1 == 401).then_some(())
        })
        .await;
    }
    // The same where a sign-in is refused for it.
    let mut third = replicas.signed_in_as(there, "7", "Dora", "administrator").await;
    replicas.provider.state().person = person("7", "Dora", "nothing");
    assert_eq!(Browser::new().sign_in_at(here).await.status, 403);
    eventually("the end", async || (third.session(there, "").await.status == 401).then_some(())).await;
    assert_eq!(bob.session(here, "").await.status, 200);
    assert!(!json!(replicas.provider.seen().revoked).as_array().unwrap().is_empty(), "the grants go back");
}
