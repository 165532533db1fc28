//! The policy of each tenant: one sealed record, changed by compare-and-set, with the versions before it. Every replica believes
//! what it read for a moment, and drops it as soon as word of a change comes.
//!
//! Who decides something for good asks [`Policies::of`], which says so when it cannot know. Who only shows or counts
//! (looks of pages, rates of calls) asks [`Policies::last`], which never waits and never fails.

mod records;
#[cfg(test)]
pub(in crate::gateway) mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;

pub(in crate::gateway) use self::records::{Author, Saved, Version};
use super::domain::tenant::TenantId;
use super::domain::tenant_policy::TenantPolicy;
use super::store::{Copies, Event, Store, Subscription, Unavailable};
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// Told to the other replicas with the tenant's id.
const CHANGED: &str = "policy-changed";

/// Why there is no policy to go by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum PolicyError {
    #[error("there is no such tenant")]
    Unknown,
    /// Nothing is overwritten.
    #[error("the policy does not open; its sealing key may be gone")]
    Sealed,
    /// The store went away while it took a policy: whether this version is in force is not known. [`Policies::did_save`] tells.
    #[error("the store did not say whether version {version} of the policy was saved")]
    Unsure { version: u64, saved: Saved },
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// A policy and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Held {
    /// 0: nothing was saved yet, all is as the settings give.
    pub(in crate::gateway) version: u64,
    pub(in crate::gateway) policy: Arc<TenantPolicy>,
    pub(in crate::gateway) saved: Option<Saved>,
}

/// Outcome of saving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Outcome {
    /// It is in force.
    Saved(Held),
    /// Somebody else saved since the version that was looked at; nothing was saved now. This is what holds.
    Stale(Held),
}

/// What the policies are made with.
pub(in crate::gateway) struct Parts {
    pub(in crate::gateway) store: Store,
    pub(in crate::gateway) ring: Arc<Ring>,
    pub(in crate::gateway) clock: Clock,
    pub(in crate::gateway) shutdown: Shutdown,
    /// How long what was read is believed.
    pub(in crate::gateway) copy_life: Duration,
    /// Versions that are kept beside the one in force.
    pub(in crate::gateway) versions: u64,
}

/// The policies of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Policies(Arc<Inner>);

struct Inner {
    parts: Parts,
    /// What the settings give each tenant.
    given: BTreeMap<TenantId, Arc<Held>>,
    copies: Copies<Held, PolicyError>,
    last: RwLock<HashMap<TenantId, Last>>,
    /// Tenants whose policy is being read again behind somebody's back.
    reading: Mutex<HashSet<TenantId>>,
}

struct Last {
    /// When it was read; none when word of a change came since.
    read_at: Option<Instant>,
    held: Arc<Held>,
}

impl Policies {
    /// For tenants with what the settings give them. Must be called inside a tokio runtime.
    pub(in crate::gateway) fn new(given: BTreeMap<TenantId, TenantPolicy>, parts: Parts) -> Self {
        let copies = Copies::new(CHANGED, parts.copy_life, &parts.store, &parts.shutdown);
        let none_saved = |policy| Arc::new(Held { version: 0, policy: Arc::new(policy), saved: None });
        let given = given.into_iter().map(|(tenant, policy)| (tenant, none_saved(policy))).collect();
        let events = parts.store.subscribe(CHANGED);
        let policies = Self(Arc::new(Inner { parts, given, copies, last: RwLock::default(), reading: Mutex::default() }));
        let listening = policies.clone();
        policies.0.parts.shutdown.spawn_until_begun(async move { listening.listen(events).await });
        policies
    }

    /// Reads the policies of all tenants once, as far as the store answers.
    pub(in crate::gateway) async fn begin(&self) {
        for tenant in self.0.given.keys() {
            if let Err(error) = self.held(tenant).await {
                tracing::warn!(%tenant, %error, "the tenant's policy is not known yet; its pages look as the settings say");
            }
        }
    }

    /// What the settings give: what holds where nothing was saved, and the most a tenant can take.
    pub(in crate::gateway) fn given(&self, tenant: &TenantId) -> Result<&Arc<TenantPolicy>, PolicyError> {
        self.0.given.get(tenant).map(|held| &held.policy).ok_or(PolicyError::Unknown)
    }

    /// The policy as it is, to about a second.
    pub(in crate::gateway) async fn of(&self, tenant: &TenantId) -> Result<Arc<TenantPolicy>, PolicyError> {
        Ok(Arc::clone(&self.held(tenant).await?.policy))
    }

    /// The same with its version.
    pub(in crate::gateway) async fn held(&self, tenant: &TenantId) -> Result<Arc<Held>, PolicyError> {
        let given = self.given(tenant)?;
        let read_at = Instant::now();
        let held = self.0.copies.get(tenant, async || self.read(tenant, given).await).await?;
        self.note(tenant, read_at, &held);
        Ok(held)
    }

    /// The policy as it was last known; what the settings give where nothing is known yet; `None` for no tenant. Read again behind
    /// the caller's back when it is old.
    pub(in crate::gateway) fn last(&self, tenant: &TenantId) -> Option<Arc<Held>> {
        let (held, is_young) = {
            let last = self.0.last.read().unwrap_or_else(PoisonError::into_inner);
            let life = self.0.parts.copy_life;
            let known = last.get(tenant);
            let is_young = known.is_some_and(|last| last.read_at.is_some_and(|read_at| read_at.elapsed() < life));
            (known.map(|last| Arc::clone(&last.held)), is_young)
        };
        if !is_young {
            self.refresh(tenant);
        }
        held.or_else(|| self.0.given.get(tenant).cloned())
    }

    /// Puts a policy in the place of the version that was looked at.
    ///
    /// # Errors
    /// Nothing was saved, but for [`PolicyError::Unsure`].
    pub(in crate::gateway) async fn save(
        &self,
        tenant: &TenantId,
        (looked_at, policy): (u64, TenantPolicy),
        by: Author,
    ) -> Result<Outcome, PolicyError> {
        let given = Arc::clone(self.given(tenant)?);
        let outcome = self.write(tenant, &given, (looked_at, policy), by).await?;
        if let Outcome::Saved(held) = &outcome {
            // From here on nothing may fail: it is in force. This replica goes by it with its next request.
            self.note(tenant, Instant::now(), &Arc::new(held.clone()));
            self.0.copies.changed(tenant).await;
        }
        Ok(outcome)
    }

    fn note(&self, tenant: &TenantId, read_at: Instant, held: &Arc<Held>) {
        let mut last = self.0.last.write().unwrap_or_else(PoisonError::into_inner);
        let older = last.get(tenant).is_some_and(|last| last.held.version > held.version);
        if !older {
            last.insert(tenant.clone(), Last { read_at: Some(read_at), held: Arc::clone(held) });
        }
    }

    fn outdate(&self, tenant: &TenantId) {
        if let Some(last) = self.0.last.write().unwrap_or_else(PoisonError::into_inner).get_mut(tenant) {
            last.read_at = None;
        }
    }

    fn refresh(&self, tenant: &TenantId) {
        if !self.0.given.contains_key(tenant) || !self.reading().insert(tenant.clone()) {
            return;
        }
        let (policies, tenant) = (self.clone(), tenant.clone());
        self.0.parts.shutdown.spawn(async move {
            let read = policies.held(&tenant).await;
            policies.reading().remove(&tenant);
            if let Err(error) = read {
                tracing::debug!(%tenant, %error, "the tenant's policy stays as it was last known");
            }
        });
    }

    fn reading(&self) -> MutexGuard<'_, HashSet<TenantId>> {
        self.0.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn listen(&self, mut events: Subscription) {
        while let Some(event) = events.next().await {
            let named = match &event {
                Event::Message(text) => std::str::from_utf8(text).ok().and_then(|text| TenantId::parse(text).ok()),
                Event::Missed => None,
            };
            let told = |tenant: &&TenantId| named.as_ref().is_none_or(|named| named == *tenant);
            for tenant in self.0.given.keys().filter(told) {
                // The copies hear of it too, perhaps later than this.
                self.0.copies.forget(tenant);
                self.outdate(tenant);
                self.refresh(tenant);
            }
        }
    }
}
