//! What lets a recipient in again without a view: a record named by the hash of the browser's part and sealed with it. It is
//! bound to its tenant, its share and the version of the entry at that time.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::{Ledger, LedgerError};
use crate::gateway::domain::share_breach::{Breach, breaches};
use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store, Unavailable};
use crate::platform::clock::Timestamp;
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

const PURPOSE: &str = "share-grant";
const VISIT: &str = "share-visit";

/// What a good grant says.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Inside {
    /// Needed for each call to the service; none for a share without one.
    pub(in crate::gateway) code: Option<Secret>,
    /// The entry's version when it was granted: a later one makes it void.
    pub(in crate::gateway) version: u64,
    /// So does another policy that concerns it.
    pub(in crate::gateway) terms: Terms,
}

/// What an open door rests on: when it was opened, and what of the share did not fit the company's policy then already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Terms {
    given: Timestamp,
    breaches: Vec<Breach>,
}

impl Terms {
    pub(in crate::gateway) fn of(entry: &Entry, policy: &SharePolicy, now: Timestamp) -> Self {
        Self { given: now, breaches: breaches(entry, policy, now) }
    }

    /// Whether the door stays open by the policy as it is now: the share fits it as well as it did when the door was opened, and
    /// the visit is no longer than one may be. A policy that does not concern the share ends nothing.
    pub(in crate::gateway) fn hold(&self, entry: &Entry, policy: &SharePolicy, now: Timestamp) -> bool {
        let longest = Duration::from_secs(60 * u64::from(policy.grant_minutes));
        let fits = breaches(entry, policy, now).iter().all(|breach| self.breaches.contains(breach));
        fits && now.since(self.given) < longest
    }
}

/// The grants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Grants {
    store: Store,
    ring: Arc<Ring>,
}

#[derive(Serialize, Deserialize)]
struct Grant {
    code: Option<String>,
    version: u64,
    terms: Terms,
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.code.zeroize();
    }
}

impl Ledger {
    pub(in crate::gateway) fn grants(&self) -> Grants {
        Grants { store: self.store.clone(), ring: Arc::clone(&self.ring) }
    }
}

impl Grants {
    /// A new grant. The browser's part.
    pub(in crate::gateway) async fn give(
        &self,
        tenant: &TenantId,
        mark: &Mark,
        inside: &Inside,
        life: Duration,
    ) -> Result<Secret, LedgerError> {
        let handle = Secret::new(random::token().map_err(|error| Unavailable(error.to_string()))?);
        let key = named(tenant, &handle);
        let code = inside.code.as_ref().map(|code| code.expose().to_owned());
        let content = Grant { code, version: inside.version, terms: inside.terms.clone() };
        let plain = Zeroizing::new(serde_json::to_vec(&content).map_err(|_| LedgerError::Sealed)?);
        let sealed = self.ring.seal(PURPOSE, &context(&key, mark), handle.expose().as_bytes(), &plain);
        self.store.put(&key, sealed.map_err(|_| LedgerError::Sealed)?, Some(life)).await?;
        Ok(handle)
    }

    /// What a grant says that is still there, and how long it is good still; `None` for anything that is none.
    pub(in crate::gateway) async fn open(
        &self,
        tenant: &TenantId,
        mark: &Mark,
        handle: &Secret,
    ) -> Result<Option<(Inside, Duration)>, LedgerError> {
        let key = named(tenant, handle);
        let Some(record) = self.store.get(&key).await? else { return Ok(None) };
        let Ok(plain) = self.ring.open(PURPOSE, &context(&key, mark), handle.expose().as_bytes(), &record.value) else {
            return Ok(None);
        };
        let grant: Grant = serde_json::from_slice(&plain).map_err(|_| LedgerError::Sealed)?;
        let inside = Inside { code: grant.code.clone().map(Secret::new), version: grant.version, terms: grant.terms.clone() };
        Ok(Some((inside, record.expires_in.unwrap_or_default())))
    }

    /// Whether a program begins to look at a share: not from a network from which one did so less than `life` ago. A record of
    /// nothing; the version makes an older one void.
    pub(in crate::gateway) async fn begin_visit(
        &self,
        tenant: &TenantId,
        mark: &Mark,
        (version, network): (u64, &str),
        life: Duration,
    ) -> Result<bool, LedgerError> {
        let key = Key::hashed(tenant, VISIT, &format!("{}/{version}/{network}", mark.as_str()));
        Ok(self.store.insert(&key, Vec::new(), Some(life)).await?.is_some())
    }

    pub(in crate::gateway) async fn drop(&self, tenant: &TenantId, handle: &Secret) -> Result<(), LedgerError> {
        Ok(self.store.delete(&named(tenant, handle)).await.map(drop)?)
    }
}

fn named(tenant: &TenantId, handle: &Secret) -> Key {
    Key::hashed(tenant, PURPOSE, handle.expose())
}

/// Tenant, record and share: a grant for one share opens no other.
fn context(key: &Key, mark: &Mark) -> String {
    format!("{}/{}", key.context(), mark.as_str())
}
