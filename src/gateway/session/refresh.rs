//! An access token that is good now. Refreshes ahead of expiry, once for all who wait on all replicas ([`flight`](super::flight)
//! does the refresh itself), and gives what is left when that takes too long.
//!
//! Two rules above all: trouble at the provider never signs anybody out, and a refresh that was sent is finished and
//! written even when everybody who waited for it has gone, because the provider may have taken the old token back.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use moka::sync::Cache;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Sessions;
use super::flight::{Flight, Goal};
use super::login::LoginId;
pub(in crate::gateway) use super::no_token::{CheckError, RefreshError, TokenError};
use super::tokens::{Current, Due, Held, TokenSet, Tokens};
use crate::gateway::audit::Audit;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::tenant::TenantId;
use crate::platform::clock::Timestamp;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// What the provider answered to a refresh.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Refreshed {
    pub(in crate::gateway) access: Secret,
    /// None keeps the old one.
    pub(in crate::gateway) refresh: Option<Secret>,
    /// None keeps the old one.
    pub(in crate::gateway) id_token: Option<Secret>,
    /// None takes the default lifetime.
    pub(in crate::gateway) expires_in: Option<Duration>,
}

/// Speaks with the provider of a tenant. Cheap to clone.
pub(in crate::gateway) trait Refresh: Clone + Send + Sync + 'static {
    /// One grant, with its own timeout; not repeated by whoever implements it.
    fn refresh(&self, token: Secret) -> impl Future<Output = Result<Refreshed, RefreshError>> + Send;

    /// Whose this access token is, by its claims now; with the id token when one came with it. `None` when the provider has
    /// no way of telling.
    fn identify(
        &self,
        access: Secret,
        id_token: Option<Secret>,
    ) -> impl Future<Output = Result<Option<Principal>, CheckError>> + Send;

    /// Gives a refresh token back that nobody will use. What becomes of it is not waited for.
    fn revoke(&self, token: Secret) -> impl Future<Output = ()> + Send;
}

/// When and how tokens are refreshed.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct RefreshSettings {
    /// This long before they expire, or a tenth of their lifetime when that is shorter.
    pub(in crate::gateway) ahead: Duration,
    /// Lifetime when the provider does not tell.
    pub(in crate::gateway) default_lifetime: Duration,
    /// The one that refreshes is left alone for this long without a sign of life. Longer than a call to the provider may take.
    pub(in crate::gateway) lease: Duration,
    /// A request waits for a refresh for this long.
    pub(in crate::gateway) wait: Duration,
    /// After trouble the provider is not asked again for this long.
    pub(in crate::gateway) rest: Duration,
    /// A refused refresh token is not sent again for this long.
    pub(in crate::gateway) refused: Duration,
    /// After the service refused a token and it was renewed, a further refusal renews nothing for this long.
    pub(in crate::gateway) again: Duration,
}

/// Parts of a refresh that other rooms own.
#[derive(Clone)]
pub(in crate::gateway) struct TokenParts {
    pub(in crate::gateway) tokens: Tokens,
    pub(in crate::gateway) sessions: Sessions,
    pub(in crate::gateway) audit: Audit,
    pub(in crate::gateway) shutdown: Shutdown,
}

type Outcome = Result<Secret, TokenError>;
pub(super) type Landed = Result<Given, TokenError>;
type Waiting = Shared<BoxFuture<'static, Landed>>;

/// A token and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) access: Secret,
    pub(super) how: How,
}

/// The `outcome` of `cardea_refresh_total` for a token that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The provider gave it now.
    Single,
    /// Another request or replica got it while this one waited.
    Shared,
    /// It was there already when this one's turn came.
    Reread,
    /// The old one, which is good for a while yet.
    Fallback,
    /// The old one, and there is no refresh token: the last of its sign-in.
    Last,
}

/// Counts how a refresh ended.
pub(super) fn count(outcome: &'static str) {
    metrics::counter!("cardea_refresh_total", "outcome" => outcome).increment(1);
}

impl How {
    const fn outcome(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Shared => "shared",
            Self::Reread => "reread",
            Self::Fallback | Self::Last => "fallback",
        }
    }
}

/// Gives out access tokens. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct TokenSource(Arc<Inner>);

pub(super) struct Inner {
    pub(super) parts: TokenParts,
    pub(super) settings: RefreshSettings,
    desk: Mutex<Desk>,
    /// Tokens as they were read a moment ago. Whoever asks has a session that lives; after a refusal the store is asked.
    copies: Cache<LoginId, Arc<Held>>,
}

/// What this process has in hand, by sign-in.
#[derive(Default)]
struct Desk {
    /// Refreshes in the air.
    flights: HashMap<LoginId, Waiting>,
    /// Until when the provider is left alone.
    resting: HashMap<LoginId, Timestamp>,
    /// Tokens that the provider gave and the store has not taken yet.
    unwritten: HashMap<LoginId, Held>,
}

impl TokenSource {
    /// A source over the token records.
    pub(in crate::gateway) fn new(parts: TokenParts, settings: RefreshSettings) -> Self {
        let (life, most) = (parts.sessions.0.settings.copy_life, parts.sessions.0.settings.copies);
        let most = if life.is_zero() { 0 } else { most };
        let copies = Cache::builder().max_capacity(most).time_to_live(life.max(Duration::from_millis(1))).build();
        Self(Arc::new(Inner { parts, settings, desk: Mutex::default(), copies }))
    }

    /// An access token that is good for now.
    pub(in crate::gateway) async fn access(&self, tenant: &TenantId, login: &LoginId, refresher: impl Refresh) -> Outcome {
        if let Some(held) = self.0.copies.get(login).filter(|held| self.0.is_good(held)) {
            return Ok(held.set.access.clone());
        }
        // In a box: who finds a copy does not carry the room for this.
        Box::pin(self.read_or_refreshed(tenant, login, refresher)).await
    }

    async fn read_or_refreshed(&self, tenant: &TenantId, login: &LoginId, refresher: impl Refresh) -> Outcome {
        let held = self.0.held(tenant, login).await?;
        if self.0.is_good(&held) {
            let access = held.set.access.clone();
            self.0.copies.insert(login.clone(), Arc::new(held));
            return Ok(access);
        }
        if self.0.is_resting(login) {
            // The provider is not to be asked by everybody who comes while it is in trouble.
            return self.0.what_is_left(&held.set);
        }
        match self.join(tenant, login, Goal::Fresh, refresher).await {
            Some(landed) => landed.map(|given| given.access),
            // The new ones may be there, and only the check of whose they are takes long.
            None => self.0.what_is_left(&self.0.held(tenant, login).await?.set),
        }
    }

    /// Makes sure that what is known of the user is what the provider said for a token that is good now: refreshes as
    /// [`TokenSource::access`] does. A token of which nobody could tell yet whose it is vouches for nothing.
    pub(in crate::gateway) async fn vouch(
        &self,
        tenant: &TenantId,
        login: &LoginId,
        refresher: impl Refresh,
    ) -> Result<(), TokenError> {
        // An old token is given only while it is good.
        self.access(tenant, login, refresher).await?;
        let is_checked = self.0.held(tenant, login).await?.due == Due::Nothing;
        if is_checked { Ok(()) } else { Err(TokenError::Unavailable) }
    }

    /// Another token after the service refused `used` with 401: the one that somebody got meanwhile, or a new one. Never
    /// `used` itself.
    pub(in crate::gateway) async fn force(
        &self,
        tenant: &TenantId,
        login: &LoginId,
        used: &Secret,
        refresher: impl Refresh,
    ) -> Outcome {
        self.0.copies.invalidate(login);
        // A second round for those who joined a refresh that was not made for them.
        for _ in 0..2 {
            let held = self.0.held(tenant, login).await?;
            let resting = self.0.is_resting(login);
            let is_other = !held.set.access.matches(used.expose());
            if is_other && self.0.is_alive(&held.set) && (held.due == Due::Nothing || resting) {
                return Ok(held.set.access);
            }
            if resting {
                return Err(TokenError::Unavailable);
            }
            let now = self.0.now();
            if !is_other && held.forced_at.is_some_and(|at| now.since(at) < self.0.settings.again) {
                return Err(TokenError::NotBelieved);
            }
            let landed = self.join(tenant, login, Goal::Other(used.clone()), refresher.clone()).await;
            let given = landed.unwrap_or(Err(TokenError::Unavailable))?;
            match given.how {
                _ if !given.access.matches(used.expose()) => return Ok(given.access),
                How::Last => return Err(TokenError::SignInAgain),
                How::Fallback => return Err(TokenError::Unavailable),
                How::Single | How::Shared | How::Reread => {}
            }
        }
        Err(TokenError::Unavailable)
    }

    /// Joins the refresh that is in the air for this sign-in, or starts one. `None` when it takes longer than a request waits;
    /// it goes on without this one.
    async fn join(&self, tenant: &TenantId, login: &LoginId, goal: Goal, refresher: impl Refresh) -> Option<Landed> {
        let began = Instant::now();
        let (flight, joined) = {
            let mut desk = self.0.desk();
            if let Some(flight) = desk.flights.get(login) {
                (flight.clone(), true)
            } else {
                let (reply, wait) = oneshot::channel();
                let flight = wait.map(|landed| landed.unwrap_or(Err(TokenError::Unavailable))).boxed().shared();
                desk.flights.insert(login.clone(), flight.clone());
                let (source, tenant, login) = (Arc::clone(&self.0), tenant.clone(), login.clone());
                self.0.parts.shutdown.spawn(async move {
                    let runway = Runway { source: Arc::clone(&source), login: login.clone() };
                    let landed = Flight { source, tenant, login, goal, refresher }.fly().await;
                    if let Ok(given) = &landed {
                        count(given.how.outcome());
                    }
                    drop(runway);
                    let _ = reply.send(landed);
                });
                (flight, false)
            }
        };
        let landed = tokio::time::timeout(self.0.settings.wait, flight).await.ok();
        metrics::histogram!("cardea_refresh_wait_seconds").record(began.elapsed());
        if joined && matches!(landed, Some(Ok(_))) {
            count(How::Shared.outcome());
        }
        landed
    }
}

impl Inner {
    /// The tokens as they are: those that are only in memory yet first.
    async fn held(&self, tenant: &TenantId, login: &LoginId) -> Result<Held, TokenError> {
        let unwritten = self.desk().unwritten.get(login).filter(|held| self.is_alive(&held.set)).cloned();
        match unwritten {
            Some(held) => Ok(held),
            None => self.current(tenant, login).await.map(|current| current.held),
        }
    }

    /// The tokens as they are stored.
    pub(super) async fn current(&self, tenant: &TenantId, login: &LoginId) -> Result<Current, TokenError> {
        match self.parts.tokens.read(tenant, login).await {
            Ok(Some(current)) => Ok(current),
            Ok(None) => Err(TokenError::SignInAgain),
            Err(error) => {
                tracing::warn!(%tenant, %error, "tokens cannot be read");
                Err(TokenError::Unavailable)
            }
        }
    }

    /// Leaves the provider alone for a moment.
    pub(super) fn rest(&self, login: &LoginId) {
        let now = self.now();
        let mut desk = self.desk();
        desk.resting.retain(|_, until| *until > now);
        desk.resting.insert(login.clone(), now.after(self.settings.rest));
    }

    /// The provider has trouble: leaves it alone for a moment; the old token while it is good.
    pub(super) fn make_do(&self, login: &LoginId, set: &TokenSet) -> Landed {
        self.rest(login);
        self.left(set)
    }

    /// No new token: the old one while it is good.
    pub(super) fn left(&self, set: &TokenSet) -> Landed {
        if self.is_alive(set) {
            return Ok(Given { access: set.access.clone(), how: How::Fallback });
        }
        count("failed");
        Err(TokenError::Unavailable)
    }

    fn what_is_left(&self, set: &TokenSet) -> Outcome {
        let given = self.left(set)?;
        count(given.how.outcome());
        Ok(given.access)
    }

    /// Whether the token need not be refreshed yet, and is known to be the user's.
    pub(super) fn is_good(&self, held: &Held) -> bool {
        let set = &held.set;
        let ahead = self.settings.ahead.min(set.expires_at.since(set.issued_at) / 10);
        held.due == Due::Nothing && set.expires_at.since(self.now()) > ahead
    }

    pub(super) fn is_alive(&self, set: &TokenSet) -> bool {
        set.expires_at > self.now()
    }

    fn is_resting(&self, login: &LoginId) -> bool {
        let now = self.now();
        self.desk().resting.get(login).is_some_and(|until| *until > now)
    }

    /// Keeps tokens in memory that the store does not take; `None` when it has them.
    pub(super) fn keep(&self, login: &LoginId, held: Option<Held>) {
        let mut desk = self.desk();
        match held {
            Some(held) => desk.unwritten.insert(login.clone(), held),
            None => desk.unwritten.remove(login),
        };
    }

    pub(super) fn now(&self) -> Timestamp {
        self.parts.sessions.0.clock.now()
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Clears the way for the next refresh of a sign-in, however this one ended.
struct Runway {
    source: Arc<Inner>,
    login: LoginId,
}

impl Drop for Runway {
    fn drop(&mut self) {
        self.source.desk().flights.remove(&self.login);
    }
}
