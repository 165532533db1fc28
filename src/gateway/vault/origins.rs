//! Who uses a key: which operations from which networks, or for whom where it is a server key, day by day for a week, so that
//! people see what stops before they revoke it. Counted in memory at once and written now and then, one sealed record for each key: counts are about.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::behind::{Behind, write_behind};
use super::records::Records;
use super::{Parts, VaultError};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::{Origin, Origins, Uses};
use crate::gateway::store::Key;
use crate::platform::clock::Clock;

/// Days that are told, today among them.
const DAYS: i64 = 7;
/// A record of which no day is told any more is gone soon after.
const KEPT: Duration = Duration::from_hours(24 * 9);

/// The origins of the uses of all keys of a kind. Cheap to clone.
#[derive(Clone)]
pub(super) struct OriginBook(Arc<Inner>);

struct Inner {
    records: Records,
    clock: Clock,
    /// Pairs that are told apart for each key and day.
    most: usize,
    /// Not written yet, by tenant and key.
    waiting: Mutex<HashMap<(TenantId, String), Week>>,
    /// Held while something is written, so that nobody reads it as neither written nor waiting.
    turn: tokio::sync::Mutex<()>,
}

/// By day, counted from 1970-01-01 UTC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Week(BTreeMap<i64, Day>);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Day {
    /// By operation and network, which holds no blank.
    pairs: BTreeMap<String, u64>,
    /// Those for which there was no place.
    #[serde(default)]
    others: u64,
}

impl Week {
    fn add(&mut self, day: i64, pair: String, count: u64, most: usize) {
        let of = self.0.entry(day).or_default();
        if of.pairs.len() >= most && !of.pairs.contains_key(&pair) {
            of.others += count;
        } else {
            *of.pairs.entry(pair).or_default() += count;
        }
    }

    fn merge(&mut self, other: &Self, most: usize) {
        for (day, of) in &other.0 {
            for (pair, count) in &of.pairs {
                self.add(*day, pair.clone(), *count, most);
            }
            self.0.entry(*day).or_default().others += of.others;
        }
    }

    fn forget_before(&mut self, today: i64) {
        self.0.retain(|day, _| *day > today - DAYS);
    }
}

impl Behind for OriginBook {
    async fn flush(&self) {
        let _turn = self.0.turn.lock().await;
        let taken = mem::take(&mut *self.waiting());
        let today = Uses::day(self.0.clock.now());
        for ((tenant, id), counted) in taken {
            let key = self.key(&tenant, &id);
            let written = self.0.records.change_at::<Week, _>(&key, Some(KEPT), |week| {
                week.forget_before(today);
                week.merge(&counted, self.0.most);
                Ok(())
            });
            if let Err(error) = written.await {
                tracing::debug!(%tenant, %error, "who uses a key is not written yet");
                self.waiting().entry((tenant, id)).or_default().merge(&counted, self.0.most);
            }
        }
    }
}

impl OriginBook {
    /// Writes in the background, and once more when the process ends. `kind` names the records.
    pub(super) fn new(kind: &'static str, parts: &Parts) -> Self {
        let Parts { store, ring, clock, settings, shutdown } = parts;
        let book = Self(Arc::new(Inner {
            records: Records { store: store.clone(), ring: Arc::clone(ring), kind },
            clock: clock.clone(),
            most: settings.use_origins,
            waiting: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }));
        write_behind(book.clone(), Duration::from_secs(settings.use_seconds), shutdown);
        book
    }

    /// One more call of `operation` with the key, from or for `whom`, which holds no blank.
    pub(super) fn note(&self, tenant: &TenantId, id: &str, (operation, whom): (&'static str, &str)) {
        let day = Uses::day(self.0.clock.now());
        let pair = format!("{operation} {whom}");
        let mut waiting = self.waiting();
        waiting.entry((tenant.clone(), id.to_owned())).or_default().add(day, pair, 1, self.0.most);
    }

    /// Who used the key in the last seven days, the most frequent first.
    pub(super) async fn of(&self, tenant: &TenantId, id: &str) -> Result<Origins, VaultError> {
        let _turn = self.0.turn.lock().await;
        let (mut week, _) = self.0.records.read_at::<Week>(&self.key(tenant, id)).await?;
        if let Some(waiting) = self.waiting().get(&(tenant.clone(), id.to_owned())) {
            week.merge(waiting, self.0.most);
        }
        week.forget_before(Uses::day(self.0.clock.now()));
        Ok(told(&week))
    }

    fn key(&self, tenant: &TenantId, id: &str) -> Key {
        Key::new(tenant, self.0.records.kind, id)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<(TenantId, String), Week>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn told(week: &Week) -> Origins {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (pair, count) in week.0.values().flat_map(|day| &day.pairs) {
        *sums.entry(pair).or_default() += count;
    }
    let one = |(pair, count): (&str, u64)| {
        let (operation, network) = pair.split_once(' ').unwrap_or((pair, ""));
        Origin { operation: operation.to_owned(), network: network.to_owned(), count }
    };
    let mut all: Vec<Origin> = sums.into_iter().map(one).collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| (&a.operation, &a.network).cmp(&(&b.operation, &b.network))));
    Origins { all, others: week.0.values().map(|day| day.others).sum() }
}
