//! Refreshing tokens, seen from outside: several gateways, one provider that uses refresh tokens up and ends a sign-in whose
//! used token comes again.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method};
use serde_json::json;
use url::Url;

use crate::support::client::{Answer, Browser, Manners, http};
use crate::support::eventually;
use crate::support::provider::{Grant, person};
use crate::support::replicas::{Replicas, Setup};
use crate::support::spawn;

/// Waits of a busy machine are no part of what is tested.
const PATIENT: &str = "refresh_wait_seconds = 90\n";

pub(super) fn patient() -> Setup {
    Setup { session: PATIENT.to_owned(), ..Setup::default() }
}

/// Asks for the list of tasks as a browser with these cookies; `None` when the gateway is gone.
async fn asked(client: &Client, portal: &str, cookies: &str) -> Option<u16> {
    let request = client.get(format!("{portal}/tasks")).header("cookie", cookies).header("accept", "text/html");
    Some(request.header("sec-fetch-mode", "navigate").send().await.ok()?.status().as_u16())
}

/// The cookies of a browser for all gateways.
fn cookies(replicas: &Replicas, browser: &Browser) -> String {
    browser.cookies_for(&Url::parse(&replicas.all[0].url).unwrap())
}

/// As [`asked`], `count` times at once over all gateways.
pub(super) async fn at_once(replicas: &Replicas, browser: &Browser, count: usize) -> Vec<Option<u16>> {
    let (client, cookies) = (http(), cookies(replicas, browser));
    let portal = |index: usize| &replicas.all[index % replicas.all.len()].url;
    join_all((0..count).map(|index| asked(&client, portal(index), &cookies))).await
}

/// Signs in with tokens that are over at once; what comes next has to refresh them.
pub(super) async fn expired(replicas: &Replicas) -> Browser {
    replicas.provider.state().latency = Duration::ZERO;
    replicas.provider.state().lifetime = Some(0);
    let browser = replicas.signed_in().await;
    replicas.provider.state().lifetime = Some(3600);
    replicas.service.desk().calls.clear();
    browser
}

async fn program(browser: &mut Browser, url: &str) -> Answer {
    let manners = Manners { headers: vec![("accept", "application/json".to_owned())], ..Manners::default() };
    browser.send(Method::GET, url, &manners, |request| request).await
}

/// 200 requests at the expiry, a provider that takes three seconds and uses refresh tokens up.
async fn all_at_the_expiry(replicas: &Replicas) {
    let browser = expired(replicas).await;
    replicas.provider.state().latency = Duration::from_secs(3);
    let before = replicas.provider.seen();
    let statuses = at_once(replicas, &browser, 200).await;
    assert!(statuses.iter().all(|&status| status == Some(200)), "{statuses:?}\n{}", replicas.logs());
    let seen = replicas.provider.seen();
    assert_eq!((seen.asked - before.asked, seen.refreshes - before.refreshes, seen.reused), (1, 1, 0));
    let calls = replicas.service.desk().calls.clone();
    assert!(calls.len() >= 200 && calls.iter().all(|call| call.status == 200 && replicas.provider.is_newest(&call.bearer)));
    let alive = at_once(replicas, &browser, replicas.all.len()).await;
    assert!(alive.iter().all(|&status| status == Some(200)), "the session lives");
}

#[tokio::test]
async fn many_requests_at_the_expiry_make_one_refresh_and_all_get_the_new_token() {
    all_at_the_expiry(&Replicas::on_redis_with(2, patient()).await).await;
}

#[tokio::test]
async fn one_gateway_on_its_file_does_the_same() {
    all_at_the_expiry(&Replicas::embedded_with(patient()).await).await;
}

#[tokio::test]
#[ignore = "long: the bar of twenty runs in a row"]
async fn many_requests_at_the_expiry_make_one_refresh_twenty_times_in_a_row() {
    let replicas = Replicas::on_redis_with(2, patient()).await;
    for _ in 0..20 {
        all_at_the_expiry(&replicas).await;
    }
}

/// How many scripts the store has run: one for each try to get the lease, among others.
async fn scripts(replicas: &Replicas) -> u64 {
    let stats = replicas.redis.as_ref().unwrap().command(&["INFO", "commandstats"]).await;
    let calls = stats.split("cmdstat_evalsha:calls=").nth(1).and_then(|rest| rest.split(',').next()?.parse().ok());
    calls.unwrap_or(0)
}

/// As above, and the gateway that refreshes is killed while the provider thinks.
async fn the_one_who_refreshes_dies() {
    let session = format!("{PATIENT}refresh_lease_seconds = 5\n");
    let extra = "[gateway.upstream]\ntimeout_ms = 4500\n".to_owned();
    let mut replicas = Replicas::on_redis_with(2, Setup { extra, session, ..Setup::default() }).await;
    let browser = expired(&replicas).await;
    replicas.provider.state().latency = Duration::from_secs(3);
    let before = replicas.provider.seen();
    // The first one is at gateway 0, which so has the lease when the others come.
    let (portal, cookies, client) = (replicas.all[0].url.clone(), cookies(&replicas, &browser), http());
    let knock = async move |count: usize| join_all((0..count).map(|_| asked(&client, &portal, &cookies))).await;
    let first = knock.clone();
    spawn(async move { drop(first(1).await) });
    eventually("the grant", async || (replicas.provider.seen().asked > before.asked).then_some(())).await;
    let mut gateway = replicas.all.remove(0);
    spawn(async move { drop(knock(100).await) });
    let asked_before = scripts(&replicas).await;
    let others = at_once(&replicas, &browser, 100);
    let kill = async {
        // The second gateway asks for the lease again and again while it waits. On a slow machine it comes to that later.
        let waits = eventually("the wait for the lease", async || (scripts(&replicas).await > asked_before + 3).then_some(()));
        let _ = tokio::time::timeout(Duration::from_secs(1), waits).await;
        gateway.kill();
        assert_eq!(replicas.provider.seen().refreshes, before.refreshes, "the provider still thinks");
    };
    let (statuses, ()) = tokio::join!(others, kill);
    assert!(statuses.iter().all(|&status| status == Some(200)), "{statuses:?}\n{}", replicas.logs());
    let seen = replicas.provider.seen();
    assert!(seen.asked - before.asked <= 2 && seen.reused == 0, "{seen:?}");
    gateway.resume().await;
    replicas.all.insert(0, gateway);
    let alive = at_once(&replicas, &browser, 2).await;
    assert!(alive.iter().all(|&status| status == Some(200)), "nobody was signed out");
    assert!(replicas.provider.seen().asked - before.asked <= 2);
}

#[tokio::test]
async fn when_the_one_who_refreshes_dies_another_does_and_nobody_is_signed_out() {
    the_one_who_refreshes_dies().await;
}

#[tokio::test]
#[ignore = "long: the bar of twenty runs in a row"]
async fn when_the_one_who_refreshes_dies_nobody_is_signed_out_twenty_times_in_a_row() {
    for _ in 0..20 {
        the_one_who_refreshes_dies().await;
    }
}

#[tokio::test]
async fn trouble_at_the_provider_is_503_for_a_while_and_no_sign_out() {
    let session = "refresh_rest_seconds = 0\nrefresh_wait_seconds = 2\n".to_owned();
    let replicas = Replicas::on_redis_with(2, Setup { session, ..Setup::default() }).await;
    let mut browser = expired(&replicas).await;
    let troubles = [
        Grant::Say(500, "text/plain", "no".to_owned()),
        Grant::Say(429, "application/json", "{}".to_owned()),
        Grant::Say(200, "text/html", "<h1>maintenance</h1>".to_owned()),
        Grant::Say(400, "application/json", json!({ "error": "invalid_client" }).to_string()),
    ];
    for trouble in troubles {
        replicas.provider.state().on_refresh = trouble;
        for replica in &replicas.all {
            let answer = browser.get(&format!("{}/tasks", replica.url)).await;
            assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "5"), "{}", answer.text());
            assert_eq!(answer.header("set-cookie"), "");
        }
    }
    // Longer than a request waits.
    replicas.provider.state().on_refresh = Grant::Good;
    replicas.provider.state().latency = Duration::from_secs(4);
    let answer = browser.get(&format!("{}/tasks", replicas.all[0].url)).await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "5"));
    let (before, url) = (replicas.provider.seen().asked, format!("{}/tasks", replicas.all[1].url));
    eventually("the token", async || (browser.get(&url).await.status == 200).then_some(())).await;
    assert_eq!(replicas.provider.seen().asked, before, "the refresh went on without those who waited");
}

#[tokio::test]
async fn a_refused_refresh_token_ends_the_session_on_all_replicas_and_is_written_down() {
    let replicas = Replicas::on_redis().await;
    let mut browser = expired(&replicas).await;
    replicas.provider.state().on_refresh = Grant::Say(400, "application/json", json!({ "error": "invalid_grant" }).to_string());
    let before = replicas.provider.seen().asked;
    let answer = program(&mut browser, &format!("{}/tasks", replicas.all[0].url)).await;
    assert_eq!(answer.status, 401, "{}", answer.text());
    replicas.provider.state().on_refresh = Grant::Good;
    for replica in &replicas.all {
        let answer = program(&mut browser, &format!("{}/tasks", replica.url)).await;
        assert_eq!((answer.status.as_u16(), answer.text().contains("/auth/login")), (401, true));
        let page = browser.get(&format!("{}/tasks", replica.url)).await;
        assert!(page.location().unwrap().path() == "/auth/login", "a person is sent to sign in");
    }
    assert_eq!(replicas.provider.seen().asked - before, 1);
    eventually("the audit trail", async || {
        let logs = replicas.logs();
        (logs.contains("session_ended") && logs.contains("refresh_refused")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_and_the_read_is_sent_again_once() {
    let replicas = Replicas::on_redis().await;
    let mut browser = replicas.signed_in().await;
    let url = format!("{}/tasks", replicas.all[1].url);
    replicas.provider.forget_access_tokens();
    replicas.service.desk().calls.clear();
    let before = replicas.provider.seen().asked;
    assert_eq!(browser.get(&url).await.status, 200);
    assert_eq!(replicas.provider.seen().asked - before, 1);
    let statuses: Vec<u16> = replicas.service.desk().calls.iter().map(|call| call.status).collect();
    assert!(statuses.contains(&401) && statuses.last() == Some(&200), "{statuses:?}");
    // A service that refuses fresh tokens too, or has other trouble, is no reason to refresh.
    for status in [401, 401, 403, 500] {
        replicas.service.desk().status = Some(status);
        replicas.service.desk().calls.clear();
        let answer = browser.get(&url).await;
        assert!(matches!(answer.status.as_u16(), 403 | 502), "{}", answer.text());
        assert!(replicas.service.desk().calls.len() <= 4, "no loop");
    }
    assert_eq!(replicas.provider.seen().asked - before, 1);
}

#[tokio::test]
async fn an_upload_starts_with_a_fresh_token_and_is_never_sent_on_twice() {
    let replicas = Replicas::on_redis().await;
    let mut browser = expired(&replicas).await;
    let portal = replicas.all[0].url.clone();
    replicas.service.desk().body = Some(json!({ "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" }));
    let mut manners = Browser::own_manners(&portal);
    manners.headers = vec![("accept", "application/json".to_owned())];
    // The front page asks for nothing that could refresh.
    let csrf = browser.get(&format!("{portal}/tasks/new")).await.hidden("csrf");
    manners.headers.push(("x-csrf-token", csrf));
    let send = async |browser: &mut Browser| {
        let form = Form::new().part("file", Part::bytes(b"abc".to_vec()).file_name("a.jar"));
        browser.send(Method::POST, &format!("{portal}/uploads"), &manners, |request| request.multipart(form)).await
    };
    let posts = || replicas.service.desk().calls.iter().filter(|call| call.method == "POST").cloned().collect::<Vec<_>>();
    let before = replicas.provider.seen().asked;
    let answer = send(&mut browser).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!((replicas.provider.seen().asked - before, posts().len()), (1, 1));
    assert!(replicas.provider.is_newest(&posts()[0].bearer));

    replicas.provider.forget_access_tokens();
    let answer = send(&mut browser).await;
    assert_eq!((answer.status.as_u16(), posts().len()), (401, 2), "{}", answer.text());
    let problem: serde_json::Value = serde_json::from_slice(&answer.bytes).unwrap();
    assert_eq!((problem["type"].as_str(), problem["login_url"].as_str()), (Some("token-refreshed-resend"), None));
    assert_eq!(replicas.provider.seen().asked - before, 2);
    let answer = send(&mut browser).await;
    assert_eq!((answer.status.as_u16(), posts().len()), (200, 3), "{}", answer.text());
    assert_eq!(replicas.provider.seen().asked - before, 2);
}

#[tokio::test]
async fn a_changed_role_counts_from_the_next_refresh_on_every_replica() {
    let replicas = Replicas::on_redis().await;
    replicas.provider.state().person = person("7", "Dora", "member");
    let mut browser = expired(&replicas).await;
    let keys = |index: usize| format!("{}/admin/keys", replicas.all[index].url);
    for (role, before, after) in [("administrator", 403, 200), ("member", 200, 403)] {
        replicas.provider.state().lifetime = Some(0);
        for index in 0..2 {
            assert_eq!(browser.get(&keys(index)).await.status, before);
        }
        replicas.provider.state().person = person("7", "Dora", role);
        let mut old = browser.clone();
        assert_eq!(browser.get(&format!("{}/tasks", replicas.all[0].url)).await.status, 200);
        for index in 0..2 {
            eventually("the new role", async || (browser.get(&keys(index)).await.status == after).then_some(())).await;
        }
        let handle = |browser: &Browser| browser.cookie("localhost", "cardea");
        assert_ne!(handle(&browser), handle(&old), "with another role the session has another handle");
        for index in 0..2 {
            eventually("the end of the old handle", async || {
                let answer = old.get(&keys(index)).await;
                (answer.status != 200 && answer.status != 403).then_some(())
            })
            .await;
        }
        eventually("the audit trail", async || {
            let logs = replicas.logs();
            logs.lines().any(|line| line.contains("role_changed") && line.contains(role)).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn tokens_of_another_person_end_the_session_and_are_written_down() {
    let replicas = Replicas::on_redis().await;
    let mut browser = expired(&replicas).await;
    replicas.provider.state().person = person("8", "Mallory", "administrator");
    let answer = program(&mut browser, &format!("{}/tasks", replicas.all[0].url)).await;
    assert_eq!(answer.status, 401, "{}", answer.text());
    assert!(replicas.service.desk().calls.is_empty(), "the service saw none of them");
    assert_eq!(program(&mut browser, &format!("{}/tasks", replicas.all[1].url)).await.status, 401);
    eventually("the audit trail", async || {
        let logs = replicas.logs();
        (logs.contains("session_ended") && logs.contains("not_theirs")).then_some(())
    })
    .await;
}
