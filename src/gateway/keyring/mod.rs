//! The sealing keys of a running gateway: which of them seals, and which records stand under which.
//!
//! A new key must not seal before every replica can open with it, or a session would end on those that are not restarted
//! yet. So replicas tell each other through the store which keys they have, and all seal with the newest that all have.
//! Records are sealed anew when they are used (by whoever reads them), those of the audit trail by the trail itself.

mod count;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub(in crate::gateway) use self::count::{KeyCounts, count};
use super::audit::Audit;
use super::domain::audit::{Deed, Event};
use super::domain::tenant::TenantId;
use super::store::{Key, Store, Swap, Unavailable};
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// A replica that was not heard of for so many turns is gone.
const TURNS: u32 = 3;
/// Stands where a name in the store needs a tenant and there is none.
const EVERYBODY: &str = "all-tenants";

/// What follows the keys of the other replicas.
pub(in crate::gateway) struct Keyring {
    store: Store,
    ring: Arc<Ring>,
    audit: Audit,
    tenants: Vec<TenantId>,
    everybody: TenantId,
    /// Name of this replica, a new one at each start.
    replica: String,
    every: Duration,
}

impl Keyring {
    /// Follows the other replicas in turns of `every`. A change of the sealing key is written down for each of `tenants`.
    pub(in crate::gateway) fn new(
        (store, ring): (Store, Arc<Ring>),
        audit: Audit,
        tenants: Vec<TenantId>,
        every: Duration,
    ) -> Result<Self, Unavailable> {
        let unavailable = |error: &dyn std::fmt::Display| Unavailable(error.to_string());
        let replica = random::id().map_err(|error| unavailable(&error))?;
        let everybody = everybody().map_err(|error| unavailable(&error))?;
        Ok(Self { store, ring, audit, tenants, everybody, replica, every })
    }

    /// Takes the first turn, and goes on in the background. Until the store has answered once, the oldest key seals: it is
    /// the one that all have.
    pub(in crate::gateway) async fn follow(self, shutdown: &Shutdown) {
        if let Some(oldest) = self.ring.ids().last().filter(|_| self.store.is_shared()) {
            self.ring.seal_with(oldest);
        }
        self.turn().await;
        if !self.store.is_shared() {
            return;
        }
        let end = shutdown.clone();
        shutdown.spawn(async move {
            while end.pause(self.every).await {
                self.turn().await;
            }
            self.leave().await;
        });
    }

    /// One turn. When the store does not answer, everything stays as it is.
    async fn turn(&self) {
        if let Err(error) = self.agree().await {
            tracing::warn!(%error, "the sealing keys of the other replicas are not known at the moment");
        }
    }

    async fn agree(&self) -> Result<(), Unavailable> {
        let own: Vec<&str> = self.ring.ids().collect();
        let others = if self.store.is_shared() { self.meet(&own).await? } else { Vec::new() };
        let known = |id: &str| others.iter().all(|other| other.iter().any(|theirs| theirs == id));
        let Some(newest) = own.iter().copied().find(|id| known(id)) else {
            tracing::warn!("another replica has none of this one's sealing keys: they cannot read each other's sessions");
            return Ok(());
        };
        self.ring.seal_with(newest);
        self.note(newest).await
    }

    /// Tells the others of this replica's keys, and gives theirs.
    async fn meet(&self, own: &[&str]) -> Result<Vec<Vec<String>>, Unavailable> {
        let text = serde_json::to_vec(own).map_err(|error| Unavailable(error.to_string()))?;
        let (mine, all) = (self.of(&self.replica), self.replicas());
        self.store.put(&mine, text, Some(self.every * TURNS)).await?;
        self.store.add(&all, &self.replica, None).await?;
        let mut others = Vec::new();
        for name in self.store.members(&all).await? {
            match self.store.get(&self.of(&name)).await? {
                Some(record) => others.push(serde_json::from_slice(&record.value).unwrap_or_default()),
                None => {
                    self.store.remove(&all, &name).await?;
                }
            }
        }
        Ok(others)
    }

    /// Writes a change of the sealing key down, once for all replicas; the first key of a store is no change.
    async fn note(&self, id: &str) -> Result<(), Unavailable> {
        let (key, value) = (sealing(&self.everybody), id.as_bytes().to_vec());
        let changed = match self.store.get(&key).await? {
            Some(record) if record.value == value => false,
            Some(record) => matches!(self.store.compare_and_set(&key, record.version, value, None).await?, Swap::Done(_)),
            None => {
                self.store.insert(&key, value, None).await?;
                false
            }
        };
        if changed {
            tracing::info!(key = id, "another sealing key seals from now on");
            for tenant in &self.tenants {
                self.audit.record(tenant, Event::new(Deed::KeyRotation, "sealing_key_changed"));
            }
        }
        Ok(())
    }

    /// A replica that ends in order is not waited for.
    async fn leave(&self) {
        let gone = self.store.delete(&self.of(&self.replica)).await;
        if gone.is_ok() {
            let _ = self.store.remove(&self.replicas(), &self.replica).await;
        }
    }

    fn replicas(&self) -> Key {
        Key::new(&self.everybody, "replicas", "all")
    }

    fn of(&self, replica: &str) -> Key {
        Key::new(&self.everybody, "replica", replica)
    }
}

fn everybody() -> Result<TenantId, super::domain::tenant::BadTenantId> {
    TenantId::parse(EVERYBODY)
}

/// Where the key that seals is written down.
fn sealing(everybody: &TenantId) -> Key {
    Key::new(everybody, "sealing-key", "now")
}
