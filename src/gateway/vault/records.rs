//! One sealed record of a tenant: read, changed by compare-and-set, sealed anew when its sealing key is an older one.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::VaultError;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store, Swap, Unavailable, Version};
use crate::platform::seal::Ring;

/// Changes by others that one change gives way to.
const TRIES: usize = 50;

/// The records of one kind, one for each tenant. Cheap to clone.
#[derive(Clone)]
pub(super) struct Records {
    pub(super) store: Store,
    pub(super) ring: Arc<Ring>,
    /// Kind of the store's key, and what the seal is for.
    pub(super) kind: &'static str,
}

impl Records {
    pub(super) fn key(&self, tenant: &TenantId) -> Key {
        Key::new(tenant, self.kind, "all")
    }

    /// [`Records::change_at`] of the one record of a tenant, which stays.
    pub(super) async fn change<R, T>(
        &self,
        tenant: &TenantId,
        work: impl FnMut(&mut R) -> Result<T, VaultError>,
    ) -> Result<T, VaultError>
    where
        R: Serialize + DeserializeOwned + Default,
    {
        self.change_at(&self.key(tenant), None, work).await
    }

    /// Reads, changes and writes, again when somebody else wrote meanwhile. A record that does not open is not overwritten.
    pub(super) async fn change_at<R, T>(
        &self,
        key: &Key,
        kept: Option<Duration>,
        mut work: impl FnMut(&mut R) -> Result<T, VaultError>,
    ) -> Result<T, VaultError>
    where
        R: Serialize + DeserializeOwned + Default,
    {
        for _ in 0..TRIES {
            let (mut record, version) = self.read_at::<R>(key).await?;
            let result = work(&mut record)?;
            let sealed = self.seal(key, &record)?;
            let written = match version {
                Some(version) => matches!(self.store.compare_and_set(key, version, sealed, kept).await?, Swap::Done(_)),
                None => self.store.insert(key, sealed, kept).await?.is_some(),
            };
            if written {
                return Ok(result);
            }
        }
        Err(Unavailable("too many changes at once".to_owned()).into())
    }

    /// The one record of a tenant, an empty one where there is none.
    pub(super) async fn read<R: DeserializeOwned + Default>(
        &self,
        tenant: &TenantId,
    ) -> Result<(R, Option<Version>), VaultError> {
        self.read_at(&self.key(tenant)).await
    }

    /// The record of this name, an empty one where there is none.
    pub(super) async fn read_at<R: DeserializeOwned + Default>(&self, key: &Key) -> Result<(R, Option<Version>), VaultError> {
        let Some(record) = self.store.get(key).await? else { return Ok((R::default(), None)) };
        let plain = self.ring.open(self.kind, &key.context(), &[], &record.value).map_err(|_| VaultError::Sealed)?;
        let renewed = self.ring.renew(self.kind, &key.context(), &[], (&record.value, &plain));
        self.store.rewrap(key, record.version, renewed).await;
        let content = serde_json::from_slice(&plain).map_err(|_| VaultError::Sealed)?;
        Ok((content, Some(record.version)))
    }

    fn seal(&self, key: &Key, record: &impl Serialize) -> Result<Vec<u8>, VaultError> {
        let plain = Zeroizing::new(serde_json::to_vec(record).map_err(|_| VaultError::Sealed)?);
        self.ring.seal(self.kind, &key.context(), &[], &plain).map_err(|_| VaultError::Sealed)
    }
}
