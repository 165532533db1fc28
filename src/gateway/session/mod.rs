//! Sessions of the portal, login flows and tokens at rest: the only room that sees tokens at rest, and the only one that
//! knows actix-session. Everything it keeps is sealed, with the tenant in the associated data, under a hashed name.
//!
//! actix-session carries the cookie and the state of a request; what it does to the store is ours (`records.rs`), because
//! its own Redis store brings a session back that was just signed out. `layer.rs` wraps its middleware: it tells the store
//! whose tenant the request is for (the trait has no room for it), turns an outage into 503 with the cookie kept, and
//! extends idle sessions after the request, so that a poll need not. The rest of the portal sees [`Portal`] only.

mod cookie;
mod flows;
mod layer;
#[cfg_attr(not(test), expect(dead_code, reason = "the index is kept from the first sign-in on; no page shows it yet"))]
mod login;
#[cfg_attr(not(test), expect(dead_code, reason = "changed claims are written down once something asks for them"))]
mod portal;
mod provider_sessions;
mod records;
mod refresh;
mod scope;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

pub(in crate::gateway) use self::cookie::{BadCookie, CookieSettings};
pub(in crate::gateway) use self::flows::{Begun, Callback, Flow, FlowError, Flows};
pub(in crate::gateway) use self::layer::Layer;
pub(in crate::gateway) use self::login::LoginId;
pub(in crate::gateway) use self::portal::{Portal, SignedIn};
pub(in crate::gateway) use self::provider_sessions::{Entry as ProviderEntry, ProviderSessions};
pub(in crate::gateway) use self::refresh::{Refresh, RefreshError, RefreshSettings, Refreshed, TokenError, TokenSource};
pub(in crate::gateway) use self::tokens::{TokenSet, Tokens};
use super::store::Store;
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;

/// Limits and cookie of the portal's sessions.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Settings {
    pub(in crate::gateway) cookie: CookieSettings,
    /// A session that is not used for this long ends.
    pub(in crate::gateway) idle: Duration,
    /// A session ends this long after its sign-in, however much it is used.
    pub(in crate::gateway) absolute: Duration,
}

/// The sessions of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Sessions(Arc<Parts>);

/// What the files of this room share.
struct Parts {
    store: Store,
    ring: Arc<Ring>,
    clock: Clock,
    settings: Settings,
}

impl Sessions {
    /// Sessions in `store`, sealed with `ring`.
    ///
    /// # Errors
    /// [`BadCookie`] when name and Secure do not fit together.
    pub(in crate::gateway) fn new(store: Store, ring: Arc<Ring>, clock: Clock, settings: Settings) -> Result<Self, BadCookie> {
        settings.cookie.check()?;
        Ok(Self(Arc::new(Parts { store, ring, clock, settings })))
    }

    /// The middleware for the parts of an application that have sessions. One that runs before it must have put the
    /// [`TenantId`](super::domain::tenant::TenantId) of the request's host into the request's extensions; without one
    /// nobody is signed in.
    pub(in crate::gateway) fn layer(&self) -> Layer {
        Layer::new(&self.0)
    }
}
