//! Access tokens: once for all, never twice, and no sign-out by accident.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::portal::{ring, settings, tokens_of, user};
use crate::gateway::audit::{Audit, Limits};
use crate::gateway::domain::principal::Principal;
use crate::gateway::session::tokens::{Due, Held};
use crate::gateway::session::{
    CheckError, LoginId, Refresh, RefreshError, RefreshSettings, Refreshed, Sessions, Settings, TokenError, TokenParts, TokenSet,
    TokenSource, Tokens,
};
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};
use crate::gateway::store::tests::on_both;
use crate::platform::secret::Secret;

on_both! {
    a_token_that_is_good_for_long_is_given_out_without_a_call
    a_token_that_was_read_a_moment_ago_is_given_again_until_the_service_refuses_it
    a_token_is_refreshed_ahead_of_its_end_and_the_new_one_is_kept
    many_who_wait_share_one_call
    an_old_refresh_token_is_kept_when_no_new_one_comes
    trouble_gives_the_token_that_is_still_good_and_rests_for_a_moment
    trouble_without_a_good_token_is_no_sign_out
    a_refused_refresh_token_ends_the_sign_in
    a_refused_refresh_token_that_a_faster_replica_used_is_no_end
    a_sign_out_during_a_refresh_stays_one
    a_caller_that_goes_away_does_not_lose_the_new_token
    a_forced_refresh_happens_once_for_a_token_and_not_for_an_older_one
    without_a_refresh_token_the_sign_in_lasts_as_long_as_the_access_token
    tokens_open_for_their_tenant_and_sign_in_only
    a_token_of_a_short_life_is_refreshed_in_its_last_tenth
    a_token_that_is_refused_again_right_after_it_was_renewed_is_not_renewed_again
    a_forced_refresh_in_times_of_trouble_is_no_sign_out
    tokens_that_were_written_and_not_checked_are_checked_without_another_grant
    a_provider_that_does_not_say_whose_tokens_are_is_asked_again_and_they_are_good_meanwhile
}

/// A provider that counts, rotates, and waits to be told to answer.
#[derive(Clone)]
pub(super) struct Provider(pub(super) Arc<Inside>);

pub(super) struct Inside {
    calls: AtomicUsize,
    checks: AtomicUsize,
    shown: Mutex<Vec<String>>,
    pub(super) revoked: Mutex<Vec<String>>,
    pub(super) outcome: Mutex<Result<Refreshed, RefreshError>>,
    pub(super) who: Mutex<Result<Principal, CheckError>>,
    pub(super) permits: Semaphore,
}

impl Provider {
    pub(super) fn answers(outcome: Result<Refreshed, RefreshError>) -> Self {
        Self::slow(outcome, Semaphore::MAX_PERMITS)
    }

    pub(super) fn slow(outcome: Result<Refreshed, RefreshError>, permits: usize) -> Self {
        Self(Arc::new(Inside {
            calls: AtomicUsize::new(0),
            checks: AtomicUsize::new(0),
            shown: Mutex::default(),
            revoked: Mutex::default(),
            outcome: Mutex::new(outcome),
            who: Mutex::new(Ok(user(&acme(), "alice"))),
            permits: Semaphore::new(permits),
        }))
    }

    pub(super) fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }

    pub(super) fn checks(&self) -> usize {
        self.0.checks.load(Ordering::SeqCst)
    }
}

impl Refresh for Provider {
    async fn refresh(&self, token: Secret) -> Result<Refreshed, RefreshError> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        self.0.shown.lock().unwrap().push(token.expose().to_owned());
        self.0.permits.acquire().await.unwrap().forget();
        self.0.outcome.lock().unwrap().clone()
    }

    async fn identify(&self, _: Secret, _: Option<Secret>) -> Result<Option<Principal>, CheckError> {
        self.0.checks.fetch_add(1, Ordering::SeqCst);
        self.0.who.lock().unwrap().clone().map(Some)
    }

    async fn revoke(&self, token: Secret) {
        self.0.revoked.lock().unwrap().push(token.expose().to_owned());
    }
}

pub(super) fn new_tokens(refresh: Option<&str>) -> Refreshed {
    Refreshed {
        access: Secret::new("new-access"),
        refresh: refresh.map(Secret::new),
        id_token: None,
        expires_in: Some(Duration::from_mins(5)),
    }
}

/// A signed-in user whose access token is good for 300 s; tokens are refreshed 30 s ahead. Clones are replicas.
pub(super) struct Case {
    pub(super) source: TokenSource,
    pub(super) tokens: Tokens,
    pub(super) sessions: Sessions,
    pub(super) audit: Audit,
    pub(super) login: LoginId,
}

pub(super) const PACE: RefreshSettings = RefreshSettings {
    ahead: Duration::from_mins(1),
    default_lifetime: Duration::from_mins(10),
    lease: Duration::from_secs(20),
    wait: Duration::from_secs(30),
    rest: Duration::from_secs(5),
    refused: Duration::from_secs(30),
    again: Duration::from_secs(30),
};

pub(super) async fn case(bench: &Bench) -> Case {
    let case = replica(bench, LoginId::new().unwrap(), PACE);
    case.tokens.store(&case.login, &user(&acme(), "alice"), &tokens_of("alice")).await.unwrap();
    case
}

/// One replica that knows the sign-in.
pub(super) fn replica(bench: &Bench, login: LoginId, pace: RefreshSettings) -> Case {
    // Most tests write records behind the source's back.
    replica_that_copies(bench, login, pace, Duration::ZERO)
}

fn replica_that_copies(bench: &Bench, login: LoginId, pace: RefreshSettings, copy_life: Duration) -> Case {
    let (store, ring, clock) = (bench.store.clone(), ring(&["k1"]), bench.clock.clone());
    let tokens = Tokens::new(store.clone(), Arc::clone(&ring), Duration::from_hours(8));
    let audit = Audit::new(store.clone(), Arc::clone(&ring), clock.clone(), Limits::PLENTY, &bench.shutdown);
    let settings = Settings { copy_life, ..settings() };
    let sessions = Sessions::new(store, ring, clock, audit.clone(), settings, &bench.shutdown).unwrap();
    let parts =
        TokenParts { tokens: tokens.clone(), sessions: sessions.clone(), audit: audit.clone(), shutdown: bench.shutdown.clone() };
    Case { source: TokenSource::new(parts, pace), tokens, sessions, audit, login }
}

impl Case {
    pub(super) async fn access(&self, provider: &Provider) -> Result<String, TokenError> {
        let token = self.source.access(&acme(), &self.login, provider.clone()).await;
        token.map(|token| token.expose().to_owned())
    }

    pub(super) async fn force(&self, provider: &Provider, used: &str) -> Result<String, TokenError> {
        let token = self.source.force(&acme(), &self.login, &Secret::new(used), provider.clone()).await;
        token.map(|token| token.expose().to_owned())
    }

    pub(super) async fn kept(&self) -> TokenSet {
        self.tokens.current(&acme(), &self.login).await.unwrap().unwrap()
    }

    /// Writes tokens as another replica would that refreshed under a lease with this fence.
    pub(super) async fn put(&self, set: TokenSet, due: Due, fence: u64) {
        let old = self.tokens.read(&acme(), &self.login).await.unwrap().unwrap();
        let held = Held { set, due, fence, ..old.held };
        self.tokens.replace(&acme(), &self.login, old.version, &held).await.unwrap();
    }
}

/// Tokens that came this moment.
pub(super) fn fresh_of(bench: &Bench, name: &str) -> TokenSet {
    let now = bench.clock.now();
    TokenSet { issued_at: now, expires_at: now.after(Duration::from_mins(5)), ..tokens_of(name) }
}

async fn a_token_that_is_good_for_long_is_given_out_without_a_call(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    bench.clock.advance(Duration::from_secs(269));
    assert_eq!(case.access(&provider).await.unwrap(), "access-of-alice");
    assert_eq!(provider.calls(), 0);
}

async fn a_token_is_refreshed_ahead_of_its_end_and_the_new_one_is_kept(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(Some("new-refresh")))));
    bench.clock.advance(Duration::from_secs(271));
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
    assert_eq!(*provider.0.shown.lock().unwrap(), ["refresh-of-alice"]);
    let kept = case.tokens.current(&acme(), &case.login).await.unwrap().unwrap();
    assert_eq!(kept.refresh.unwrap().expose(), "new-refresh");
    assert_eq!(kept.id_token.unwrap().expose(), "id-of-alice");
    assert_eq!(kept.expires_at, bench.clock.now().after(Duration::from_mins(5)));
}

async fn many_who_wait_share_one_call(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0));
    bench.clock.advance(Duration::from_secs(400));
    let mut tasks = JoinSet::new();
    for _ in 0..200 {
        let (source, login, provider) = (case.source.clone(), case.login.clone(), provider.clone());
        tasks.spawn(async move { source.access(&acme(), &login, provider).await.unwrap().expose().to_owned() });
    }
    until("the call", async || provider.calls() == 1).await;
    provider.0.permits.add_permits(1000);
    let tokens = tasks.join_all().await;
    assert!(tokens.len() == 200 && tokens.iter().all(|token| token == "new-access"));
    assert_eq!(provider.calls(), 1);
}

async fn an_old_refresh_token_is_kept_when_no_new_one_comes(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    for _ in 0..3 {
        bench.clock.advance(Duration::from_secs(400));
        assert_eq!(case.access(&provider).await.unwrap(), "new-access");
    }
    assert_eq!(*provider.0.shown.lock().unwrap(), ["refresh-of-alice"; 3]);
}

async fn trouble_gives_the_token_that_is_still_good_and_rests_for_a_moment(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Err(RefreshError::Trouble)));
    bench.clock.advance(Duration::from_secs(280));
    for _ in 0..5 {
        assert_eq!(case.access(&provider).await.unwrap(), "access-of-alice");
    }
    assert_eq!(provider.calls(), 1);
    bench.clock.advance(Duration::from_secs(6));
    *provider.0.outcome.lock().unwrap() = Ok(new_tokens(None));
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
}

async fn trouble_without_a_good_token_is_no_sign_out(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Err(RefreshError::Trouble)));
    bench.clock.advance(Duration::from_secs(301));
    for _ in 0..3 {
        assert_eq!(case.access(&provider).await, Err(TokenError::Unavailable));
    }
    assert_eq!(provider.calls(), 1, "it is left alone for a moment");
    bench.clock.advance(Duration::from_secs(6));
    *provider.0.outcome.lock().unwrap() = Ok(new_tokens(None));
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
}

async fn a_refused_refresh_token_ends_the_sign_in(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Err(RefreshError::Refused)));
    bench.clock.advance(Duration::from_secs(280));
    for _ in 0..3 {
        assert_eq!(case.access(&provider).await, Err(TokenError::SignInAgain));
    }
    assert_eq!(provider.calls(), 1);
    assert!(case.tokens.current(&acme(), &case.login).await.unwrap().is_none());
}

async fn a_refused_refresh_token_that_a_faster_replica_used_is_no_end(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::slow(Err(RefreshError::Refused), 0));
    bench.clock.advance(Duration::from_secs(301));
    let faster = async {
        until("the call", async || provider.calls() == 1).await;
        case.put(fresh_of(&bench, "replica"), Due::Nothing, u64::MAX).await;
        provider.0.permits.add_permits(1);
    };
    let (token, ()) = tokio::join!(case.access(&provider), faster);
    assert_eq!(token.unwrap(), "access-of-replica");
}

async fn a_sign_out_during_a_refresh_stays_one(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0));
    bench.clock.advance(Duration::from_secs(301));
    let leave = async {
        until("the call", async || provider.calls() == 1).await;
        case.tokens.forget(&acme(), &case.login).await.unwrap();
        provider.0.permits.add_permits(1);
    };
    let (token, ()) = tokio::join!(case.access(&provider), leave);
    assert_eq!(token, Err(TokenError::SignInAgain));
    assert!(case.tokens.current(&acme(), &case.login).await.unwrap().is_none());
    until("the token given back", async || *provider.0.revoked.lock().unwrap() == ["new-refresh"]).await;
}

async fn a_caller_that_goes_away_does_not_lose_the_new_token(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0));
    bench.clock.advance(Duration::from_secs(301));
    {
        let gone = case.access(&provider);
        tokio::pin!(gone);
        tokio::select! {
            _ = &mut gone => panic!("it waits for the provider"),
            () = until("the call", async || provider.calls() == 1) => {}
        }
    }
    provider.0.permits.add_permits(1);
    until("the new tokens", async || {
        case.tokens.current(&acme(), &case.login).await.unwrap().unwrap().access.matches("new-access")
    })
    .await;
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
    assert_eq!(provider.calls(), 1);
}

async fn a_forced_refresh_happens_once_for_a_token_and_not_for_an_older_one(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    let used = Secret::new("access-of-alice");
    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        let (source, login, provider, used) = (case.source.clone(), case.login.clone(), provider.clone(), used.clone());
        tasks.spawn(async move { source.force(&acme(), &login, &used, provider).await.unwrap().expose().to_owned() });
    }
    assert!(tasks.join_all().await.iter().all(|token| token == "new-access"));
    assert_eq!(provider.calls(), 1);
    assert_eq!(case.force(&provider, "access-of-alice").await.unwrap(), "new-access");
    assert_eq!(provider.calls(), 1);
}

async fn without_a_refresh_token_the_sign_in_lasts_as_long_as_the_access_token(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    let mut set = tokens_of("alice");
    set.refresh = None;
    case.tokens.store(&case.login, &user(&acme(), "alice"), &set).await.unwrap();
    bench.clock.advance(Duration::from_secs(299));
    assert_eq!(case.access(&provider).await.unwrap(), "access-of-alice");
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(case.access(&provider).await, Err(TokenError::SignInAgain));
    assert_eq!(provider.calls(), 0);
}

async fn tokens_open_for_their_tenant_and_sign_in_only(bench: Bench) {
    let case = case(&bench).await;
    let other = LoginId::new().unwrap();
    assert!(case.tokens.current(&globex(), &case.login).await.unwrap().is_none());
    assert!(case.tokens.current(&acme(), &other).await.unwrap().is_none());
    let key = crate::gateway::session::tokens::key;
    let record = bench.store.get(&key(&acme(), &case.login.public())).await.unwrap().unwrap();
    for (tenant, id) in [(globex(), case.login.public()), (acme(), other.public())] {
        bench.store.put(&key(&tenant, &id), record.value.clone(), None).await.unwrap();
    }
    assert!(case.tokens.current(&globex(), &case.login).await.unwrap().is_none());
    assert!(case.tokens.current(&acme(), &other).await.unwrap().is_none());
}

async fn a_token_of_a_short_life_is_refreshed_in_its_last_tenth(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    let set = fresh_of(&bench, "brief");
    case.put(TokenSet { expires_at: set.issued_at.after(Duration::from_secs(20)), ..set }, Due::Nothing, 1).await;
    bench.clock.advance(Duration::from_secs(17));
    assert_eq!(case.access(&provider).await.unwrap(), "access-of-brief");
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
}

async fn a_token_that_is_refused_again_right_after_it_was_renewed_is_not_renewed_again(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    assert_eq!(case.force(&provider, "access-of-alice").await.unwrap(), "new-access");
    for _ in 0..5 {
        assert_eq!(case.force(&provider, "new-access").await, Err(TokenError::NotBelieved));
    }
    assert_eq!(provider.calls(), 1);
    bench.clock.advance(Duration::from_secs(31));
    provider.0.outcome.lock().unwrap().as_mut().unwrap().access = Secret::new("newer-access");
    assert_eq!(case.force(&provider, "new-access").await.unwrap(), "newer-access");
}

async fn a_forced_refresh_in_times_of_trouble_is_no_sign_out(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Err(RefreshError::Trouble)));
    for _ in 0..3 {
        assert_eq!(case.force(&provider, "access-of-alice").await, Err(TokenError::Unavailable));
    }
    assert_eq!(provider.calls(), 1);
    bench.clock.advance(Duration::from_secs(6));
    *provider.0.outcome.lock().unwrap() = Ok(new_tokens(None));
    assert_eq!(case.force(&provider, "access-of-alice").await.unwrap(), "new-access");
}

async fn a_token_that_was_read_a_moment_ago_is_given_again_until_the_service_refuses_it(bench: Bench) {
    let provider = Provider::answers(Ok(new_tokens(None)));
    let copying = replica_that_copies(&bench, LoginId::new().unwrap(), PACE, Duration::from_hours(1));
    copying.tokens.store(&copying.login, &user(&acme(), "alice"), &tokens_of("alice")).await.unwrap();
    assert_eq!(copying.access(&provider).await.unwrap(), "access-of-alice");
    copying.put(fresh_of(&bench, "other"), Due::Nothing, 1).await;
    assert_eq!(copying.access(&provider).await.unwrap(), "access-of-alice", "the store was not asked");
    assert_eq!(copying.force(&provider, "access-of-alice").await.unwrap(), "access-of-other");
    assert_eq!(copying.access(&provider).await.unwrap(), "access-of-other");
    // A copy near its end is none.
    bench.clock.advance(Duration::from_hours(2));
    assert_eq!(copying.access(&provider).await.unwrap(), "new-access");
}

async fn tokens_that_were_written_and_not_checked_are_checked_without_another_grant(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    case.put(fresh_of(&bench, "crashed"), Due::Access, 1).await;
    assert_eq!(case.access(&provider).await.unwrap(), "access-of-crashed");
    assert_eq!(case.access(&provider).await.unwrap(), "access-of-crashed");
    assert_eq!((provider.calls(), provider.checks()), (0, 1));
    case.put(fresh_of(&bench, "other"), Due::Access, 1).await;
    *provider.0.who.lock().unwrap() = Ok(user(&acme(), "mallory"));
    assert_eq!(case.access(&provider).await, Err(TokenError::SignInAgain));
    assert!(case.tokens.current(&acme(), &case.login).await.unwrap().is_none());
}

async fn a_provider_that_does_not_say_whose_tokens_are_is_asked_again_and_they_are_good_meanwhile(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    *provider.0.who.lock().unwrap() = Err(CheckError::Trouble);
    bench.clock.advance(Duration::from_secs(301));
    for _ in 0..3 {
        assert_eq!(case.access(&provider).await.unwrap(), "new-access");
    }
    assert_eq!((provider.calls(), provider.checks()), (1, 1));
    bench.clock.advance(Duration::from_secs(6));
    *provider.0.who.lock().unwrap() = Ok(user(&acme(), "alice"));
    for _ in 0..3 {
        assert_eq!(case.access(&provider).await.unwrap(), "new-access");
    }
    assert_eq!((provider.calls(), provider.checks()), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_store_is_away_there_is_no_token_and_no_sign_out() {
    let mut bench = Bench::redis().await;
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(Some("new-refresh"))), 0));
    bench.redis.as_ref().unwrap().command(&["SAVE"]).await;
    bench.redis.as_mut().unwrap().kill();
    assert_eq!(case.access(&provider).await, Err(TokenError::Unavailable));
    bench.redis.as_mut().unwrap().resume().await;
    until("the store", async || case.access(&provider).await.is_ok()).await;
    // Away between the grant and the write: the new token is written when the store is back.
    bench.clock.advance(Duration::from_secs(301));
    bench.redis.as_ref().unwrap().command(&["SAVE"]).await;
    let mut server = bench.redis.take().unwrap();
    let cut = async {
        until("the call", async || provider.calls() == 1).await;
        server.kill();
        provider.0.permits.add_permits(1);
        server.resume().await;
    };
    let (token, ()) = tokio::join!(case.access(&provider), cut);
    assert_eq!(token.unwrap(), "new-access");
    until("the new tokens", async || {
        let kept = case.tokens.current(&acme(), &case.login).await;
        kept.is_ok_and(|kept| kept.unwrap().refresh.unwrap().matches("new-refresh"))
    })
    .await;
    assert_eq!(provider.calls(), 1);
}
