//! Local copies of sessions on two replicas, new handles, limits and the tenants of handles.

use std::time::{Duration, Instant};

use super::portal::{ABSOLUTE, COOKIE, IDLE, Site, ring, settings, user};
use crate::gateway::domain::audit::Deed;
use crate::gateway::domain::ending::Ending;
use crate::gateway::session::{By, Settings};
use crate::gateway::store::Key;
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};
use crate::gateway::store::tests::on_both;

on_both! {
    a_session_that_ended_elsewhere_is_dropped_as_soon_as_word_comes
    without_word_a_copy_is_believed_for_a_second_at_most
    where_copies_are_off_the_store_is_asked_each_time
    with_another_role_the_session_goes_on_under_a_new_handle
    of_many_requests_that_change_the_role_one_gives_the_new_handle
    the_oldest_of_too_many_sessions_ends
    sign_ins_at_the_same_time_are_all_in_the_index
    a_cookie_on_the_host_of_another_tenant_is_written_down_once
    every_end_but_a_sign_out_is_written_down_with_its_reason
    the_ends_of_a_session_are_told
    sessions_are_listed_with_device_and_network
    the_sessions_of_a_tenant_are_those_of_its_people
}

async fn a_session_that_ended_elsewhere_is_dropped_as_soon_as_word_comes(bench: Bench) {
    // Copies that would live for an hour: only word can drop them.
    let long = Settings { copy_life: Duration::from_hours(1), ..settings() };
    let here = Site::with(&bench, long.clone(), ring(&["k1"]));
    let there = Site::with(&bench, long, ring(&["k1"]));
    for _ in 0..10 {
        let cookie = here.sign_in(&acme(), "alice", None).await;
        assert_eq!((here.me(&acme(), &cookie).await, there.me(&acme(), &cookie).await), (200, 200));
        assert_eq!(here.ask(&acme(), "POST /portal/sign-out", Some(&cookie)).await.status(), 200);
        assert_eq!(here.me(&acme(), &cookie).await, 401, "at once where it ended");
        until("word of the end", async || there.me(&acme(), &cookie).await == 401).await;
    }
    let cookie = here.sign_in(&acme(), "alice", None).await;
    assert_eq!(there.me(&acme(), &cookie).await, 200);
    here.ask(&acme(), "POST /portal/rename/Alicia", Some(&cookie)).await;
    until("word of the change", async || there.ask(&acme(), "GET /portal/me", Some(&cookie)).await.body() == "Alicia").await;
}

async fn without_word_a_copy_is_believed_for_a_second_at_most(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    assert_eq!(site.me(&acme(), &cookie).await, 200);
    let handle: String = cookie.chars().skip(cookie.len() - 43).collect();
    bench.store.put(&Key::hashed(&acme(), "session", &handle), b"ended sign_out".to_vec(), Some(IDLE)).await.unwrap();
    let ended = Instant::now();
    loop {
        let asked = ended.elapsed();
        if site.me(&acme(), &cookie).await == 401 {
            break;
        }
        assert!(asked < Duration::from_secs(1), "a request begun {asked:?} after the end was answered");
    }
}

async fn where_copies_are_off_the_store_is_asked_each_time(bench: Bench) {
    let site = Site::with(&bench, Settings { copy_life: Duration::ZERO, ..settings() }, ring(&["k1"]));
    let cookie = site.sign_in(&acme(), "alice", None).await;
    assert_eq!(site.me(&acme(), &cookie).await, 200);
    let handle: String = cookie.chars().skip(cookie.len() - 43).collect();
    bench.store.put(&Key::hashed(&acme(), "session", &handle), b"ended sign_out".to_vec(), Some(IDLE)).await.unwrap();
    assert_eq!(site.me(&acme(), &cookie).await, 401);
}

async fn with_another_role_the_session_goes_on_under_a_new_handle(bench: Bench) {
    let (here, there, acme) = (Site::open(&bench), Site::open(&bench), acme());
    let old = here.sign_in(&acme, "alice", None).await;
    assert_eq!(there.me(&acme, &old).await, 200);
    let before = here.sessions.list(&acme, &user(&acme, "alice").key()).await.unwrap();
    let new = here.ask(&acme, "POST /portal/promote", Some(&old)).await.cookie().unwrap();
    assert_ne!(old, new);
    assert_eq!((here.me(&acme, &old).await, here.me(&acme, &new).await), (401, 200));
    until("the old handle to die", async || there.me(&acme, &old).await == 401).await;
    let after = here.sessions.list(&acme, &user(&acme, "alice").key()).await.unwrap();
    assert_eq!((before.len(), after.len()), (1, 1));
    assert_eq!((&after[0].id, after[0].started_at), (&before[0].id, before[0].started_at), "it is the same session");
    // With its tokens, its absolute end and one end for both handles.
    assert!(bench.store.get(&crate::gateway::session::tokens::key(&acme, &after[0].id)).await.unwrap().is_some());
    assert!(here.sessions.end(&acme, &after[0].id, Ending::Administrator, &By::default()).await.unwrap());
    assert_eq!(here.me(&acme, &new).await, 401);
}

async fn of_many_requests_that_change_the_role_one_gives_the_new_handle(bench: Bench) {
    let (here, there, acme) = (Site::open(&bench), Site::open(&bench), acme());
    for _ in 0..5 {
        let old = here.sign_in(&acme, "alice", None).await;
        let asked = (0..8).map(|index| {
            let site = if index % 2 == 0 { &here } else { &there };
            site.ask(&acme, "POST /portal/promote", Some(&old))
        });
        let answers = futures_util::future::join_all(asked).await;
        assert!(answers.iter().all(|answer| [200, 401].contains(&answer.status())));
        let given: Vec<String> = answers.iter().filter_map(super::portal::Answer::cookie).collect();
        assert_eq!(given.len(), 1, "{given:?}");
        for site in [&here, &there] {
            assert_eq!(site.me(&acme, &given[0]).await, 200);
            until("the old handle to die", async || site.me(&acme, &old).await == 401).await;
        }
        let listed = here.sessions.list(&acme, &user(&acme, "alice").key()).await.unwrap();
        assert_eq!(listed.len(), 1);
        here.sessions.end(&acme, &listed[0].id, Ending::Administrator, &By::default()).await.unwrap();
        assert_eq!(here.me(&acme, &given[0]).await, 401, "it is the one that the index knows");
    }
}

async fn the_oldest_of_too_many_sessions_ends(bench: Bench) {
    let policies = Some(crate::gateway::policies::tests::with_sessions_per_user(&bench, (acme(), 2)));
    let site = Site::with(&bench, Settings { policies, ..settings() }, ring(&["k1"]));
    let mut cookies = Vec::new();
    for _ in 0..4 {
        cookies.push(site.sign_in(&acme(), "alice", None).await);
        bench.pass(Duration::from_secs(1));
    }
    site.sign_in(&acme(), "bob", None).await;
    let mut alive = Vec::new();
    for cookie in &cookies {
        alive.push(site.me(&acme(), cookie).await);
    }
    assert_eq!(alive, [401, 401, 200, 200]);
    // The limit is one tenant's.
    for _ in 0..3 {
        site.sign_in(&globex(), "carol", None).await;
    }
    assert_eq!(site.sessions.list(&globex(), &user(&globex(), "carol").key()).await.unwrap().len(), 3);
}

async fn sign_ins_at_the_same_time_are_all_in_the_index(bench: Bench) {
    let (here, there) = (Site::open(&bench), Site::open(&bench));
    let (acme, count) = (acme(), 12);
    let sign_ins = (0..count).map(async |index| {
        let site = if index % 2 == 0 { &here } else { &there };
        site.sign_in(&acme, "alice", None).await
    });
    let cookies = futures_util::future::join_all(sign_ins).await;
    assert_eq!(here.sessions.list(&acme, &user(&acme, "alice").key()).await.unwrap().len(), count);
    for cookie in cookies {
        assert_eq!(there.me(&acme, &cookie).await, 200);
    }
}

async fn a_cookie_on_the_host_of_another_tenant_is_written_down_once(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    for _ in 0..3 {
        assert_eq!(site.me(&globex(), &cookie).await, 401);
    }
    // A handle that nobody signed names no tenant.
    let made_up = format!("{COOKIE}=acme.{}", "A".repeat(43));
    assert_eq!(site.me(&globex(), &made_up).await, 401);
    site.sign_in(&globex(), "carol", None).await;
    until("the event", async || !site.audit.newest(&globex(), 10).await.is_empty()).await;
    let written = site.audit.newest(&globex(), 10).await;
    let told: Vec<_> =
        written.iter().map(|one| (one.event.deed, one.event.detail.as_str(), one.event.network.as_deref())).collect();
    assert_eq!(told, [(Deed::TenantMismatch, "session_cookie", Some("192.0.2.0/24"))]);
    assert!(written[0].event.user.is_none(), "one tenant's trail names no user of another");
}

async fn every_end_but_a_sign_out_is_written_down_with_its_reason(bench: Bench) {
    let site = Site::open(&bench);
    let first = site.sign_in(&acme(), "alice", None).await;
    let second = site.sign_in(&acme(), "alice", Some(&first)).await;
    site.ask(&acme(), "POST /portal/sign-out", Some(&second)).await;
    site.sign_in(&acme(), "alice", None).await;
    let id = site.sessions.list(&acme(), &user(&acme(), "alice").key()).await.unwrap().remove(0).id;
    let by = By { user: Some("somebody".to_owned()), network: "198.51.100.0/24".to_owned(), request_id: "r9".to_owned() };
    site.sessions.end(&acme(), &id, Ending::Administrator, &by).await.unwrap();
    until("the events", async || site.audit.newest(&acme(), 10).await.len() == 2).await;
    let written = site.audit.newest(&acme(), 10).await;
    let told: Vec<_> = written.iter().map(|one| (one.event.deed, one.event.detail.as_str())).collect();
    let whose = format!("administrator {}", user(&acme(), "alice").key());
    assert_eq!(told, [(Deed::SessionEnded, whose.as_str()), (Deed::SessionEnded, "new_sign_in")]);
    assert_eq!(written[0].event.user.as_deref(), Some("somebody"));
    assert_eq!(written[0].event.session.as_deref(), Some(id.as_str()));
}

async fn the_ends_of_a_session_are_told(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    let told = async || {
        let answer = site.ask(&acme(), "GET /portal/deadlines", Some(&cookie)).await;
        let ends: Vec<u128> = answer.body().split(' ').map(|text| text.parse().unwrap()).collect();
        (ends[0], ends[1])
    };
    let (idle, absolute) = told().await;
    assert!(idle <= IDLE.as_millis() && idle > IDLE.as_millis() - 60_000, "{idle}");
    assert_eq!(absolute, ABSOLUTE.as_millis());
    bench.pass(Duration::from_mins(10));
    let (later, absolute) = told().await;
    assert!(bench.redis.is_some() || later == idle - 600_000, "asking is no use: {later}");
    assert_eq!(absolute, ABSOLUTE.as_millis() - 600_000);
}

async fn sessions_are_listed_with_device_and_network(bench: Bench) {
    let site = Site::open(&bench);
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0";
    let answer = site
        .send(&format!(
            "POST /portal/sign-in/alice HTTP/1.1\r\nHost: acme.test\r\nUser-Agent: {agent}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        ))
        .await;
    let cookie = answer.cookie().unwrap();
    let listed = async || site.sessions.list(&acme(), &user(&acme(), "alice").key()).await.unwrap().remove(0);
    let first = listed().await;
    assert_eq!((first.device.words().as_str(), first.network.as_str()), ("Firefox on Linux", "192.0.2.0/24"));
    assert_eq!((first.name.raw(), first.last_seen), ("name of alice", first.started_at));
    let since = if bench.redis.is_some() { Duration::ZERO } else { Duration::from_mins(2) };
    bench.pass(since);
    site.me(&acme(), &cookie).await;
    assert_eq!(listed().await.last_seen, first.started_at.after(since), "it was seen");
}

async fn the_sessions_of_a_tenant_are_those_of_its_people(bench: Bench) {
    let site = Site::open(&bench);
    let gone = site.sign_in(&acme(), "bob", None).await;
    for (tenant, subject) in [(acme(), "alice"), (acme(), "alice"), (globex(), "carol")] {
        site.sign_in(&tenant, subject, None).await;
    }
    site.ask(&acme(), "POST /portal/sign-out", Some(&gone)).await;
    let all = site.sessions.list_all(&acme(), 100).await.unwrap();
    assert!(all.complete && all.found.len() == 2, "{all:?}");
    assert!(all.found.iter().all(|session| session.name.raw() == "name of alice"));
    assert_eq!(site.sessions.list_all(&globex(), 100).await.unwrap().found.len(), 1);
    site.sign_in(&acme(), "bob", None).await;
    let cut = site.sessions.list_all(&acme(), 1).await.unwrap();
    assert!(!cut.complete && !cut.found.is_empty(), "{cut:?}");
    let foreign = &all.found[0].id;
    assert_eq!(site.sessions.one(&globex(), foreign).await.unwrap(), None);
    assert!(!site.sessions.end(&globex(), foreign, Ending::Administrator, &By::default()).await.unwrap());
}

/// Redis counts by itself what it was asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_warm_session_costs_no_round_trip() {
    let bench = Bench::redis().await;
    let site = Site::with(&bench, Settings { copy_life: Duration::from_hours(1), ..settings() }, ring(&["k1"]));
    let cookie = site.sign_in(&acme(), "alice", None).await;
    assert_eq!(site.me(&acme(), &cookie).await, 200);
    let redis = bench.redis.as_ref().unwrap();
    redis.command(&["CONFIG", "RESETSTAT"]).await;
    for _ in 0..50 {
        assert_eq!(site.me(&acme(), &cookie).await, 200);
    }
    let asked = format!("{:?}", redis.command(&["INFO", "commandstats"]).await);
    // What the test itself asks.
    let own = ["config", "info", "client", "hello", "select"];
    let asked = asked.split("cmdstat_").skip(1);
    let others: Vec<&str> = asked.filter(|line| !own.iter().any(|name| line.starts_with(name))).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Redis's own clock measures the absolute limit, whatever a replica's clock says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_back_adds_nothing_to_the_absolute_limit() {
    let bench = Bench::redis().await;
    let limit = Duration::from_secs(3);
    let short = Settings { idle: limit, absolute: limit, copy_life: Duration::ZERO, ..settings() };
    let before = Site::with(&bench, short.clone(), ring(&["k1"]));
    let cookie = before.sign_in(&acme(), "alice", None).await;
    // This replica's clock stands still at the sign-in: for it the session is new for ever. Use alone would keep it alive.
    until("the absolute limit", async || before.me(&acme(), &cookie).await == 401).await;
    assert!(before.sessions.list(&acme(), &user(&acme(), "alice").key()).await.unwrap().is_empty());
}
