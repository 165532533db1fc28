//! Server keys (SKs) of the scanning service, sealed at rest. A key comes in once and goes out to the service only; what
//! people see is its metadata.
//!
//! All keys of a tenant are one sealed record, changed by compare-and-set: so at most one of them is active, whatever
//! several administrators do at once.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::domain::server_key::{KeyTest, ServerKey};
use super::domain::tenant::TenantId;
use super::store::{Key, Store, Swap, Unavailable, Version};
use crate::platform::clock::Clock;
use crate::platform::digest::{hex, keyed};
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

const PURPOSE: &str = "server-keys";
/// Changes by others that one change gives way to.
const TRIES: usize = 50;
/// Use of a key is noted at most this often.
const NOTE_USE_EVERY: Duration = Duration::from_mins(1);
/// Most keys a tenant can have.
pub(in crate::gateway) const MOST_KEYS: usize = 20;
/// A key of fewer characters shows none of them.
const SHORT: usize = 16;

/// Why the vault did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum VaultError {
    /// No such key in this tenant.
    #[error("there is no such server key")]
    Unknown,
    /// The same key is there already.
    #[error("this server key was added before")]
    Duplicate,
    /// [`MOST_KEYS`] are there already.
    #[error("a tenant can have at most {MOST_KEYS} server keys; remove one first")]
    Full,
    /// Empty, longer than 4096 characters, or with characters that no header can carry.
    #[error("this is no server key: it must be 1 to 4096 visible ASCII characters")]
    Malformed,
    /// The record of the keys does not open. Nothing is overwritten.
    #[error("the server keys do not open; their sealing key may be gone")]
    Sealed,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// The vault of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Vault {
    store: Store,
    ring: Arc<Ring>,
    clock: Clock,
}

#[derive(Serialize, Deserialize)]
struct Held {
    about: ServerKey,
    secret: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

impl Vault {
    /// A vault in `store`, sealed with `ring`.
    pub(in crate::gateway) const fn new(store: Store, ring: Arc<Ring>, clock: Clock) -> Self {
        Self { store, ring, clock }
    }

    /// Keeps a new key. The first one of a tenant is active at once; a later one is not until it is made so.
    pub(in crate::gateway) async fn add(
        &self,
        tenant: &TenantId,
        label: Hostile,
        secret: Secret,
        by: Hostile,
    ) -> Result<ServerKey, VaultError> {
        let text = secret.expose();
        if text.is_empty() || text.len() > 4096 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(VaultError::Malformed);
        }
        let about = ServerKey {
            id: random::id().map_err(|error| Unavailable(error.to_string()))?,
            label,
            last_four: if text.len() < SHORT { String::new() } else { text.chars().skip(text.len() - 4).collect() },
            fingerprint: self.fingerprint(tenant, text),
            created_at: self.clock.now(),
            created_by: by,
            active: false,
            last_tested: None,
            last_used: None,
        };
        self.change(tenant, |held| {
            if held.iter().any(|other| other.secret == text) {
                return Err(VaultError::Duplicate);
            }
            if held.len() >= MOST_KEYS {
                return Err(VaultError::Full);
            }
            let about = ServerKey { active: held.is_empty(), ..about.clone() };
            held.push(Held { about: about.clone(), secret: text.to_owned() });
            Ok(about)
        })
        .await
    }

    /// What may be shown of the tenant's keys, oldest first.
    pub(in crate::gateway) async fn list(&self, tenant: &TenantId) -> Result<Vec<ServerKey>, VaultError> {
        let (held, _) = self.read(tenant).await?;
        Ok(held.iter().map(|held| held.about.clone()).collect())
    }

    /// Makes one key the active one, and all others not.
    pub(in crate::gateway) async fn activate(&self, tenant: &TenantId, id: &str) -> Result<ServerKey, VaultError> {
        self.change(tenant, |held| {
            let found = find(held, id)?.about.clone();
            for other in held.iter_mut() {
                other.about.active = other.about.id == id;
            }
            Ok(ServerKey { active: true, ..found })
        })
        .await
    }

    /// Deletes a key for good. When it was the active one, none is.
    pub(in crate::gateway) async fn remove(&self, tenant: &TenantId, id: &str) -> Result<ServerKey, VaultError> {
        self.change(tenant, |held| {
            let found = find(held, id)?.about.clone();
            held.retain(|other| other.about.id != id);
            Ok(found)
        })
        .await
    }

    /// The active key with its secret, for a call to the service.
    pub(in crate::gateway) async fn active(&self, tenant: &TenantId) -> Result<Option<(ServerKey, Secret)>, VaultError> {
        let (held, _) = self.read(tenant).await?;
        Ok(held.iter().find(|held| held.about.active).map(reveal))
    }

    /// Any key with its secret, for a test call to the service before it is made active.
    pub(in crate::gateway) async fn reveal(&self, tenant: &TenantId, id: &str) -> Result<(ServerKey, Secret), VaultError> {
        let (mut held, _) = self.read(tenant).await?;
        find(&mut held, id).map(|held| reveal(held))
    }

    /// Writes down how a test call went.
    pub(in crate::gateway) async fn note_test(
        &self,
        tenant: &TenantId,
        id: &str,
        ok: bool,
        words: Hostile,
    ) -> Result<ServerKey, VaultError> {
        let test = KeyTest { at: self.clock.now(), ok, words };
        self.change(tenant, |held| {
            let found = find(held, id)?;
            found.about.last_tested = Some(test.clone());
            Ok(found.about.clone())
        })
        .await
    }

    /// Writes down that a key was used, at most once a minute.
    pub(in crate::gateway) async fn note_use(&self, tenant: &TenantId, key: &ServerKey) -> Result<(), VaultError> {
        let now = self.clock.now();
        if key.last_used.is_some_and(|last| now.since(last) < NOTE_USE_EVERY) {
            return Ok(());
        }
        self.change(tenant, |held| {
            find(held, &key.id)?.about.last_used = Some(now);
            Ok(())
        })
        .await
    }

    /// Reads, changes and writes, again when somebody else wrote meanwhile.
    async fn change<T>(
        &self,
        tenant: &TenantId,
        mut work: impl FnMut(&mut Vec<Held>) -> Result<T, VaultError>,
    ) -> Result<T, VaultError> {
        let key = key(tenant);
        for _ in 0..TRIES {
            let (mut held, version) = self.read(tenant).await?;
            let result = work(&mut held)?;
            let sealed = self.seal(&key, &held)?;
            let written = match version {
                Some(version) => matches!(self.store.compare_and_set(&key, version, sealed, None).await?, Swap::Done(_)),
                None => self.store.insert(&key, sealed, None).await?.is_some(),
            };
            if written {
                return Ok(result);
            }
        }
        Err(Unavailable("too many changes at once".to_owned()).into())
    }

    async fn read(&self, tenant: &TenantId) -> Result<(Vec<Held>, Option<Version>), VaultError> {
        let key = key(tenant);
        let Some(record) = self.store.get(&key).await? else { return Ok((Vec::new(), None)) };
        let plain = self.ring.open(PURPOSE, &key.context(), &[], &record.value).map_err(|_| VaultError::Sealed)?;
        let renewed = self.ring.renew(PURPOSE, &key.context(), &[], (&record.value, &plain));
        self.store.rewrap(&key, record.version, renewed).await;
        let held = serde_json::from_slice(&plain).map_err(|_| VaultError::Sealed)?;
        Ok((held, Some(record.version)))
    }

    fn seal(&self, key: &Key, held: &[Held]) -> Result<Vec<u8>, VaultError> {
        let plain = Zeroizing::new(serde_json::to_vec(held).map_err(|_| VaultError::Sealed)?);
        self.ring.seal(PURPOSE, &key.context(), &[], &plain).map_err(|_| VaultError::Sealed)
    }

    /// By the newest ring key: recognisable inside one deployment, and no help in guessing the key elsewhere.
    fn fingerprint(&self, tenant: &TenantId, secret: &str) -> String {
        let hash = keyed(self.ring.derive("server-key-fingerprint").as_slice(), format!("{tenant}\0{secret}").as_bytes());
        hex(&hash).chars().take(16).collect()
    }
}

fn key(tenant: &TenantId) -> Key {
    Key::new(tenant, PURPOSE, "all")
}

fn find<'h>(held: &'h mut [Held], id: &str) -> Result<&'h mut Held, VaultError> {
    held.iter_mut().find(|held| held.about.id == id).ok_or(VaultError::Unknown)
}

fn reveal(held: &Held) -> (ServerKey, Secret) {
    (held.about.clone(), Secret::new(held.secret.as_str()))
}
