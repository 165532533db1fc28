//! Access tokens: once for all, never twice, and no sign-out by accident.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::portal::{ring, tokens_of};
use crate::gateway::session::{LoginId, Refresh, RefreshError, RefreshSettings, Refreshed, TokenError, TokenSource, Tokens};
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};
use crate::gateway::store::tests::on_both;
use crate::platform::secret::Secret;

on_both! {
    a_token_that_is_good_for_long_is_given_out_without_a_call
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
}

/// A provider that counts, rotates, and waits to be told to answer.
#[derive(Clone)]
struct Provider(Arc<Inside>);

struct Inside {
    calls: AtomicUsize,
    shown: Mutex<Vec<String>>,
    outcome: Mutex<Result<Refreshed, RefreshError>>,
    permits: Semaphore,
}

impl Provider {
    fn answers(outcome: Result<Refreshed, RefreshError>) -> Self {
        Self::slow(outcome, Semaphore::MAX_PERMITS)
    }

    fn slow(outcome: Result<Refreshed, RefreshError>, permits: usize) -> Self {
        let permits = Semaphore::new(permits);
        Self(Arc::new(Inside { calls: AtomicUsize::new(0), shown: Mutex::default(), outcome: Mutex::new(outcome), permits }))
    }

    fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }
}

impl Refresh for Provider {
    async fn refresh(&self, token: Secret) -> Result<Refreshed, RefreshError> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        self.0.shown.lock().unwrap().push(token.expose().to_owned());
        self.0.permits.acquire().await.unwrap().forget();
        self.0.outcome.lock().unwrap().clone()
    }
}

fn new_tokens(refresh: Option<&str>) -> Refreshed {
    Refreshed {
        access: Secret::new("new-access"),
        refresh: refresh.map(Secret::new),
        id_token: None,
        expires_in: Some(Duration::from_mins(5)),
    }
}

/// A signed-in user whose access token is good for 300 s; tokens are refreshed 60 s ahead.
struct Case {
    source: TokenSource,
    tokens: Tokens,
    login: LoginId,
}

async fn case(bench: &Bench) -> Case {
    let tokens = Tokens::new(bench.store.clone(), ring(&["k1"]), Duration::from_hours(8));
    let login = LoginId::new().unwrap();
    tokens.store(&acme(), &login, &tokens_of("alice")).await.unwrap();
    let settings = RefreshSettings { ahead: Duration::from_mins(1), default_lifetime: Duration::from_mins(10) };
    Case { source: TokenSource::new(tokens.clone(), bench.clock.clone(), settings, bench.shutdown.clone()), tokens, login }
}

impl Case {
    async fn access(&self, provider: &Provider) -> Result<String, TokenError> {
        let token = self.source.access(&acme(), &self.login, provider.clone()).await;
        token.map(|token| token.expose().to_owned())
    }
}

async fn a_token_that_is_good_for_long_is_given_out_without_a_call(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    bench.clock.advance(Duration::from_secs(239));
    assert_eq!(case.access(&provider).await.unwrap(), "access-of-alice");
    assert_eq!(provider.calls(), 0);
}

async fn a_token_is_refreshed_ahead_of_its_end_and_the_new_one_is_kept(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(Some("new-refresh")))));
    bench.clock.advance(Duration::from_secs(241));
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
    bench.clock.advance(Duration::from_secs(250));
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
    *provider.0.outcome.lock().unwrap() = Ok(new_tokens(None));
    assert_eq!(case.access(&provider).await.unwrap(), "new-access");
}

async fn a_refused_refresh_token_ends_the_sign_in(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Err(RefreshError::Refused)));
    bench.clock.advance(Duration::from_secs(250));
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
        let mut set = tokens_of("replica");
        set.expires_at = bench.clock.now().after(Duration::from_mins(5));
        case.tokens.store(&acme(), &case.login, &set).await.unwrap();
        provider.0.permits.add_permits(1);
    };
    let (token, ()) = tokio::join!(case.access(&provider), faster);
    assert_eq!(token.unwrap(), "access-of-replica");
    // The same when its own grant succeeded: what was written first is what counts.
    bench.clock.advance(Duration::from_secs(301));
    *provider.0.outcome.lock().unwrap() = Ok(new_tokens(None));
    let faster = async {
        until("the call", async || provider.calls() == 2).await;
        let mut set = tokens_of("winner");
        set.expires_at = bench.clock.now().after(Duration::from_mins(5));
        case.tokens.store(&acme(), &case.login, &set).await.unwrap();
        provider.0.permits.add_permits(1);
    };
    let (token, ()) = tokio::join!(case.access(&provider), faster);
    assert_eq!(token.unwrap(), "access-of-winner");
}

async fn a_sign_out_during_a_refresh_stays_one(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::slow(Ok(new_tokens(None)), 0));
    bench.clock.advance(Duration::from_secs(301));
    let leave = async {
        until("the call", async || provider.calls() == 1).await;
        case.tokens.forget(&acme(), &case.login).await.unwrap();
        provider.0.permits.add_permits(1);
    };
    let (token, ()) = tokio::join!(case.access(&provider), leave);
    assert_eq!(token, Err(TokenError::SignInAgain));
    assert!(case.tokens.current(&acme(), &case.login).await.unwrap().is_none());
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
    let again = case.source.force(&acme(), &case.login, &used, provider.clone()).await.unwrap();
    assert_eq!((again.expose(), provider.calls()), ("new-access", 1));
}

async fn without_a_refresh_token_the_sign_in_lasts_as_long_as_the_access_token(bench: Bench) {
    let (case, provider) = (case(&bench).await, Provider::answers(Ok(new_tokens(None))));
    let mut set = tokens_of("alice");
    set.refresh = None;
    case.tokens.store(&acme(), &case.login, &set).await.unwrap();
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
    let kept = case.tokens.current(&acme(), &case.login).await.unwrap().unwrap();
    assert_eq!(kept.refresh.unwrap().expose(), "new-refresh");
}
