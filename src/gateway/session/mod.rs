//! Sessions of the portal, login flows and tokens at rest: the only room that sees tokens at rest, and the only one that
//! knows actix-session. Everything it keeps is sealed, with the tenant in the associated data, under a hashed name.
//!
//! actix-session carries the cookie and the state of a request; what it does to the store is ours (`records.rs`), because
//! its own Redis store brings a session back that was just signed out. `layer.rs` wraps its middleware: it tells the store
//! whose tenant the request is for (the trait has no room for it), turns an outage into 503 with the cookie kept, and
//! extends idle sessions after the request, so that a poll need not. The rest of the portal sees [`Portal`] only.

mod cookie;
mod copies;
mod ending;
mod flight;
mod flows;
pub(in crate::gateway) mod fuzzing;
mod glance;
mod landing;
mod layer;
mod login;
mod no_token;
mod portal;
mod provider_sessions;
mod records;
mod refresh;
mod scope;
mod standing;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

pub(in crate::gateway) use self::cookie::{BadCookie, CookieSettings};
use self::copies::Copies;
pub(in crate::gateway) use self::ending::{By, Tether, until};
pub(in crate::gateway) use self::flows::{Begun, Callback, Flow, FlowError, Flows};
pub(in crate::gateway) use self::glance::{Glance, Glances, Seen};
pub(in crate::gateway) use self::layer::Layer;
pub(in crate::gateway) use self::login::{ListedSession, LoginId};
pub(in crate::gateway) use self::portal::{Portal, SignedIn};
pub(in crate::gateway) use self::provider_sessions::{Entry as ProviderEntry, ProviderSessions};
pub(in crate::gateway) use self::refresh::{
    CheckError, Refresh, RefreshError, RefreshSettings, Refreshed, TokenError, TokenParts, TokenSource,
};
pub(in crate::gateway) use self::scope::Visit;
pub(in crate::gateway) use self::standing::Learnt;
pub(in crate::gateway) use self::tokens::{TokenSet, Tokens};
use super::audit::Audit;
use super::domain::tenant::TenantId;
use super::policies::Policies;
use super::store::Store;
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// Limits and cookie of the portal's sessions.
#[derive(Clone)]
pub(in crate::gateway) struct Settings {
    pub(in crate::gateway) cookie: CookieSettings,
    /// A session that is not used for this long ends.
    pub(in crate::gateway) idle: Duration,
    /// A session ends this long after its sign-in, however much it is used.
    pub(in crate::gateway) absolute: Duration,
    /// Changes of keys need a person who showed who they are at most this long ago.
    pub(in crate::gateway) step_up: Duration,
    /// A session in use is given more time, and seen, at most this often.
    pub(in crate::gateway) extend_every: Duration,
    /// How long a session that was read is believed without looking again, at most a second; zero looks each time.
    pub(in crate::gateway) copy_life: Duration,
    /// Copies of sessions that are kept at most.
    pub(in crate::gateway) copies: u64,
    /// How often a stream looks whether its session is there, should no word of its end come.
    pub(in crate::gateway) stream_check: Duration,
    /// Where it stands how many sessions a user of a tenant may have; none is without a limit.
    pub(in crate::gateway) policies: Option<Policies>,
}

/// What a tenant allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Policy {
    pub(in crate::gateway) idle: Duration,
    pub(in crate::gateway) absolute: Duration,
    /// Sessions of a user at once; `None` without a limit.
    pub(in crate::gateway) per_user: Option<usize>,
}

/// The sessions of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Sessions(Arc<Parts>);

/// What the files of this room share.
struct Parts {
    store: Store,
    ring: Arc<Ring>,
    clock: Clock,
    audit: Audit,
    copies: Copies,
    settings: Settings,
}

impl Sessions {
    /// Sessions in `store`, sealed with `ring`. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`BadCookie`] when name and Secure do not fit together.
    pub(in crate::gateway) fn new(
        store: Store,
        ring: Arc<Ring>,
        clock: Clock,
        audit: Audit,
        settings: Settings,
        shutdown: &Shutdown,
    ) -> Result<Self, BadCookie> {
        settings.cookie.check()?;
        let copies = Copies::new(settings.copy_life, settings.copies, &store, shutdown);
        Ok(Self(Arc::new(Parts { store, ring, clock, audit, copies, settings })))
    }

    /// What a tenant allows.
    pub(in crate::gateway) fn policy(&self, tenant: &TenantId) -> Policy {
        let Settings { idle, absolute, .. } = self.0.settings;
        Policy { idle, absolute, per_user: self.0.most_sessions(tenant) }
    }

    /// The middleware for the parts of an application that have sessions. One that runs before it must have put the
    /// [`TenantId`] of the request's host into the request's extensions; without one
    /// nobody is signed in.
    pub(in crate::gateway) fn layer(&self) -> Layer {
        Layer::new(&self.0)
    }
}
