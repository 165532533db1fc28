//! The keys of those who are disabled: one set for each tenant, small and mostly empty, so that a call with a token can be told from
//! theirs without a look at anybody's record.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Copies, Key, Store, Unavailable};
use crate::platform::shutdown::Shutdown;

const CHANGED: &str = "people-disabled";
/// How often it is looked at most, where copies live shorter.
const LOOK: Duration = Duration::from_millis(250);

/// The sets of all tenants. Cheap to clone.
#[derive(Clone)]
pub(super) struct Outside {
    store: Store,
    copies: Copies<BTreeSet<String>, Unavailable>,
}

impl Outside {
    pub(super) fn new(store: &Store, life: Duration, shutdown: &Shutdown) -> Self {
        Self { store: store.clone(), copies: Copies::new(CHANGED, life, store, shutdown) }
    }

    /// The set, at most as old as a copy lives.
    pub(super) async fn list(&self, tenant: &TenantId) -> Result<Arc<BTreeSet<String>>, Unavailable> {
        let read = async || Ok(self.store.members(&key(tenant)).await?.into_iter().collect());
        self.copies.get(tenant, read).await
    }

    pub(super) async fn add(&self, tenant: &TenantId, user: &str) -> Result<(), Unavailable> {
        self.store.add(&key(tenant), user, None).await
    }

    pub(super) async fn remove(&self, tenant: &TenantId, user: &str) -> Result<(), Unavailable> {
        self.store.remove(&key(tenant), user).await.map(drop)
    }

    /// The set was changed here: all replicas are told.
    pub(super) async fn changed(&self, tenant: &TenantId) {
        self.copies.changed(tenant).await;
    }

    /// Resolves with word of a change, or when a copy ends.
    pub(super) async fn news(&self, tenant: &TenantId) {
        let mut word = self.copies.word(tenant);
        // An error would be that the copies are gone, and with them the process.
        let _ = timeout(self.copies.life().max(LOOK), word.changed()).await;
    }
}

fn key(tenant: &TenantId) -> Key {
    Key::new(tenant, "people", "disabled")
}
