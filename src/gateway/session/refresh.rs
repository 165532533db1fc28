//! An access token that is good now. Refreshes ahead of expiry, once for all who wait in this process, and publishes by
//! compare-and-set, so that a replica which was faster wins and a sign-out stays one.
//!
//! Two rules above all: trouble at the provider never signs anybody out, and a refresh that was sent is finished and
//! written even when everybody who waited for it has gone, because the provider may have taken the old token back.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::oneshot;

use super::login::LoginId;
use super::tokens::{Current, TokenSet, Tokens};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Swap;
use crate::platform::clock::{Clock, Timestamp};
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

/// Why the provider gave no new token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum RefreshError {
    /// `invalid_grant`: this refresh token is used up, expired or revoked.
    #[error("the identity provider refused the refresh token")]
    Refused,
    /// Everything else: no connection, a timeout, an error of the provider, an answer that makes no sense.
    #[error("the identity provider did not answer")]
    Trouble,
}

/// Sends a refresh token to the provider of a tenant.
pub(in crate::gateway) trait Refresh: Send + Sync + 'static {
    /// One grant, with its own timeout; not repeated by whoever implements it.
    fn refresh(&self, token: Secret) -> impl Future<Output = Result<Refreshed, RefreshError>> + Send;
}

/// Why there is no access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum TokenError {
    /// The sign-in is over; only the user can help.
    #[error("the sign-in is over")]
    SignInAgain,
    /// The store or the provider does not answer. Nobody is signed out; asking again later may help.
    #[error("no access token at the moment")]
    Unavailable,
}

/// When tokens are refreshed.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct RefreshSettings {
    /// This long before they expire, or a tenth of their lifetime when that is shorter.
    pub(in crate::gateway) ahead: Duration,
    /// Lifetime when the provider does not tell.
    pub(in crate::gateway) default_lifetime: Duration,
}

/// After trouble at the provider a token that is still good is used for this long before it is asked again.
const COOL_DOWN: Duration = Duration::from_secs(5);
/// Tries to write what the provider gave, and the wait between them.
const WRITES: u32 = 20;
const WRITE_AGAIN: Duration = Duration::from_millis(250);

type Outcome = Result<Secret, TokenError>;
type Flight = Shared<BoxFuture<'static, Outcome>>;

/// Gives out access tokens. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct TokenSource(Arc<Inner>);

struct Inner {
    tokens: Tokens,
    clock: Clock,
    settings: RefreshSettings,
    shutdown: Shutdown,
    desk: Mutex<Desk>,
}

/// Refreshes in the air and providers to be left alone for a moment, by sign-in.
#[derive(Default)]
struct Desk {
    flights: HashMap<LoginId, Flight>,
    resting: HashMap<LoginId, Timestamp>,
}

impl TokenSource {
    /// A source over the token records.
    pub(in crate::gateway) fn new(tokens: Tokens, clock: Clock, settings: RefreshSettings, shutdown: Shutdown) -> Self {
        Self(Arc::new(Inner { tokens, clock, settings, shutdown, desk: Mutex::default() }))
    }

    /// An access token that is good for now.
    pub(in crate::gateway) async fn access(&self, tenant: &TenantId, login: &LoginId, refresher: impl Refresh) -> Outcome {
        let current = self.current(tenant, login).await?;
        let now = self.0.clock.now();
        if self.is_fresh(&current.set, now) || (current.set.expires_at > now && self.is_resting(login, now)) {
            return Ok(current.set.access);
        }
        self.join(tenant, login, current.set.access, refresher).await
    }

    /// Another token after the service refused `used` with 401: the one that somebody got meanwhile, or a new one.
    pub(in crate::gateway) async fn force(
        &self,
        tenant: &TenantId,
        login: &LoginId,
        used: &Secret,
        refresher: impl Refresh,
    ) -> Outcome {
        let current = self.current(tenant, login).await?;
        if !current.set.access.matches(used.expose()) {
            return Ok(current.set.access);
        }
        self.join(tenant, login, current.set.access, refresher).await
    }

    /// Joins the refresh that is in the air for this sign-in, or starts one. `seen` is the token to be replaced.
    async fn join(&self, tenant: &TenantId, login: &LoginId, seen: Secret, refresher: impl Refresh) -> Outcome {
        let flight = {
            let mut desk = self.0.desk.lock().unwrap_or_else(PoisonError::into_inner);
            desk.flights.get(login).cloned().unwrap_or_else(|| {
                let (reply, wait) = oneshot::channel();
                let flight = wait.map(|outcome| outcome.unwrap_or(Err(TokenError::Unavailable))).boxed().shared();
                desk.flights.insert(login.clone(), flight.clone());
                let (source, tenant, login) = (self.clone(), tenant.clone(), login.clone());
                self.0.shutdown.spawn(async move {
                    let landing = Landing { source: source.clone(), login: login.clone() };
                    let outcome = source.fly(&tenant, &login, &seen, refresher).await;
                    drop(landing);
                    let _ = reply.send(outcome);
                });
                flight
            })
        };
        flight.await
    }

    /// The refresh itself. Everything is read again first: another replica may have been faster.
    async fn fly(&self, tenant: &TenantId, login: &LoginId, seen: &Secret, refresher: impl Refresh) -> Outcome {
        let current = self.current(tenant, login).await?;
        let now = self.0.clock.now();
        if !current.set.access.matches(seen.expose()) && self.is_fresh(&current.set, now) {
            return Ok(current.set.access);
        }
        let Some(token) = current.set.refresh.clone() else {
            let good = current.set.expires_at > now;
            return if good { Ok(current.set.access) } else { Err(TokenError::SignInAgain) };
        };
        match refresher.refresh(token).await {
            Ok(new) => self.publish(tenant, login, current, new).await,
            Err(RefreshError::Trouble) => self.make_do(login, current.set),
            Err(RefreshError::Refused) => self.give_up(tenant, login, &current).await,
        }
    }

    async fn publish(&self, tenant: &TenantId, login: &LoginId, old: Current, new: Refreshed) -> Outcome {
        let lifetime = new.expires_in.unwrap_or(self.0.settings.default_lifetime);
        let set = TokenSet {
            access: new.access,
            refresh: new.refresh.or(old.set.refresh),
            id_token: new.id_token.or(old.set.id_token),
            expires_at: self.0.clock.now().after(lifetime),
        };
        for _ in 0..WRITES {
            match self.0.tokens.replace(tenant, login, old.version, &set).await {
                Ok(Swap::Done(_)) => return Ok(set.access),
                Ok(Swap::Gone) => return Err(TokenError::SignInAgain),
                // Either another replica's refresh, or our own write whose answer was lost.
                Ok(Swap::Conflict) => return self.current(tenant, login).await.map(|current| current.set.access),
                Err(error) => tracing::warn!(%tenant, %error, "refreshed tokens are not written yet; trying again"),
            }
            tokio::time::sleep(WRITE_AGAIN).await;
        }
        tracing::error!(%tenant, "refreshed tokens could not be written; the user may have to sign in again");
        Ok(set.access)
    }

    /// The provider has trouble: the old token while it is good.
    fn make_do(&self, login: &LoginId, set: TokenSet) -> Outcome {
        let now = self.0.clock.now();
        let mut desk = self.0.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.resting.retain(|_, until| *until > now);
        desk.resting.insert(login.clone(), now.after(COOL_DOWN));
        if set.expires_at > now { Ok(set.access) } else { Err(TokenError::Unavailable) }
    }

    /// The refresh token was refused: because another replica used it first, or because the sign-in is over.
    async fn give_up(&self, tenant: &TenantId, login: &LoginId, old: &Current) -> Outcome {
        let newest = self.current(tenant, login).await?;
        if newest.version != old.version {
            return Ok(newest.set.access);
        }
        self.0.tokens.forget(tenant, login).await.map_err(|_| TokenError::Unavailable)?;
        Err(TokenError::SignInAgain)
    }

    async fn current(&self, tenant: &TenantId, login: &LoginId) -> Result<Current, TokenError> {
        match self.0.tokens.read(tenant, login).await {
            Ok(Some(current)) => Ok(current),
            Ok(None) => Err(TokenError::SignInAgain),
            Err(error) => {
                tracing::warn!(%tenant, %error, "tokens cannot be read");
                Err(TokenError::Unavailable)
            }
        }
    }

    fn is_fresh(&self, set: &TokenSet, now: Timestamp) -> bool {
        set.expires_at.since(now) > self.0.settings.ahead
    }

    fn is_resting(&self, login: &LoginId, now: Timestamp) -> bool {
        let desk = self.0.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.resting.get(login).is_some_and(|until| *until > now)
    }
}

/// Clears the way for the next refresh of a sign-in, however this one ended.
struct Landing {
    source: TokenSource,
    login: LoginId,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut desk = self.source.0.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.flights.remove(&self.login);
    }
}
