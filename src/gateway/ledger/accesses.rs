//! Who came to a share: the newest few hundred, each in a record of its own that the next but so many overwrites. However often
//! somebody tries, the store does not grow.

use zeroize::Zeroizing;

use super::{Ledger, LedgerError, stand_in};
use crate::gateway::domain::share_entry::{Access, Mark};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Key;

/// Accesses of a share that are kept.
pub(in crate::gateway) const KEPT: u64 = 200;
const KIND: &str = "share-access";

impl Ledger {
    /// Writes an access down; one of a share that is not there among all such, where it takes as long. Trouble is logged, not told: nobody is refused because it could not be noted.
    pub(in crate::gateway) async fn note(&self, tenant: &TenantId, mark: &Mark, access: &Access) {
        if let Err(error) = self.write(tenant, mark, access).await {
            tracing::warn!(%tenant, share = mark.short(), %error, "an access to a share was not written down");
        }
    }

    async fn write(&self, tenant: &TenantId, mark: &Mark, access: &Access) -> Result<(), LedgerError> {
        let (mark, kept) = match self.sought(tenant, mark).await? {
            Some(entry) => (mark, self.kept(&entry)),
            None => (&Mark::stand_in(tenant), stand_in::KEPT),
        };
        let count = self.store.count(&Key::new(tenant, KIND, mark.as_str()), kept).await?;
        let key = slot(tenant, mark, count.value % KEPT);
        let plain = Zeroizing::new(serde_json::to_vec(access).map_err(|_| LedgerError::Sealed)?);
        let sealed = self.ring.seal(KIND, &key.context(), &[], &plain).map_err(|_| LedgerError::Sealed)?;
        self.store.put(&key, sealed, Some(kept)).await?;
        Ok(())
    }

    /// The newest accesses of a share, newest first.
    pub(in crate::gateway) async fn accesses(&self, tenant: &TenantId, mark: &Mark) -> Result<Vec<Access>, LedgerError> {
        let count = self.store.peek(&Key::new(tenant, KIND, mark.as_str())).await?.map_or(0, |count| count.value);
        let mut accesses = Vec::new();
        for number in (count.saturating_sub(KEPT - 1)..=count).rev() {
            let key = slot(tenant, mark, number % KEPT);
            let Some(record) = self.store.get(&key).await? else { continue };
            let plain = self.ring.open(KIND, &key.context(), &[], &record.value).map_err(|_| LedgerError::Sealed)?;
            accesses.push(serde_json::from_slice(&plain).map_err(|_| LedgerError::Sealed)?);
        }
        accesses.sort_by_key(|access: &Access| std::cmp::Reverse(access.at));
        Ok(accesses)
    }
}

fn slot(tenant: &TenantId, mark: &Mark, number: u64) -> Key {
    Key::new(tenant, KIND, &format!("{}.{number}", mark.as_str()))
}
