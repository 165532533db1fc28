//! Refreshing on several replicas: one lease, one grant, word to those who wait, and a fence for those who come late.

use std::time::Duration;

use tokio::time::Instant;

use super::portal::{Site, tokens_of, user};
use super::refresh::{Case, PACE, Provider, case, fresh_of, new_tokens, replica};
use crate::gateway::domain::audit::Deed;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::session::tokens::Due;
use crate::gateway::session::{CheckError, Learnt, RefreshError, RefreshSettings, TokenError};
use crate::gateway::store::tests::bench::{Bench, RedisServer, acme, until};
use crate::gateway::store::tests::on_both;
use crate::gateway::store::{Key, Lease};

on_both! {
    two_replicas_share_one_call
    trouble_of_the_one_who_refreshes_is_the_trouble_of_all_who_wait
    a_replica_that_is_gone_is_left_alone_for_its_lease_only
    whoever_waits_for_too_long_gets_the_old_token_or_is_told_to_come_back
    a_refresh_that_comes_late_does_not_write_over_a_newer_one
    a_refresh_writes_over_an_older_one_that_came_late
    a_refused_refresh_token_ends_the_session_everywhere_and_is_written_down
    a_refused_refresh_token_is_not_sent_again_for_a_while_by_any_replica
    tokens_of_another_person_end_the_session
    who_may_not_come_in_any_more_is_out_at_the_next_refresh
    a_changed_role_is_in_the_session_after_the_refresh
    a_role_learnt_in_one_session_is_in_all_sessions_of_the_user
    an_answer_asked_for_before_a_newer_one_was_written_is_asked_for_again
    a_token_vouches_for_a_role_while_it_is_good_and_checked_and_not_after
}

/// The second of two replicas that know one sign-in.
fn other(bench: &Bench, case: &Case, pace: RefreshSettings) -> Case {
    replica(bench, case.login.clone(), pace)
}

async fn lease_of(bench: &Bench, case: &Case, ttl: Duration) -> Lease {
    let key = Key::new(&acme(), "refresh", &case.login.public());
    bench.store.acquire(&key, ttl).await.unwrap().unwrap()
}

/// Somebody signed in at a portal, and a replica that knows the sign-in.
async fn signed_in(bench: &Bench) -> (Site, String, Case) {
    let site = Site::open(bench);
    let cookie = site.sign_in(&acme(), "alice", None).await;
    let case = replica(bench, site.login_of("alice"), PACE);
    (site, cookie, case)
}

/// The session is over wherever somebody looks.
async fn is_over(site: &Site, cookie: &str, case: &Case) {
    until("the end", async || site.me(&acme(), cookie).await == 401).await;
    assert!(case.sessions.0.list(&acme(), &user(&acme(), "alice").key()).await.unwrap().is_empty());
    assert!(case.tokens.current(&acme(), &case.login).await.unwrap().is_none());
}

async fn two_replicas_share_one_call(bench: Bench) {
    let (one, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0));
    let two = other(&bench, &one, PACE);
    bench.clock.advance(Duration::from_secs(301));
    let answer = async {
        until("the call", async || provider.calls() == 1).await;
        provider.0.permits.add_permits(10);
    };
    let (first, second, ()) = tokio::join!(one.access(&provider), two.access(&provider), answer);
    assert_eq!((first.unwrap(), second.unwrap()), ("new-access".to_owned(), "new-access".to_owned()));
    assert_eq!((provider.calls(), provider.checks()), (1, 1));
}

async fn trouble_of_the_one_who_refreshes_is_the_trouble_of_all_who_wait(bench: Bench) {
    let (one, provider) = (case(&bench).await, Provider::slow(Err(RefreshError::Trouble), 0));
    let two = other(&bench, &one, PACE);
    bench.clock.advance(Duration::from_secs(280));
    let answer = async {
        until("the call", async || provider.calls() == 1).await;
        provider.0.permits.add_permits(10);
    };
    let (first, second, ()) = tokio::join!(one.access(&provider), two.access(&provider), answer);
    assert_eq!((first.unwrap(), second.unwrap()), ("access-of-alice".to_owned(), "access-of-alice".to_owned()));
    assert!(provider.calls() <= 2, "once for each replica at the most: word may be lost");
}

async fn a_replica_that_is_gone_is_left_alone_for_its_lease_only(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    bench.clock.advance(Duration::from_secs(301));
    lease_of(&bench, &case, Duration::from_millis(300)).await;
    let passing = async {
        until("a time without the lease", async || {
            bench.clock.advance(Duration::from_millis(10));
            provider.calls() == 1
        })
        .await;
    };
    let (token, ()) = tokio::join!(case.access(&provider), passing);
    assert_eq!((token.unwrap().as_str(), provider.calls()), ("new-access", 1));
}

async fn whoever_waits_for_too_long_gets_the_old_token_or_is_told_to_come_back(bench: Bench) {
    let first = case(&bench).await;
    let provider = Provider::answers(Ok(new_tokens(None)));
    let case = other(&bench, &first, RefreshSettings { wait: Duration::from_millis(50), ..PACE });
    let lease = lease_of(&bench, &case, Duration::from_hours(1)).await;
    bench.clock.advance(Duration::from_secs(280));
    assert_eq!(case.access(&provider).await.unwrap(), "access-of-alice");
    bench.clock.advance(Duration::from_secs(21));
    assert_eq!(case.access(&provider).await, Err(TokenError::Unavailable));
    assert_eq!(case.force(&provider, "access-of-alice").await, Err(TokenError::Unavailable));
    assert_eq!(provider.calls(), 0);
    bench.store.release(&lease).await.unwrap();
    until("the token", async || case.access(&provider).await == Ok("new-access".to_owned())).await;
}

async fn a_refresh_that_comes_late_does_not_write_over_a_newer_one(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(None)), 0));
    bench.clock.advance(Duration::from_secs(301));
    let newer = async {
        until("the call", async || provider.calls() == 1).await;
        case.put(fresh_of(&bench, "newer"), Due::Nothing, u64::MAX).await;
        provider.0.permits.add_permits(1);
    };
    let (token, ()) = tokio::join!(case.access(&provider), newer);
    assert_eq!(token.unwrap(), "access-of-newer");
    assert!(case.kept().await.access.matches("access-of-newer"));
}

async fn a_refresh_writes_over_an_older_one_that_came_late(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(None)), 0));
    bench.clock.advance(Duration::from_secs(301));
    let older = async {
        until("the call", async || provider.calls() == 1).await;
        case.put(fresh_of(&bench, "older"), Due::Nothing, 1).await;
        provider.0.permits.add_permits(1);
    };
    let (token, ()) = tokio::join!(case.access(&provider), older);
    assert_eq!(token.unwrap(), "new-access");
    assert!(case.kept().await.access.matches("new-access"));
}

async fn a_refused_refresh_token_ends_the_session_everywhere_and_is_written_down(bench: Bench) {
    let ((site, cookie, case), provider) = (signed_in(&bench).await, Provider::answers(Err(RefreshError::Refused)));
    assert_eq!(site.me(&acme(), &cookie).await, 200);
    let owner = user(&acme(), "alice").key();
    let (tenant, public) = (acme(), case.login.public());
    let ended = case.sessions.ended(&tenant, &public);
    bench.clock.advance(Duration::from_secs(301));
    let (token, _) = tokio::join!(case.access(&provider), ended);
    assert_eq!(token, Err(TokenError::SignInAgain));
    is_over(&site, &cookie, &case).await;
    until("the audit trail", async || {
        let written = case.audit.newest(&acme(), 10).await;
        let of = |deed: Deed, detail: &str| {
            let mut events = written.iter().map(|written| &written.event);
            events.any(|event| event.deed == deed && event.detail.contains(detail) && event.user.as_ref() == Some(&owner))
        };
        of(Deed::Refresh, "refresh_refused") && of(Deed::SessionEnded, "refused")
    })
    .await;
}

async fn a_refused_refresh_token_is_not_sent_again_for_a_while_by_any_replica(bench: Bench) {
    let (one, provider) = (case(&bench).await, Provider::answers(Err(RefreshError::Refused)));
    let two = other(&bench, &one, PACE);
    bench.clock.advance(Duration::from_secs(301));
    assert_eq!(one.access(&provider).await, Err(TokenError::SignInAgain));
    // As if a writer came late, or a restore brought the record back.
    let owner = user(&acme(), "alice");
    one.tokens.store(&one.login, &owner, &tokens_of("alice")).await.unwrap();
    assert_eq!(two.access(&provider).await, Err(TokenError::SignInAgain));
    assert_eq!(provider.calls(), 1);
}

async fn tokens_of_another_person_end_the_session(bench: Bench) {
    let ((site, cookie, case), provider) = (signed_in(&bench).await, Provider::answers(Ok(new_tokens(Some("new-refresh")))));
    *provider.0.who.lock().unwrap() = Ok(user(&acme(), "mallory"));
    bench.clock.advance(Duration::from_secs(301));
    assert_eq!(case.access(&provider).await, Err(TokenError::SignInAgain));
    is_over(&site, &cookie, &case).await;
    until("the token given back", async || *provider.0.revoked.lock().unwrap() == ["new-refresh"]).await;
}

async fn who_may_not_come_in_any_more_is_out_at_the_next_refresh(bench: Bench) {
    let ((site, cookie, case), provider) = (signed_in(&bench).await, Provider::answers(Ok(new_tokens(Some("new-refresh")))));
    let another = site.sign_in(&acme(), "alice", None).await;
    *provider.0.who.lock().unwrap() = Err(CheckError::NotAdmitted);
    bench.clock.advance(Duration::from_secs(301));
    assert_eq!(case.access(&provider).await, Err(TokenError::SignInAgain));
    is_over(&site, &cookie, &case).await;
    is_over(&site, &another, &case).await;
}

async fn a_role_learnt_in_one_session_is_in_all_sessions_of_the_user(bench: Bench) {
    let ((site, cookie, case), provider) = (signed_in(&bench).await, Provider::answers(Ok(new_tokens(None))));
    let another = site.sign_in(&acme(), "alice", None).await;
    let bob = site.sign_in(&acme(), "bob", None).await;
    let admin = Principal { role: Role::Administrator, ..user(&acme(), "alice") };
    *provider.0.who.lock().unwrap() = Ok(admin.clone());
    bench.clock.advance(Duration::from_secs(301));
    case.access(&provider).await.unwrap();
    for (cookie, as_what) in [(&cookie, "Administrator 1"), (&another, "Administrator 1"), (&bob, "Member 0")] {
        until(as_what, async || site.ask(&acme(), "GET /portal/standing", Some(cookie)).await.body() == as_what).await;
    }
    let listed = site.sessions.list(&acme(), &admin.key()).await.unwrap();
    assert!(listed.len() == 2 && listed.iter().all(|session| session.role == Role::Administrator), "{listed:?}");
    assert_eq!(site.sessions.as_told(user(&acme(), "alice")).await.unwrap(), admin);
    assert_eq!(site.sessions.as_told(user(&acme(), "bob")).await.unwrap(), user(&acme(), "bob"));
}

async fn an_answer_asked_for_before_a_newer_one_was_written_is_asked_for_again(bench: Bench) {
    let (case, alice) = (case(&bench).await, user(&acme(), "alice"));
    let admin = Principal { role: Role::Administrator, ..alice.clone() };
    let known = async || case.sessions.known(&acme(), &alice.key()).await.unwrap();
    let learn = async |before, now| case.sessions.learn(before, &alice, now).await.unwrap();
    let early = known().await;
    assert!(!early.is_something());
    assert_eq!(learn(&early, &admin).await, Learnt::Role);
    assert_eq!(learn(&early, &alice).await, Learnt::Overtaken);
    assert_eq!(case.sessions.as_told(alice.clone()).await.unwrap(), admin);
    // Who says the same came late, but not with anything else.
    assert_eq!(learn(&early, &admin).await, Learnt::Same);
    let before = known().await;
    assert!(before.is(&admin));
    assert_eq!(learn(&before, &alice).await, Learnt::Role);
    assert_eq!(learn(&before, &Principal { name: "A".into(), ..admin.clone() }).await, Learnt::Overtaken);
    assert_eq!(case.sessions.as_told(alice.clone()).await.unwrap(), alice);
}

async fn a_token_vouches_for_a_role_while_it_is_good_and_checked_and_not_after(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Err(RefreshError::Trouble)));
    let vouch = async || case.source.vouch(&acme(), &case.login, provider.clone()).await;
    assert_eq!((vouch().await, provider.calls()), (Ok(()), 0));
    bench.clock.advance(Duration::from_secs(280));
    assert_eq!((vouch().await, provider.calls()), (Ok(()), 1));
    bench.clock.advance(Duration::from_secs(21));
    assert_eq!(vouch().await, Err(TokenError::Unavailable));
    *provider.0.outcome.lock().unwrap() = Ok(new_tokens(Some("new-refresh")));
    *provider.0.who.lock().unwrap() = Err(CheckError::Trouble);
    bench.clock.advance(PACE.rest);
    assert_eq!(vouch().await, Err(TokenError::Unavailable));
    assert_eq!(case.access(&provider).await.unwrap(), "new-access", "it is good for everything else");
    *provider.0.who.lock().unwrap() = Ok(user(&acme(), "alice"));
    bench.clock.advance(PACE.rest);
    assert_eq!(vouch().await, Ok(()));
}

async fn a_changed_role_is_in_the_session_after_the_refresh(bench: Bench) {
    let ((site, cookie, case), provider) = (signed_in(&bench).await, Provider::answers(Ok(new_tokens(None))));
    let admin = Principal { role: Role::Administrator, name: "Alice B.".into(), ..user(&acme(), "alice") };
    let stands = async |as_what: &str| {
        until(as_what, async || site.ask(&acme(), "GET /portal/standing", Some(&cookie)).await.body() == as_what).await;
    };
    stands("Member 0").await;
    *provider.0.who.lock().unwrap() = Ok(admin);
    bench.clock.advance(Duration::from_secs(301));
    case.access(&provider).await.unwrap();
    stands("Administrator 1").await;
    assert_eq!(site.ask(&acme(), "GET /portal/me", Some(&cookie)).await.body(), "Alice B.");
    // And back.
    *provider.0.who.lock().unwrap() = Ok(user(&acme(), "alice"));
    bench.clock.advance(Duration::from_secs(301));
    case.access(&provider).await.unwrap();
    stands("Member 2").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_is_renewed_for_as_long_as_the_call_takes() {
    let bench = Bench::redis().await;
    let first = case(&bench).await;
    let pace = RefreshSettings { lease: Duration::from_millis(300), ..PACE };
    let (one, two) = (other(&bench, &first, pace), other(&bench, &first, pace));
    let provider = Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0);
    bench.clock.advance(Duration::from_secs(301));
    let began = Instant::now();
    let answer = async {
        until("four leases one after the other", async || began.elapsed() > pace.lease * 4).await;
        assert_eq!(provider.calls(), 1);
        provider.0.permits.add_permits(10);
    };
    let (first, second, ()) = tokio::join!(one.access(&provider), two.access(&provider), answer);
    assert_eq!((first.unwrap(), second.unwrap()), ("new-access".to_owned(), "new-access".to_owned()));
    assert_eq!(provider.calls(), 1);
}

/// A refresh whose tokens the store does not take, because it is full from before the provider answers on.
async fn given_while_the_store_is_full<'b>(bench: &'b Bench, case: &Case, provider: &Provider) -> &'b RedisServer {
    let redis = bench.redis.as_ref().unwrap();
    bench.clock.advance(Duration::from_secs(301));
    let full = async {
        until("the call", async || provider.calls() == 1).await;
        redis.command(&["CONFIG", "SET", "maxmemory", "1"]).await;
        provider.0.permits.add_permits(10);
    };
    let (token, ()) = tokio::join!(case.access(provider), full);
    assert_eq!(token.unwrap(), "new-access");
    redis
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_that_the_store_does_not_take_are_given_from_memory_and_written_when_it_does() {
    let bench = Bench::redis().await;
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0));
    let two = other(&bench, &case, RefreshSettings { wait: Duration::from_millis(300), ..PACE });
    let redis = given_while_the_store_is_full(&bench, &case, &provider).await;
    assert!(case.kept().await.refresh.unwrap().matches("refresh-of-alice"), "the store did not take it");
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
    // The other replica has the used token only, and does not use it.
    assert_eq!(two.access(&provider).await, Err(TokenError::Unavailable));
    redis.command(&["CONFIG", "SET", "maxmemory", "0"]).await;
    until("the new tokens", async || case.kept().await.refresh.unwrap().matches("new-refresh")).await;
    until("the other replica", async || two.access(&provider).await == Ok("new-access".to_owned())).await;
    assert_eq!(provider.calls(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_out_while_tokens_are_in_memory_only_stays_one() {
    let bench = Bench::redis().await;
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0));
    let redis = given_while_the_store_is_full(&bench, &case, &provider).await;
    case.tokens.forget(&acme(), &case.login).await.unwrap();
    redis.command(&["CONFIG", "SET", "maxmemory", "0"]).await;
    until("the end", async || case.access(&provider).await == Err(TokenError::SignInAgain)).await;
    assert!(case.tokens.current(&acme(), &case.login).await.unwrap().is_none());
    assert_eq!(provider.calls(), 1);
}
