//! The keys of one kind: a record for each tenant, and the copies of it that calls are decided by. A change drops the copies, on all
//! replicas.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::records::Records;
use super::{Parts, VaultError};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Copies;

/// Keys at rest as `H`, and as `C` in memory. Cheap to clone.
pub(super) struct Shelf<H, C> {
    records: Records,
    pub(super) copies: Copies<Vec<C>, VaultError>,
    _held: std::marker::PhantomData<fn() -> H>,
}

impl<H, C> Clone for Shelf<H, C> {
    fn clone(&self) -> Self {
        Self { records: self.records.clone(), copies: self.copies.clone(), _held: std::marker::PhantomData }
    }
}

impl<H: Serialize + DeserializeOwned, C: Send + Sync + 'static> Shelf<H, C> {
    /// `changed`: the channel on which replicas tell each other.
    pub(super) fn new(kind: &'static str, changed: &'static str, parts: &Parts) -> Self {
        Self {
            records: Records { store: parts.store.clone(), ring: Arc::clone(&parts.ring), kind },
            copies: Copies::new(changed, parts.copy_life(), &parts.store, &parts.shutdown),
            _held: std::marker::PhantomData,
        }
    }

    /// The keys as they are now.
    pub(super) async fn read(&self, tenant: &TenantId) -> Result<Vec<H>, VaultError> {
        Ok(self.records.read(tenant).await?.0)
    }

    /// The keys as they were at most a moment ago, made ready for use by `made`.
    pub(super) async fn copy(&self, tenant: &TenantId, made: impl FnOnce(Vec<H>) -> Vec<C>) -> Result<Arc<Vec<C>>, VaultError> {
        self.copies.get(tenant, async || Ok(made(self.read(tenant).await?))).await
    }

    /// Changes the keys.
    pub(super) async fn change<T>(
        &self,
        tenant: &TenantId,
        work: impl FnMut(&mut Vec<H>) -> Result<T, VaultError>,
    ) -> Result<T, VaultError> {
        let changed = self.records.change(tenant, work).await;
        // Also after trouble: it may have been written.
        self.copies.changed(tenant).await;
        changed
    }
}
