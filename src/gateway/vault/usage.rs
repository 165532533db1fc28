//! Counts uses of keys: in memory at once, in the store at most once in a while. What a killed process had not written yet is
//! lost, and a write whose answer was lost may count twice: counts are about.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::behind::{Behind, write_behind};
use super::records::Records;
use super::{Parts, VaultError};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::Uses;
use crate::platform::clock::Clock;

/// Uses by key.
pub(in crate::gateway) type Ledger = BTreeMap<String, Uses>;

/// Keys that were not used for so many days are forgotten: they are gone, or "not used lately" says enough.
const FORGOTTEN: i64 = 400;

/// The uses of one kind of keys. Cheap to clone.
#[derive(Clone)]
pub(super) struct Usage(Arc<Inner>);

struct Inner {
    records: Records,
    clock: Clock,
    /// Days of which the number is kept.
    days: i64,
    /// Not written yet.
    waiting: Mutex<HashMap<TenantId, Ledger>>,
    /// Held while something is written, so that nobody reads it as neither written nor waiting.
    turn: tokio::sync::Mutex<()>,
}

impl Behind for Usage {
    async fn flush(&self) {
        let _turn = self.0.turn.lock().await;
        let taken = mem::take(&mut *self.waiting());
        for (tenant, counted) in taken {
            let today = Uses::day(self.0.clock.now());
            let written = self.0.records.change::<Ledger, _>(&tenant, |ledger| {
                merge(ledger, &counted);
                for uses in ledger.values_mut() {
                    uses.by_day.retain(|day, _| *day > today - self.0.days);
                }
                ledger.retain(|_, uses| uses.last.is_some_and(|last| Uses::day(last) > today - FORGOTTEN));
                Ok(())
            });
            if let Err(error) = written.await {
                tracing::debug!(%tenant, %error, "uses of keys are not written yet");
                merge(self.waiting().entry(tenant).or_default(), &counted);
            }
        }
    }
}

impl Usage {
    /// Writes in the background, and once more when the process ends.
    pub(super) fn new(kind: &'static str, parts: &Parts) -> Self {
        let Parts { store, ring, clock, settings, shutdown } = parts;
        let usage = Self(Arc::new(Inner {
            records: Records { store: store.clone(), ring: Arc::clone(ring), kind },
            clock: clock.clone(),
            days: i64::from(settings.use_days),
            waiting: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }));
        write_behind(usage.clone(), Duration::from_secs(settings.use_seconds), shutdown);
        usage
    }

    /// One more use, now.
    pub(super) fn note(&self, tenant: &TenantId, id: &str) {
        let now = self.0.clock.now();
        let mut waiting = self.waiting();
        if let Some(uses) = waiting.get_mut(tenant).and_then(|ledger| ledger.get_mut(id)) {
            return uses.note(now);
        }
        waiting.entry(tenant.clone()).or_default().entry(id.to_owned()).or_default().note(now);
    }

    /// All uses of the tenant's keys: what is written, and what this process has not written yet.
    pub(super) async fn of(&self, tenant: &TenantId) -> Result<Ledger, VaultError> {
        let _turn = self.0.turn.lock().await;
        let (mut ledger, _) = self.0.records.read::<Ledger>(tenant).await?;
        if let Some(waiting) = self.waiting().get(tenant) {
            merge(&mut ledger, waiting);
        }
        Ok(ledger)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<TenantId, Ledger>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn merge(into: &mut Ledger, from: &Ledger) {
    for (id, uses) in from {
        into.entry(id.clone()).or_default().merge(uses);
    }
}
