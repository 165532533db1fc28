//! Server keys (SKs) of the scanning service, sealed at rest. A key comes in once and goes out to the service only; what
//! people see is its metadata. At most two keys of a tenant are active, whatever several administrators do at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

use super::origins::OriginBook;
use super::shelf::Shelf;
use super::usage::{Ledger, Usage};
use super::{Parts, VaultError};
use crate::gateway::domain::server_key::{KeyTest, ServerKey};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::{KeyUser, Origins};
use crate::gateway::store::Unavailable;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{hex, keyed};
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

const KIND: &str = "server-keys";
const CHANGED: &str = "server-keys-changed";
/// Keys that are active at the same time: the one that is used, and the one whose place it takes.
const ACTIVE: usize = 2;
/// A key of fewer characters shows none of them.
const SHORT: usize = 16;

/// The server keys of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct ServerKeys {
    /// The copies are of active keys, the newest first.
    shelf: Shelf<Held, (ServerKey, Secret)>,
    usage: Usage,
    origins: OriginBook,
    ring: Arc<Ring>,
    clock: Clock,
    most: usize,
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

impl ServerKeys {
    pub(in crate::gateway) fn new(parts: &Parts) -> Self {
        Self {
            shelf: Shelf::new(KIND, CHANGED, parts),
            usage: Usage::new("server-key-use", parts),
            origins: OriginBook::new("server-key-origins", parts),
            ring: Arc::clone(&parts.ring),
            clock: parts.clock.clone(),
            most: parts.settings.server_keys,
        }
    }

    /// Keeps a new key, which is not active until it is made so.
    pub(in crate::gateway) async fn add(
        &self,
        tenant: &TenantId,
        label: Hostile,
        secret: Secret,
        by: Hostile,
    ) -> Result<ServerKey, VaultError> {
        self.keep(tenant, label, secret, (by, false)).await
    }

    /// Keeps a key that is active at once: for those that the operator's settings bring.
    pub(in crate::gateway) async fn add_active(
        &self,
        tenant: &TenantId,
        label: Hostile,
        secret: Secret,
        by: Hostile,
    ) -> Result<ServerKey, VaultError> {
        self.keep(tenant, label, secret, (by, true)).await
    }

    async fn keep(
        &self,
        tenant: &TenantId,
        label: Hostile,
        secret: Secret,
        (by, active): (Hostile, bool),
    ) -> Result<ServerKey, VaultError> {
        let text = secret.expose();
        if text.is_empty() || text.len() > 4096 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(VaultError::Malformed);
        }
        let now = self.clock.now();
        let about = ServerKey {
            id: random::id().map_err(|error| Unavailable(error.to_string()))?,
            label,
            last_four: if text.len() < SHORT { String::new() } else { text.chars().skip(text.len() - 4).collect() },
            fingerprint: self.fingerprint(tenant, text),
            created_at: now,
            created_by: by,
            active: false,
            activated_at: None,
            last_tested: None,
            last_used: None,
        };
        self.shelf
            .change(tenant, |held| {
                if held.iter().any(|other| other.secret == text) {
                    return Err(VaultError::Duplicate);
                }
                if held.len() >= self.most {
                    return Err(VaultError::Full { most: self.most, kind: "server" });
                }
                held.push(Held { about: about.clone(), secret: text.to_owned() });
                if active { stand_up(held, &about.id, now) } else { Ok(about.clone()) }
            })
            .await
    }

    /// What may be shown of the tenant's keys, oldest first.
    pub(in crate::gateway) async fn list(&self, tenant: &TenantId) -> Result<Vec<ServerKey>, VaultError> {
        Ok(self.shelf.read(tenant).await?.iter().map(|held| held.about.clone()).collect())
    }

    /// Uses of the tenant's keys by id, days kept as the settings say.
    pub(in crate::gateway) async fn uses(&self, tenant: &TenantId) -> Result<Ledger, VaultError> {
        let mut ledger = self.usage.of(tenant).await?;
        // Keys that were used by an earlier version tell it themselves.
        let told: BTreeMap<String, Timestamp> =
            self.list(tenant).await?.into_iter().filter_map(|key| Some((key.id, key.last_used?))).collect();
        for (id, last) in told {
            let uses = ledger.entry(id).or_default();
            uses.last = uses.last.max(Some(last));
        }
        Ok(ledger)
    }

    /// Makes a key the one that is used. The one used until now stays active behind it; a third one does not.
    pub(in crate::gateway) async fn activate(&self, tenant: &TenantId, id: &str) -> Result<ServerKey, VaultError> {
        let now = self.clock.now();
        self.shelf.change(tenant, |held| stand_up(held, id, now)).await
    }

    /// Makes one of two active keys inactive.
    pub(in crate::gateway) async fn deactivate(&self, tenant: &TenantId, id: &str) -> Result<ServerKey, VaultError> {
        self.shelf
            .change(tenant, |held| {
                let active = held.iter().filter(|held| held.about.active).count();
                let found = find(held, id)?;
                if found.about.active && active < ACTIVE {
                    return Err(VaultError::OnlyActive);
                }
                found.about.active = false;
                Ok(found.about.clone())
            })
            .await
    }

    /// Deletes a key for good. No key that is not active takes its place.
    pub(in crate::gateway) async fn remove(&self, tenant: &TenantId, id: &str) -> Result<ServerKey, VaultError> {
        self.shelf
            .change(tenant, |held| {
                let found = find(held, id)?.about.clone();
                held.retain(|other| other.about.id != id);
                Ok(found)
            })
            .await
    }

    /// The active keys with their secrets, for calls to the service: the first is used, and the second when the service
    /// answers 401 to it. At most a second old.
    pub(in crate::gateway) async fn active(&self, tenant: &TenantId) -> Result<Arc<Vec<(ServerKey, Secret)>>, VaultError> {
        let active = |held: Vec<Held>| {
            let mut active: Vec<_> = held.iter().filter(|held| held.about.active).map(reveal).collect();
            active.sort_by_key(|(key, _)| std::cmp::Reverse(key.since()));
            active.truncate(ACTIVE);
            active
        };
        self.shelf.copy(tenant, active).await
    }

    /// Any key with its secret, for a test call to the service before it is made active.
    pub(in crate::gateway) async fn reveal(&self, tenant: &TenantId, id: &str) -> Result<(ServerKey, Secret), VaultError> {
        find(&mut self.shelf.read(tenant).await?, id).map(|held| reveal(held))
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
        self.shelf
            .change(tenant, |held| {
                let found = find(held, id)?;
                found.about.last_tested = Some(test.clone());
                Ok(found.about.clone())
            })
            .await
    }

    /// Counts one call to the service with this key, of this operation and for whom; written down within a minute or so.
    pub(in crate::gateway) fn count_use(&self, tenant: &TenantId, id: &str, (operation, user): (&'static str, KeyUser<'_>)) {
        metrics::counter!("cardea_sk_use_total").increment(1);
        self.usage.note(tenant, id);
        self.origins.note(tenant, id, (operation, &user.written()));
    }

    /// What used a key in the last seven days.
    pub(in crate::gateway) async fn origins(&self, tenant: &TenantId, id: &str) -> Result<Origins, VaultError> {
        self.origins.of(tenant, id).await
    }

    /// Writes counted uses down now.
    #[cfg(test)]
    pub(in crate::gateway) async fn flush(&self) {
        super::behind::Behind::flush(&self.usage).await;
        super::behind::Behind::flush(&self.origins).await;
    }

    /// By the newest ring key: recognisable inside one deployment, and no help in guessing the key elsewhere.
    fn fingerprint(&self, tenant: &TenantId, secret: &str) -> String {
        let hash = keyed(self.ring.derive("server-key-fingerprint").as_slice(), format!("{tenant}\0{secret}").as_bytes());
        hex(&hash).chars().take(16).collect()
    }
}

/// Makes a key the newest active one, and keeps one other active at most.
fn stand_up(held: &mut [Held], id: &str, now: Timestamp) -> Result<ServerKey, VaultError> {
    let before = held.iter().filter(|held| held.about.active && held.about.id != id);
    let second = before.max_by_key(|held| held.about.since()).map(|held| (held.about.id.clone(), held.about.since()));
    find(held, id)?;
    // Two activations in one millisecond, or a clock set back, still have an order.
    let at = second.as_ref().map_or(now, |(_, since)| now.max(Timestamp(since.0.saturating_add(1))));
    for held in held.iter_mut() {
        let is_second = second.as_ref().is_some_and(|(second, _)| *second == held.about.id);
        if held.about.id == id {
            held.about.activated_at = Some(at);
        }
        held.about.active = held.about.id == id || is_second;
    }
    find(held, id).map(|held| held.about.clone())
}

fn find<'h>(held: &'h mut [Held], id: &str) -> Result<&'h mut Held, VaultError> {
    held.iter_mut().find(|held| held.about.id == id).ok_or(VaultError::Unknown)
}

fn reveal(held: &Held) -> (ServerKey, Secret) {
    (held.about.clone(), Secret::new(held.secret.as_str()))
}
