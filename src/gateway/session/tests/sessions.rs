//! The life of a session, through sockets.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::portal::{ABSOLUTE, COOKIE, IDLE, Site, audit, ring, settings, user};
use crate::gateway::domain::ending::Ending;
use crate::gateway::session::{By, CookieSettings, Sessions, Settings};
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};
use crate::gateway::store::tests::on_both;
use crate::gateway::store::{Key, Record};

on_both! {
    a_sign_in_gives_a_new_handle_and_ends_the_one_that_was_presented
    the_cookie_is_for_this_host_and_https_and_no_script
    a_loopback_portal_without_https_has_a_plain_cookie
    an_invented_handle_is_never_taken_over
    an_odd_cookie_of_a_neighbour_signs_nobody_out
    a_copied_cookie_is_dead_after_sign_out
    a_slow_request_never_brings_a_session_back_after_sign_out
    a_slow_request_does_not_take_a_newer_sign_in_away
    of_two_changes_at_once_one_is_kept_and_the_session_lives
    a_change_of_the_user_keeps_handle_and_session
    a_cookie_of_one_tenant_opens_nothing_at_another
    a_record_copied_to_another_tenant_does_not_open
    without_a_tenant_nobody_is_signed_in
    use_keeps_a_session_alive_and_polling_does_not
    no_use_keeps_a_session_beyond_its_absolute_limit
    the_absolute_limit_holds_when_the_clock_jumps
    a_session_ended_from_elsewhere_is_dead_and_says_so_to_its_streams
    the_list_of_sessions_is_true_and_of_one_user
    ending_a_session_deletes_its_tokens
    a_new_signing_key_signs_nobody_out
    a_key_that_does_not_seal_yet_signs_no_cookie
    what_a_session_has_is_sealed_anew_when_it_is_used
}

async fn a_sign_in_gives_a_new_handle_and_ends_the_one_that_was_presented(bench: Bench) {
    let site = Site::open(&bench);
    let first = site.sign_in(&acme(), "alice", None).await;
    assert_eq!(site.ask(&acme(), "GET /portal/me", Some(&first)).await.body(), "name of alice");
    let second = site.sign_in(&acme(), "alice", Some(&first)).await;
    assert_ne!(first, second);
    assert_eq!((site.me(&acme(), &first).await, site.me(&acme(), &second).await), (401, 200));
}

async fn the_cookie_is_for_this_host_and_https_and_no_script(bench: Bench) {
    let site = Site::open(&bench);
    let answer = site.ask(&acme(), "POST /portal/sign-in/alice", None).await;
    let cookie = answer.header("set-cookie").unwrap();
    let mut attributes: Vec<&str> = cookie.split("; ").skip(1).collect();
    attributes.sort_unstable();
    assert_eq!(attributes, ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
    assert!(cookie.starts_with("__Host-cardea=") && cookie.len() < 200);
    let binding = site.sessions.flow_cookie("b", Duration::from_mins(10)).to_string();
    assert_eq!(binding, "__Host-cardea-signin=b; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=600");
}

async fn a_loopback_portal_without_https_has_a_plain_cookie(bench: Bench) {
    let plain = CookieSettings { name: "cardea".to_owned(), secure: false };
    let site = Site::with(&bench, Settings { cookie: plain.clone(), ..settings() }, ring(&["k1"]));
    let answer = site.ask(&acme(), "POST /portal/sign-in/alice", None).await;
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("cardea=") && !cookie.contains("Secure"));
    let unfit = Settings { cookie: CookieSettings { secure: true, ..plain }, ..settings() };
    let audit = audit(&bench, &ring(&["k1"]));
    assert!(Sessions::new(bench.store.clone(), ring(&["k1"]), bench.clock.clone(), audit, unfit, &bench.shutdown).is_err());
}

async fn an_invented_handle_is_never_taken_over(bench: Bench) {
    let site = Site::open(&bench);
    let invented = format!("{COOKIE}={}", "A".repeat(43));
    assert_eq!(site.me(&acme(), &invented).await, 401);
    let given = site.sign_in(&acme(), "alice", Some(&invented)).await;
    assert!(!given.contains(&"A".repeat(43)));
    for odd in ["", "=", "%", "%00", &"x".repeat(4000)] {
        assert_eq!(site.me(&acme(), &format!("{COOKIE}={odd}")).await, 401);
    }
}

async fn an_odd_cookie_of_a_neighbour_signs_nobody_out(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    for odd in ["odd", "=", "odd=%ff", "odd=\u{e4}", ";;", "=x; \u{e4}"] {
        assert_eq!(site.me(&acme(), &format!("{odd}; {cookie}")).await, 200, "{odd:?}");
        assert_eq!(site.me(&acme(), &format!("{cookie}; {odd}")).await, 200, "{odd:?}");
        assert_eq!(site.me(&acme(), odd).await, 401, "{odd:?}");
    }
}

async fn a_copied_cookie_is_dead_after_sign_out(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    let other = site.sign_in(&acme(), "alice", None).await;
    let answer = site.ask(&acme(), "POST /portal/sign-out", Some(&cookie)).await;
    assert!(answer.status() == 200 && answer.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!((site.me(&acme(), &cookie).await, site.me(&acme(), &other).await), (401, 200));
    assert_eq!(site.ask(&acme(), "POST /portal/sign-out", Some(&cookie)).await.status(), 200);
    assert_eq!(site.me(&acme(), &cookie).await, 401);
}

async fn a_slow_request_never_brings_a_session_back_after_sign_out(bench: Bench) {
    let (site, acme) = (Site::open(&bench), acme());
    for _ in 0..10 {
        let cookie = site.sign_in(&acme, "alice", None).await;
        let slow = join_all((0..4).map(|_| site.ask(&acme, "GET /portal/slow", Some(&cookie))));
        let leave = async {
            site.slow_ones_begun(4).await;
            let answer = site.ask(&acme, "POST /portal/sign-out", Some(&cookie)).await;
            site.let_go_on(4);
            answer.status()
        };
        let (answers, left) = tokio::join!(slow, leave);
        assert_eq!(left, 200);
        for answer in answers {
            // It was signed in when it began, so it ends well; the browser is told nothing.
            assert_eq!((answer.status(), answer.header("set-cookie")), (200, None));
        }
        assert_eq!(site.me(&acme, &cookie).await, 401);
    }
    assert!(site.sessions.list(&acme, &user(&acme, "alice").key()).await.unwrap().is_empty());
}

async fn a_slow_request_does_not_take_a_newer_sign_in_away(bench: Bench) {
    let (site, acme) = (Site::open(&bench), acme());
    let old = site.sign_in(&acme, "alice", None).await;
    let renew = async {
        site.slow_ones_begun(1).await;
        let new = site.sign_in(&acme, "alice", Some(&old)).await;
        site.let_go_on(1);
        new
    };
    let (answer, new) = tokio::join!(site.ask(&acme, "GET /portal/slow", Some(&old)), renew);
    assert_eq!(answer.header("set-cookie"), None);
    assert_eq!((site.me(&acme, &old).await, site.me(&acme, &new).await), (401, 200));
}

async fn of_two_changes_at_once_one_is_kept_and_the_session_lives(bench: Bench) {
    let (site, acme) = (Site::open(&bench), acme());
    let cookie = site.sign_in(&acme, "alice", None).await;
    let slow = join_all((0..2).map(|_| site.ask(&acme, "GET /portal/slow", Some(&cookie))));
    let let_go = async {
        site.slow_ones_begun(2).await;
        site.let_go_on(2);
    };
    let (answers, ()) = tokio::join!(slow, let_go);
    let told = answers.iter().filter(|answer| answer.header("set-cookie").is_some()).count();
    assert!(answers.iter().all(|answer| answer.status() == 200) && (1..=2).contains(&told));
    assert_eq!(site.me(&acme, &cookie).await, 200);
}

async fn a_change_of_the_user_keeps_handle_and_session(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    let answer = site.ask(&acme(), "POST /portal/rename/Alicia", Some(&cookie)).await;
    assert_eq!((answer.status(), answer.cookie().as_deref()), (200, Some(cookie.as_str())));
    assert_eq!(site.ask(&acme(), "GET /portal/me", Some(&cookie)).await.body(), "Alicia");
}

async fn a_cookie_of_one_tenant_opens_nothing_at_another(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    assert_eq!(site.me(&globex(), &cookie).await, 401);
    assert_eq!(site.ask(&globex(), "POST /portal/sign-out", Some(&cookie)).await.status(), 200);
    assert_eq!(site.me(&acme(), &cookie).await, 200);
}

async fn a_record_copied_to_another_tenant_does_not_open(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    // The handle is what follows the 44 characters of the signature.
    let handle = cookie.chars().rev().take(43).collect::<Vec<_>>().into_iter().rev().collect::<String>();
    let Record { value, .. } = bench.store.get(&Key::hashed(&acme(), "session", &handle)).await.unwrap().unwrap();
    bench.store.put(&Key::hashed(&globex(), "session", &handle), value.clone(), Some(IDLE)).await.unwrap();
    assert_eq!(site.me(&globex(), &cookie).await, 401);
    // Neither under another handle of the same tenant.
    let other = site.sign_in(&acme(), "bob", None).await;
    let handle = other.chars().rev().take(43).collect::<Vec<_>>().into_iter().rev().collect::<String>();
    bench.store.put(&Key::hashed(&acme(), "session", &handle), value, Some(IDLE)).await.unwrap();
    assert_eq!(site.me(&acme(), &other).await, 401);
}

async fn without_a_tenant_nobody_is_signed_in(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    // The small portal takes whatever is in front of `.test` for a tenant; two labels are none.
    let answer = site
        .send(&format!("GET /portal/me HTTP/1.1\r\nHost: acme.test.evil\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n"))
        .await;
    assert_eq!(answer.status(), 401);
}

async fn use_keeps_a_session_alive_and_polling_does_not(bench: Bench) {
    // Redis goes by its own clock, so its idle time is short enough to wait for.
    let idle = if bench.redis.is_some() { Duration::from_secs(3) } else { IDLE };
    let site = Site::with(&bench, Settings { idle, ..settings() }, ring(&["k1"]));
    let (used, polled) = (site.sign_in(&acme(), "alice", None).await, site.sign_in(&acme(), "alice", None).await);
    for _ in 0..5 {
        bench.pass(idle / 4);
        assert_eq!(site.me(&acme(), &used).await, 200);
        site.ask(&acme(), "GET /portal/poll", Some(&polled)).await;
    }
    until("the polled session to end", async || {
        assert_eq!(site.me(&acme(), &used).await, 200);
        site.ask(&acme(), "GET /portal/poll", Some(&polled)).await.status() == 401
    })
    .await;
    bench.pass(idle);
    until("the session to end", async || site.ask(&acme(), "GET /portal/poll", Some(&used)).await.status() == 401).await;
}

async fn no_use_keeps_a_session_beyond_its_absolute_limit(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    let step = IDLE / 2;
    for _ in 1..ABSOLUTE.as_secs() / step.as_secs() {
        bench.pass(step);
        assert_eq!(site.me(&acme(), &cookie).await, 200);
    }
    bench.pass(step);
    assert_eq!(site.me(&acme(), &cookie).await, 401);
}

async fn the_absolute_limit_holds_when_the_clock_jumps(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    bench.pass(Duration::from_mins(10));
    assert_eq!(site.ask(&acme(), "POST /portal/rename/Alicia", Some(&cookie)).await.status(), 200);
    for _ in 0..18 {
        bench.pass(Duration::from_mins(25));
        site.me(&acme(), &cookie).await;
    }
    bench.pass(Duration::from_mins(20));
    assert_eq!(site.me(&acme(), &cookie).await, 401);
}

async fn a_session_ended_from_elsewhere_is_dead_and_says_so_to_its_streams(bench: Bench) {
    let (site, elsewhere, acme) = (Site::open(&bench), Site::open(&bench), acme());
    let cookie = site.sign_in(&acme, "alice", None).await;
    let user = user(&acme, "alice").key();
    let id = elsewhere.sessions.list(&acme, &user).await.unwrap().remove(0).id;
    let ended = site.sessions.ended(&acme, &id);
    let end = async {
        // Not of another tenant, whatever id is sent along.
        assert!(!elsewhere.sessions.end(&globex(), &id, Ending::Administrator, &By::default()).await.unwrap());
        assert_eq!(site.me(&acme, &cookie).await, 200);
        assert!(elsewhere.sessions.end(&acme, &id, Ending::Administrator, &By::default()).await.unwrap());
    };
    let told = tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(ended, end).0 }).await.unwrap();
    assert_eq!(told, Ending::Administrator);
    until("word of the end", async || site.me(&acme, &cookie).await == 401).await;
    assert!(!elsewhere.sessions.end(&acme, &id, Ending::Administrator, &By::default()).await.unwrap());
    tokio::time::timeout(Duration::from_secs(20), site.sessions.ended(&acme, &id)).await.unwrap();
}

async fn the_list_of_sessions_is_true_and_of_one_user(bench: Bench) {
    let site = Site::open(&bench);
    let list = async |subject: &str| site.sessions.list(&acme(), &user(&acme(), subject).key()).await.unwrap().len();
    let first = site.sign_in(&acme(), "alice", None).await;
    bench.pass(Duration::from_secs(1));
    site.sign_in(&acme(), "alice", None).await;
    site.sign_in(&acme(), "bob", None).await;
    assert_eq!((list("alice").await, list("bob").await, list("carol").await), (2, 1, 0));
    assert_eq!(site.sessions.list(&globex(), &user(&acme(), "alice").key()).await.unwrap(), []);
    site.ask(&acme(), "POST /portal/sign-out", Some(&first)).await;
    assert_eq!((list("alice").await, list("bob").await), (1, 1));
    bench.pass(ABSOLUTE);
    assert_eq!((list("alice").await, list("bob").await), (0, 0));
}

async fn ending_a_session_deletes_its_tokens(bench: Bench) {
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    let id = site.sessions.list(&acme(), &user(&acme(), "alice").key()).await.unwrap().remove(0).id;
    let key = crate::gateway::session::tokens::key(&acme(), &id);
    assert!(bench.store.get(&key).await.unwrap().is_some());
    site.ask(&acme(), "POST /portal/sign-out", Some(&cookie)).await;
    assert!(bench.store.get(&key).await.unwrap().is_none());
}

async fn a_new_signing_key_signs_nobody_out(bench: Bench) {
    let before = Site::open(&bench);
    let old = before.sign_in(&acme(), "alice", None).await;
    let after = Site::with(&bench, settings(), ring(&["k2", "k1"]));
    let answer = after.ask(&acme(), "GET /portal/me", Some(&old)).await;
    assert_eq!(answer.body(), "name of alice");
    let renewed = answer.cookie().unwrap();
    assert_ne!(renewed, old);
    let answer = after.ask(&acme(), "GET /portal/me", Some(&renewed)).await;
    assert_eq!((answer.status(), answer.header("set-cookie")), (200, None));
    let answer = after.ask(&acme(), "POST /portal/sign-out", Some(&old)).await;
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!((after.me(&acme(), &old).await, after.me(&acme(), &renewed).await), (401, 401));
    let foreign = Site::with(&bench, settings(), Arc::clone(&ring(&["k9"])));
    assert_eq!(foreign.me(&acme(), &renewed).await, 401);
}

async fn a_key_that_does_not_seal_yet_signs_no_cookie(bench: Bench) {
    let (old, both) = (Site::open(&bench), ring(&["k2", "k1"]));
    both.seal_with("k1");
    let new = Site::with(&bench, settings(), Arc::clone(&both));
    // Made by either, good at both, and not replaced.
    for (made, used) in [(&old, &new), (&new, &old)] {
        let cookie = made.sign_in(&acme(), "alice", None).await;
        for site in [made, used] {
            let answer = site.ask(&acme(), "GET /portal/me", Some(&cookie)).await;
            assert_eq!((answer.status(), answer.header("set-cookie")), (200, None));
        }
    }
    let cookie = new.sign_in(&acme(), "bob", None).await;
    both.seal_with("k2");
    let renewed = new.ask(&acme(), "GET /portal/me", Some(&cookie)).await.cookie().unwrap();
    let answer = new.ask(&acme(), "POST /portal/sign-out", Some(&renewed)).await;
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
}

async fn what_a_session_has_is_sealed_anew_when_it_is_used(bench: Bench) {
    let old = Site::open(&bench);
    let cookie = old.sign_in(&acme(), "alice", None).await;
    let after = Site::with(&bench, settings(), ring(&["k2", "k1"]));
    let renewed = after.ask(&acme(), "GET /portal/me", Some(&cookie)).await.cookie().unwrap();
    // The old key can go.
    let last = Site::with(&bench, settings(), ring(&["k2"]));
    assert_eq!(last.ask(&acme(), "GET /portal/me", Some(&renewed)).await.body(), "name of alice");
    assert_eq!(last.me(&acme(), &cookie).await, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_store_is_away_sessions_answer_503_and_nobody_loses_a_cookie() {
    let mut bench = Bench::redis().await;
    let site = Site::open(&bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    bench.redis.as_ref().unwrap().command(&["SAVE"]).await;
    bench.redis.as_mut().unwrap().kill();
    for line in ["GET /portal/me", "GET /portal/poll", "POST /portal/sign-out", "POST /portal/sign-in/alice"] {
        let answer = site.ask(&acme(), line, Some(&cookie)).await;
        assert_eq!(
            (answer.status(), answer.header("retry-after"), answer.header("set-cookie")),
            (503, Some("5"), None),
            "{line}"
        );
        assert!(answer.body().contains("still signed in"));
    }
    assert_eq!(site.ask(&acme(), "GET /public", Some(&cookie)).await.status(), 200);
    // Nobody is sent to sign in, and without a cookie there is nothing to read.
    assert_eq!(site.ask(&acme(), "GET /portal/me", None).await.status(), 401);
    bench.redis.as_mut().unwrap().resume().await;
    until("the store", async || site.me(&acme(), &cookie).await == 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_goes_away_while_a_request_runs_does_not_spoil_its_answer() {
    let mut bench = Bench::redis().await;
    let (site, acme) = (Site::open(&bench), acme());
    let cookie = site.sign_in(&acme, "alice", None).await;
    bench.redis.as_ref().unwrap().command(&["SAVE"]).await;
    let mut server = bench.redis.take().unwrap();
    let cut = async {
        site.slow_ones_begun(1).await;
        server.kill();
        site.let_go_on(1);
    };
    let (answer, ()) = tokio::join!(site.ask(&acme, "GET /portal/slow", Some(&cookie)), cut);
    assert_eq!((answer.status(), answer.header("set-cookie")), (200, None));
    server.resume().await;
    until("the store", async || site.me(&acme, &cookie).await == 200).await;
}
