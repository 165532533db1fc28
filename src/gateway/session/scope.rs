//! What one request knows about its session while it runs: the tenant of its host, and how the store left things.
//!
//! The trait that the session store implements has no room for this, so it travels beside the request as a task-local
//! value. A request runs as one task on one thread; what it spawns has no session.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use super::login::LoginId;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Version};
use crate::platform::clock::Timestamp;

tokio::task_local! {
    static SCOPE: Rc<Scope>;
}

/// State of one request.
pub(super) struct Scope {
    /// By host; nobody is signed in without one.
    pub(super) tenant: Option<TenantId>,
    /// The start of the request.
    pub(super) now: Timestamp,
    pub(super) loaded: RefCell<Option<Loaded>>,
    /// Set by requests that must not keep a session alive.
    pub(super) quiet: Cell<bool>,
    pub(super) fate: Cell<Fate>,
}

/// The session as it was read.
#[derive(Clone)]
pub(super) struct Loaded {
    pub(super) key: Key,
    pub(super) version: Version,
    pub(super) started_at: Timestamp,
    /// Whose it is: tokens and index entries to end with it.
    pub(super) owner: Option<Owner>,
    /// The lifetime to give it after the request; `None` when the last extension is recent.
    pub(super) extend: Option<Duration>,
}

/// Who a session belongs to.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) login: LoginId,
    /// [`Principal::key`](crate::gateway::domain::principal::Principal::key).
    pub(super) user: String,
}

/// How the store left the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// As actix-session thinks.
    Fine,
    /// A change was not written, because the session ended or changed meanwhile: the browser must not be told otherwise.
    NotWritten,
    /// The store did not answer where an answer was needed.
    Unavailable,
}

impl Scope {
    pub(super) fn new(tenant: Option<TenantId>, now: Timestamp) -> Rc<Self> {
        Rc::new(Self { tenant, now, loaded: RefCell::default(), quiet: Cell::new(false), fate: Cell::new(Fate::Fine) })
    }

    /// Runs a request in this scope.
    pub(super) async fn run<T>(self: Rc<Self>, request: impl Future<Output = T>) -> T {
        SCOPE.scope(self, request).await
    }

    /// The scope of the request that runs now.
    pub(super) fn current() -> Option<Rc<Self>> {
        SCOPE.try_with(Rc::clone).ok()
    }
}
