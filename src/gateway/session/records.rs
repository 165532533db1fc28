//! The session store behind actix-session. The cookie's handle names its tenant, followed by 256 random bits; the record's
//! name is the hash of these, and its key is derived from the ring and from them, so that neither a copy of the store nor
//! the ring alone opens it. The cookie is signed, so the tenant it names is true: a cookie on the host of another tenant is
//! told at once, also when its session is long gone.
//!
//! Loading has three outcomes. An update never creates a record: when the session ended or changed meanwhile, nothing is
//! written. A deletion leaves a tombstone.

use std::sync::Arc;

use actix_session::storage::{LoadError, SaveError, SessionKey, SessionStore, UpdateError};
use actix_web::cookie::time::Duration as CookieDuration;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Parts;
use super::copies::Copy;
use super::ending::tombstone;
use super::login::{Entry, Moved};
use super::portal::{self, SignedIn, State};
use super::scope::{Fate, Leave, Loaded, Scope};
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Swap, Unavailable};
use crate::platform::clock::Timestamp;
use crate::platform::random;

const PURPOSE: &str = "session";
/// Length of the secret part of a handle in characters.
const HANDLE: usize = 43;

/// The store of one middleware.
#[derive(Clone)]
pub(in crate::gateway) struct Records(pub(super) Arc<Parts>);

/// State of a session, and who is signed in there.
pub(super) type Found = (Arc<State>, Option<Arc<SignedIn>>);

/// A session at rest, before sealing.
#[derive(Serialize, Deserialize)]
struct Sealed {
    started_at: Timestamp,
    state: State,
}

impl SessionStore for Records {
    async fn load(&self, handle: &SessionKey) -> Result<Option<State>, LoadError> {
        let Some(scope) = Scope::current() else { return Ok(None) };
        // No error: actix-session would drop the request with it, and the answer could not become a page any more.
        Ok(self.find(&scope, handle.as_ref()).await.unwrap_or_else(|error| {
            unavailable(&error);
            None
        }))
    }

    async fn save(&self, state: State, _: &CookieDuration) -> Result<SessionKey, SaveError> {
        // As above. The name is nobody's, and the layer takes the answer back with its cookie.
        let handle = self.create(state).await.unwrap_or_else(|error| {
            unavailable(&error);
            "none".to_owned()
        });
        SessionKey::try_from(handle).map_err(|error| SaveError::Other(error.into()))
    }

    async fn update(&self, handle: SessionKey, state: State, _: &CookieDuration) -> Result<SessionKey, UpdateError> {
        if let Some(scope) = Scope::current() {
            match self.change(&scope, handle.as_ref(), state).await {
                Ok(Swap::Done(version)) => {
                    if let Some(loaded) = scope.loaded.borrow_mut().as_mut() {
                        loaded.version = version;
                    }
                }
                Ok(Swap::Conflict | Swap::Gone) => {
                    scope.fate.set(Fate::NotWritten);
                    self.count_blocked(&scope).await;
                }
                // The work of the request is done by now; its answer must not turn into an error for this.
                Err(error) => {
                    tracing::warn!(%error, "a change of a session was not kept");
                    scope.fate.set(Fate::NotWritten);
                }
            }
        }
        Ok(handle)
    }

    async fn update_ttl(&self, _: &SessionKey, _: &CookieDuration) -> Result<(), anyhow::Error> {
        if let Some(scope) = Scope::current() {
            self.extend(&scope).await;
        }
        Ok(())
    }

    async fn delete(&self, handle: &SessionKey) -> Result<(), anyhow::Error> {
        let Some(scope) = Scope::current() else { return Ok(()) };
        let Some((tenant, secret)) = scope.tenant.as_ref().zip(secret(handle.as_ref())) else { return Ok(()) };
        let key = Key::hashed(tenant, PURPOSE, secret);
        if let Err(error) = self.leave(&scope, &key).await {
            unavailable(&error);
        }
        Ok(())
    }
}

/// Notes that the store did not answer where an answer was needed; the layer answers with that.
fn unavailable(error: &Unavailable) {
    tracing::warn!(%error, "sessions cannot be read or written");
    if let Some(scope) = Scope::current() {
        scope.fate.set(Fate::Unavailable);
    }
}

impl Records {
    async fn find(&self, scope: &Scope, handle: &str) -> Result<Option<State>, Unavailable> {
        Ok(self.look(scope, handle).await?.map(|(state, _)| State::clone(&state)))
    }

    /// The session that a handle leads to, and who is signed in there.
    pub(super) async fn look(&self, scope: &Scope, handle: &str) -> Result<Option<Found>, Unavailable> {
        let Some(key) = scope.tenant.as_ref().and_then(|tenant| Self::key(tenant, handle)) else { return Ok(None) };
        self.look_at(scope, handle, key).await
    }

    /// The record that a handle names on the host of `tenant`.
    pub(super) fn key(tenant: &TenantId, handle: &str) -> Option<Key> {
        secret(handle).map(|secret| Key::hashed(tenant, PURPOSE, secret))
    }

    /// [`Records::look`] by somebody who knows [`Records::key`] already.
    pub(super) async fn look_at(&self, scope: &Scope, handle: &str, key: Key) -> Result<Option<Found>, Unavailable> {
        let Some((tenant, secret)) = scope.tenant.as_ref().zip(secret(handle)) else { return Ok(None) };
        if handle.strip_suffix(secret).and_then(|start| start.strip_suffix('.')) != Some(tenant.as_str()) {
            Box::pin(self.0.mismatch(scope, tenant, key)).await;
            return Ok(None);
        }
        let now = self.0.clock.now();
        let copy = match self.0.copies.get(&key).await.filter(|copy| copy.runs_out > now) {
            Some(copy) => copy,
            None => match Box::pin(self.read(scope, &key, secret)).await? {
                Some(copy) => copy,
                None => return Ok(None),
            },
        };
        if self.0.lifetime(copy.started_at).is_none() {
            return Ok(None);
        }
        let (left, is_due) = (copy.runs_out.since(now), self.0.is_due(&copy));
        let Copy { state, user, version, started_at, owner, is_outgrown, .. } = copy;
        scope.is_outgrown.set(is_outgrown);
        scope.loaded.replace(Some(Loaded { key, version, started_at, owner, left, is_due }));
        Ok(Some((state, user)))
    }

    /// Reads a session from the store and keeps a copy.
    async fn read(&self, scope: &Scope, key: &Key, secret: &str) -> Result<Option<Copy>, Unavailable> {
        let moment = self.0.copies.moment();
        let Some(record) = self.0.store.get(key).await? else { return Ok(None) };
        if let Some(ending) = tombstone(&record.value) {
            scope.ended.set(Some(ending));
            return Ok(None);
        }
        let Ok(plain) = self.0.ring.open(PURPOSE, &key.context(), secret.as_bytes(), &record.value) else {
            tracing::warn!(tenant = %key.tenant(), "a session record does not open; its sealing key may be gone");
            return Ok(None);
        };
        let renewed = self.0.ring.renew(PURPOSE, &key.context(), secret.as_bytes(), (&record.value, &plain));
        self.0.store.rewrap(key, record.version, renewed).await;
        let Ok(Sealed { started_at, state }) = serde_json::from_slice(&plain) else { return Ok(None) };
        let role = |state: &State| portal::who(state).map(|(principal, _)| principal.role);
        let given_for = role(&state);
        let state = self.0.as_it_stands(key.tenant(), state).await?;
        let is_outgrown = role(&state) != given_for;
        let runs_out = self.0.clock.now().after(record.expires_in.unwrap_or_default());
        let (owner, user) = (portal::owner(&state).map(Arc::new), portal::signed_in(&state).map(Arc::new));
        let state = Arc::new(state);
        let copy =
            Copy { read_at: moment.read_at, state, user, is_outgrown, version: record.version, started_at, owner, runs_out };
        self.0.copies.keep(&moment, key, copy.clone()).await;
        Ok(Some(copy))
    }

    async fn create(&self, state: State) -> Result<String, Unavailable> {
        let without = || Unavailable("the request belongs to no tenant".to_owned());
        let scope = Scope::current().ok_or_else(without)?;
        let tenant = scope.tenant.as_ref().ok_or_else(without)?;
        let secret = random::token().map_err(|error| Unavailable(error.to_string()))?;
        let key = Key::hashed(tenant, PURPOSE, &secret);
        let started_at = portal::started_at(&state).unwrap_or_else(|| self.0.clock.now());
        let over = || Unavailable("the session is over".to_owned());
        let ttl = self.0.lifetime(started_at).ok_or_else(over)?;
        let (who, old) = (portal::who(&state), scope.moving.take());
        if let (Some((principal, login)), None) = (&who, &old) {
            self.0.enter(tenant, &login.public(), &Entry::new(&key, principal, started_at, (&scope.visit, scope.now))).await?;
        }
        let sealed = self.seal(&key, &secret, &Sealed { started_at, state })?;
        if self.0.store.insert(&key, sealed, Some(ttl)).await?.is_none() {
            return Err(Unavailable("the new session's name is taken".to_owned()));
        }
        match (who, old) {
            (Some((principal, login)), Some(old)) => self.move_over(&scope, &old, &key, (&login.public(), &principal)).await?,
            (Some((principal, _)), None) => self.0.make_room(&scope, tenant, &principal.key()).await,
            (None, _) => {}
        }
        Ok(format!("{tenant}.{secret}"))
    }

    /// The session goes on as `new`: its entry points there before the old handle dies, so that it is never without one. Of
    /// requests that do this at the same time one gives the browser its handle, the others give none.
    async fn move_over(&self, scope: &Scope, old: &Key, new: &Key, who: (&str, &Principal)) -> Result<(), Unavailable> {
        let (id, principal) = who;
        match self.0.move_to(old, new, id, principal).await? {
            Moved::Here { left } => {
                self.0.store.touch(new, left.min(self.0.settings.idle)).await?;
                self.0.bury(old, Ending::NewSignIn).await?;
                self.0.changed(old, id).await
            }
            Moved::Elsewhere | Moved::Over => {
                self.0.store.delete(new).await?;
                scope.fate.set(Fate::NotWritten);
                Ok(())
            }
        }
    }

    /// What becomes of a session whose handle is given up.
    async fn leave(&self, scope: &Scope, key: &Key) -> Result<(), Unavailable> {
        let owner = scope.loaded.take().and_then(|loaded| loaded.owner);
        if scope.leave.get() == Leave::Move {
            scope.moving.replace(Some(key.clone()));
            return Ok(());
        }
        let (parts, id) = (&self.0, owner.as_ref().map(|owner| owner.login.public()));
        let ending = if scope.leave.get() == Leave::NewSignIn { Ending::NewSignIn } else { Ending::SignOut };
        let user = owner.as_ref().map(|owner| owner.user.as_str());
        parts.end(key, id.as_deref().zip(user), ending, &scope.visit.by(user)).await
    }

    async fn change(&self, scope: &Scope, handle: &str, state: State) -> Result<Swap, Unavailable> {
        let loaded = scope.loaded.borrow().clone();
        let Some((loaded, secret)) = loaded.zip(secret(handle)) else { return Ok(Swap::Gone) };
        let Some(ttl) = self.0.lifetime(loaded.started_at) else { return Ok(Swap::Gone) };
        let sealed = self.seal(&loaded.key, secret, &Sealed { started_at: loaded.started_at, state })?;
        let swap = self.0.store.compare_and_set(&loaded.key, loaded.version, sealed, Some(ttl.min(loaded.left))).await?;
        if let (Swap::Done(_), Some(owner)) = (&swap, &loaded.owner) {
            self.0.changed(&loaded.key, &owner.login.public()).await?;
        }
        Ok(swap)
    }

    /// Gives the session more time when it is due. A failure is not the request's: the session only runs out sooner.
    pub(super) async fn extend(&self, scope: &Scope) {
        let is_due = |loaded: &&Loaded| loaded.is_due && !scope.quiet.get();
        let due = scope.loaded.borrow().as_ref().filter(is_due).cloned();
        if let Some(loaded) = due {
            Box::pin(self.give_time(scope, loaded)).await;
        }
    }

    async fn give_time(&self, scope: &Scope, loaded: Loaded) {
        // Another request of the session may have done it since.
        if self.0.copies.get(&loaded.key).await.is_some_and(|copy| !self.0.is_due(&copy)) {
            return;
        }
        match self.0.used(&loaded, &scope.visit.network).await {
            Ok(Some(time)) => self.0.copies.extended(&loaded.key, self.0.clock.now().after(time)).await,
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a session was not extended"),
        }
    }

    /// Counts a change that came after the end of its session.
    async fn count_blocked(&self, scope: &Scope) {
        let Some(loaded) = scope.loaded.borrow().clone() else { return };
        if let Ok(found) = self.0.store.get(&loaded.key).await
            && found.is_none_or(|record| tombstone(&record.value).is_some())
        {
            metrics::counter!("cardea_session_resurrect_blocked_total").increment(1);
        }
    }

    fn seal(&self, key: &Key, secret: &str, sealed: &Sealed) -> Result<Vec<u8>, Unavailable> {
        let plain = Zeroizing::new(serde_json::to_vec(sealed).map_err(|error| Unavailable(error.to_string()))?);
        let sealed = self.0.ring.seal(PURPOSE, &key.context(), secret.as_bytes(), &plain);
        sealed.map_err(|error| Unavailable(error.to_string()))
    }
}

impl Parts {
    /// How long a session lives when it is not used again; `None` when its absolute limit is over.
    pub(super) fn lifetime(&self, started_at: Timestamp) -> Option<std::time::Duration> {
        let left = started_at.after(self.settings.absolute).since(self.clock.now());
        (!left.is_zero()).then(|| left.min(self.settings.idle))
    }

    /// Whether it is time to give a session more time.
    fn is_due(&self, copy: &Copy) -> bool {
        let left = copy.runs_out.since(self.clock.now());
        self.lifetime(copy.started_at).is_some_and(|full| full.saturating_sub(left) >= self.settings.extend_every.min(full / 2))
    }

    /// Sessions of a user at once; `None` without a limit.
    pub(super) fn most_sessions(&self, tenant: &TenantId) -> Option<usize> {
        let held = self.settings.policies.as_ref()?.last(tenant)?;
        usize::try_from(held.policy.limits.sessions_per_user).ok()
    }

    /// Ends the oldest sessions of a user who has more than the tenant allows. Each sign-in enters itself before it counts, so
    /// of any number at the same time the last one sees all. A store that does not answer lets one more stand.
    async fn make_room(&self, scope: &Scope, tenant: &TenantId, user: &str) {
        let most = self.most_sessions(tenant).unwrap_or(usize::MAX);
        let made = async {
            let sessions = self.list(tenant, user).await?;
            for session in sessions.iter().take(sessions.len().saturating_sub(most)) {
                self.end_login(tenant, &session.id, Ending::Limit, &scope.visit.by(Some(user))).await?;
            }
            Ok::<_, Unavailable>(())
        };
        if let Err(error) = made.await {
            tracing::warn!(%tenant, %error, "the sessions of a user could not be counted");
        }
    }

    /// A cookie of another tenant is refused, counted and written down, once in a while.
    async fn mismatch(&self, scope: &Scope, tenant: &TenantId, key: Key) {
        metrics::counter!("cardea_tenant_mismatch_total").increment(1);
        if self.copies.is_news(key).await {
            let event = Event::new(Deed::TenantMismatch, "session_cookie");
            self.audit.record(tenant, event.from(&scope.visit.network, &scope.visit.request_id));
        }
    }
}

/// The part of a handle that nobody can guess: its last characters.
fn secret(handle: &str) -> Option<&str> {
    handle.len().checked_sub(HANDLE).and_then(|start| handle.get(start..)).filter(|_| handle.is_ascii())
}
