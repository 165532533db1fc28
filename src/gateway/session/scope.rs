//! What one request knows about its session while it runs: the tenant of its host, and how the store left things.
//!
//! The trait that the session store implements has no room for this, so it travels beside the request as a task-local
//! value. A request runs as one task on one thread; what it spawns has no session.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::Parts;
use super::login::LoginId;
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Version};
use crate::platform::clock::Timestamp;

tokio::task_local! {
    static SCOPE: Rc<Scope>;
}

/// Where a request comes from. The web puts it into the request's extensions before the session is read.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Visit {
    /// IPv4 /24, IPv6 /48.
    pub(in crate::gateway) network: String,
    pub(in crate::gateway) request_id: String,
    /// What the device says of itself.
    pub(in crate::gateway) agent: String,
}

/// State of one request.
pub(super) struct Scope {
    pub(super) parts: Arc<Parts>,
    /// By host; nobody is signed in without one.
    pub(super) tenant: Option<TenantId>,
    pub(super) visit: Visit,
    /// The start of the request.
    pub(super) now: Timestamp,
    pub(super) loaded: RefCell<Option<Loaded>>,
    /// Why the presented session has ended, when it has.
    pub(super) ended: Cell<Option<Ending>>,
    /// Set by requests that must not keep a session alive.
    pub(super) quiet: Cell<bool>,
    /// The user has another role than when the presented handle was given.
    pub(super) is_outgrown: Cell<bool>,
    /// What becomes of the handle that was presented, should it go.
    pub(super) leave: Cell<Leave>,
    /// The old handle's record, while the session moves to a new one.
    pub(super) moving: RefCell<Option<Key>>,
    pub(super) fate: Cell<Fate>,
}

/// The session as it was read.
#[derive(Clone)]
pub(super) struct Loaded {
    pub(super) key: Key,
    pub(super) version: Version,
    pub(super) started_at: Timestamp,
    /// Whose it is: tokens and index entries to end with it.
    pub(super) owner: Option<Arc<Owner>>,
    /// How long it lives unless it is used.
    pub(super) left: Duration,
    /// It is time to give it more.
    pub(super) is_due: bool,
}

/// Who a session belongs to.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) login: LoginId,
    /// [`Principal::key`](crate::gateway::domain::principal::Principal::key).
    pub(super) user: String,
}

/// Why the presented handle goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// The user signs out.
    SignOut,
    /// Somebody signs in: that session ends.
    NewSignIn,
    /// The same session goes on under a new handle, because its user may do something else now.
    Move,
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
    pub(super) fn new(parts: &Arc<Parts>, tenant: Option<TenantId>, visit: Visit) -> Rc<Self> {
        Rc::new(Self {
            parts: Arc::clone(parts),
            tenant,
            visit,
            now: parts.clock.now(),
            loaded: RefCell::default(),
            ended: Cell::new(None),
            is_outgrown: Cell::new(false),
            quiet: Cell::new(false),
            leave: Cell::new(Leave::SignOut),
            moving: RefCell::default(),
            fate: Cell::new(Fate::Fine),
        })
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
