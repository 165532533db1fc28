//! A tenant's policy at rest, and the versions before it. All are sealed; a name that an administrator typed is in them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

use super::{Held, Outcome, Policies, PolicyError};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::tenant_policy::TenantPolicy;
use crate::gateway::store::{Key, Swap};
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

const KIND: &str = "policy";
const CURRENT: &str = "current";

/// Who saves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Author {
    /// [`Principal::key`](crate::gateway::domain::principal::Principal::key).
    pub(in crate::gateway) user: String,
    pub(in crate::gateway) name: Hostile,
}

/// When and by whom a version was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Saved {
    pub(in crate::gateway) at: Timestamp,
    pub(in crate::gateway) by: Author,
}

/// A version that was in force, or is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Version {
    pub(in crate::gateway) number: u64,
    pub(in crate::gateway) saved: Saved,
    pub(in crate::gateway) policy: TenantPolicy,
}

#[derive(Serialize, Deserialize)]
struct Record {
    version: u64,
    saved: Saved,
    policy: Value,
}

impl Policies {
    pub(super) async fn read(&self, tenant: &TenantId, given: &Arc<TenantPolicy>) -> Result<Held, PolicyError> {
        match self.record(&current(tenant)).await? {
            Some((record, _)) => held(&record, given),
            None => Ok(Held { version: 0, policy: Arc::clone(given), saved: None }),
        }
    }

    /// Keeps the version in force under its number, then puts the new one in its place.
    pub(super) async fn write(
        &self,
        tenant: &TenantId,
        given: &Arc<TenantPolicy>,
        (looked_at, policy): (u64, TenantPolicy),
        by: Author,
    ) -> Result<Outcome, PolicyError> {
        let (store, key) = (&self.0.parts.store, current(tenant));
        let now = self.record(&key).await?;
        let version = now.as_ref().map_or(0, |(record, _)| record.version);
        if version != looked_at {
            return self.read(tenant, given).await.map(Outcome::Stale);
        }
        let saved = Saved { at: self.0.parts.clock.now(), by };
        let content = serde_json::to_value(&policy).map_err(|_| PolicyError::Sealed)?;
        let next = Record { version: version + 1, saved: saved.clone(), policy: content };
        let written = match &now {
            Some((old, at)) => {
                let past = past(tenant, old.version);
                store.put(&past, self.seal(&past, old)?, None).await?;
                let swapped = store.compare_and_set(&key, *at, self.seal(&key, &next)?, None).await;
                swapped.map(|swap| matches!(swap, Swap::Done(_)))
            }
            None => store.insert(&key, self.seal(&key, &next)?, None).await.map(|version| version.is_some()),
        };
        let unsure = |_| PolicyError::Unsure { version: next.version, saved: saved.clone() };
        let written = written.map_err(unsure)?;
        if !written {
            return self.read(tenant, given).await.map(Outcome::Stale);
        }
        if let Some(oldest) = next.version.checked_sub(self.0.parts.versions + 1).filter(|oldest| *oldest > 0) {
            // One that stays by accident is only one more.
            let _ = store.delete(&past(tenant, oldest)).await;
        }
        Ok(Outcome::Saved(Held { version: next.version, policy: Arc::new(policy), saved: Some(saved) }))
    }

    /// Whether a version that a store did not answer for was saved after all, be it in force now or not.
    pub(in crate::gateway) async fn did_save(
        &self,
        tenant: &TenantId,
        (version, saved): (u64, &Saved),
    ) -> Result<bool, PolicyError> {
        let Some((now, _)) = self.record(&current(tenant)).await? else { return Ok(false) };
        if now.version <= version {
            return Ok(now.version == version && now.saved == *saved);
        }
        let before = self.record(&past(tenant, version)).await?;
        Ok(before.is_some_and(|(record, _)| record.saved == *saved))
    }

    /// The version in force and those before it that are kept, newest first; none when nothing was saved yet.
    pub(in crate::gateway) async fn versions(&self, tenant: &TenantId) -> Result<Vec<Version>, PolicyError> {
        let given = self.given(tenant)?;
        let mut versions = Vec::new();
        let Some((newest, _)) = self.record(&current(tenant)).await? else { return Ok(versions) };
        let first = newest.version.saturating_sub(self.0.parts.versions).max(1);
        let before = (first..newest.version).rev();
        versions.push(version(newest, given)?);
        for number in before {
            if let Some((record, _)) = self.record(&past(tenant, number)).await? {
                versions.push(version(record, given)?);
            }
        }
        Ok(versions)
    }

    async fn record(&self, key: &Key) -> Result<Option<(Record, crate::gateway::store::Version)>, PolicyError> {
        let (store, ring) = (&self.0.parts.store, &self.0.parts.ring);
        let Some(found) = store.get(key).await? else { return Ok(None) };
        let plain = ring.open(KIND, &key.context(), &[], &found.value).map_err(|_| PolicyError::Sealed)?;
        store.rewrap(key, found.version, ring.renew(KIND, &key.context(), &[], (&found.value, &plain))).await;
        let record = serde_json::from_slice(&plain).map_err(|_| PolicyError::Sealed)?;
        Ok(Some((record, found.version)))
    }

    fn seal(&self, key: &Key, record: &Record) -> Result<Vec<u8>, PolicyError> {
        let plain = serde_json::to_vec(record).map_err(|_| PolicyError::Sealed)?;
        self.0.parts.ring.seal(KIND, &key.context(), &[], &plain).map_err(|_| PolicyError::Sealed)
    }
}

fn held(record: &Record, given: &TenantPolicy) -> Result<Held, PolicyError> {
    let policy = TenantPolicy::read(&record.policy, given).ok_or(PolicyError::Sealed)?;
    Ok(Held { version: record.version, policy: Arc::new(policy), saved: Some(record.saved.clone()) })
}

fn version(record: Record, given: &TenantPolicy) -> Result<Version, PolicyError> {
    let policy = TenantPolicy::read(&record.policy, given).ok_or(PolicyError::Sealed)?;
    Ok(Version { number: record.version, saved: record.saved, policy })
}

fn current(tenant: &TenantId) -> Key {
    Key::new(tenant, KIND, CURRENT)
}

fn past(tenant: &TenantId, version: u64) -> Key {
    Key::new(tenant, KIND, &format!("v{version}"))
}
