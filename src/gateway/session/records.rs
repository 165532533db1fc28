//! The session store behind actix-session. The cookie's handle is 256 random bits; the record's name is its hash, and its
//! key is derived from the ring and the handle, so that neither a copy of the store nor the ring alone opens it.
//!
//! Loading has three outcomes. An update never creates a record: when the session ended or changed meanwhile, nothing is
//! written. A deletion leaves a tombstone.

use std::sync::Arc;
use std::time::Duration;

use actix_session::storage::{LoadError, SaveError, SessionKey, SessionStore, UpdateError};
use actix_web::cookie::time::Duration as CookieDuration;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Parts;
use super::login::TOMBSTONE;
use super::portal::{self, State};
use super::scope::{Fate, Loaded, Scope};
use crate::gateway::store::{Key, Swap, Unavailable};
use crate::platform::clock::Timestamp;
use crate::platform::random;

const PURPOSE: &str = "session";
/// A session in use is given more time at most this often.
const EXTEND_EVERY: Duration = Duration::from_mins(1);
/// Length of a handle in characters.
const HANDLE: usize = 43;

/// The store of one middleware.
#[derive(Clone)]
pub(in crate::gateway) struct Records(pub(super) Arc<Parts>);

/// A session at rest, before sealing.
#[derive(Serialize, Deserialize)]
struct Sealed {
    started_at: Timestamp,
    state: State,
}

impl SessionStore for Records {
    async fn load(&self, handle: &SessionKey) -> Result<Option<State>, LoadError> {
        let Some(scope) = Scope::current() else { return Ok(None) };
        self.find(&scope, handle.as_ref()).await.map_err(|error| {
            scope.fate.set(Fate::Unavailable);
            LoadError::Other(error.into())
        })
    }

    async fn save(&self, state: State, _: &CookieDuration) -> Result<SessionKey, SaveError> {
        let failed = |error: Unavailable| {
            if let Some(scope) = Scope::current() {
                scope.fate.set(Fate::Unavailable);
            }
            SaveError::Other(error.into())
        };
        let handle = self.create(state).await.map_err(failed)?;
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
                Ok(Swap::Conflict | Swap::Gone) => scope.fate.set(Fate::NotWritten),
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
        let Some(tenant) = scope.tenant.clone() else { return Ok(()) };
        let key = Key::hashed(&tenant, PURPOSE, handle.as_ref());
        let owner = scope.loaded.take().and_then(|loaded| loaded.owner);
        let id = owner.as_ref().map(|owner| owner.login.public());
        let owner = id.as_deref().zip(owner.as_ref().map(|owner| owner.user.as_str()));
        self.0.end(&tenant, &key, owner).await.map_err(|error| {
            scope.fate.set(Fate::Unavailable);
            error.into()
        })
    }
}

impl Records {
    async fn find(&self, scope: &Scope, handle: &str) -> Result<Option<State>, Unavailable> {
        let Some(tenant) = scope.tenant.as_ref().filter(|_| handle.len() == HANDLE) else { return Ok(None) };
        let key = Key::hashed(tenant, PURPOSE, handle);
        let Some(record) = self.0.store.get(&key).await? else { return Ok(None) };
        if record.value == TOMBSTONE {
            return Ok(None);
        }
        let Ok(plain) = self.0.ring.open(PURPOSE, &key.context(), handle.as_bytes(), &record.value) else {
            tracing::warn!(%tenant, "a session record does not open; its sealing key may be gone");
            return Ok(None);
        };
        let renewed = self.0.ring.renew(PURPOSE, &key.context(), handle.as_bytes(), (&record.value, &plain));
        self.0.store.rewrap(&key, record.version, renewed).await;
        let Ok(Sealed { started_at, state }) = serde_json::from_slice(&plain) else { return Ok(None) };
        let Some(full) = self.lifetime(started_at) else {
            self.0.store.delete(&key).await?;
            return Ok(None);
        };
        let due = record.expires_in.is_none_or(|left| full.saturating_sub(left) >= EXTEND_EVERY.min(full / 2));
        let owner = portal::owner(&state);
        let loaded = Loaded { key, version: record.version, started_at, owner, extend: due.then_some(full) };
        scope.loaded.replace(Some(loaded));
        Ok(Some(state))
    }

    async fn create(&self, state: State) -> Result<String, Unavailable> {
        let without = || Unavailable("the request belongs to no tenant".to_owned());
        let scope = Scope::current().ok_or_else(without)?;
        let tenant = scope.tenant.as_ref().ok_or_else(without)?;
        let handle = random::token().map_err(|error| Unavailable(error.to_string()))?;
        let key = Key::hashed(tenant, PURPOSE, &handle);
        let started_at = portal::started_at(&state).unwrap_or_else(|| self.0.clock.now());
        let ttl = self.lifetime(started_at).ok_or_else(|| Unavailable("the session is over".to_owned()))?;
        if let Some(owner) = portal::owner(&state) {
            self.0.enter(&key, &owner.login.public(), &owner.user, started_at).await?;
        }
        let sealed = self.seal(&key, &handle, &Sealed { started_at, state })?;
        match self.0.store.insert(&key, sealed, Some(ttl)).await? {
            Some(_) => Ok(handle),
            None => Err(Unavailable("the new session's name is taken".to_owned())),
        }
    }

    async fn change(&self, scope: &Scope, handle: &str, state: State) -> Result<Swap, Unavailable> {
        let Some(loaded) = scope.loaded.borrow().clone() else { return Ok(Swap::Gone) };
        let Some(ttl) = self.lifetime(loaded.started_at) else { return Ok(Swap::Gone) };
        let sealed = self.seal(&loaded.key, handle, &Sealed { started_at: loaded.started_at, state })?;
        self.0.store.compare_and_set(&loaded.key, loaded.version, sealed, Some(ttl)).await
    }

    /// Gives the session more time when it is due. A failure is not the request's: the session only runs out sooner.
    pub(super) async fn extend(&self, scope: &Scope) {
        let due = scope.loaded.borrow().as_ref().and_then(|loaded| Some((loaded.key.clone(), loaded.extend?)));
        if let Some((key, ttl)) = due.filter(|_| !scope.quiet.get())
            && let Err(error) = self.0.store.touch(&key, ttl).await
        {
            tracing::warn!(%error, "a session was not extended");
        }
    }

    /// How long a session lives when it is not used again; `None` when its absolute limit is over.
    fn lifetime(&self, started_at: Timestamp) -> Option<Duration> {
        let settings = &self.0.settings;
        let left = started_at.after(settings.absolute).since(self.0.clock.now());
        (!left.is_zero()).then(|| left.min(settings.idle))
    }

    fn seal(&self, key: &Key, handle: &str, sealed: &Sealed) -> Result<Vec<u8>, Unavailable> {
        let plain = Zeroizing::new(serde_json::to_vec(sealed).map_err(|error| Unavailable(error.to_string()))?);
        let sealed = self.0.ring.seal(PURPOSE, &key.context(), handle.as_bytes(), &plain);
        sealed.map_err(|error| Unavailable(error.to_string()))
    }
}
