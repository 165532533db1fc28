//! What people without a session can have written down: so much for each tenant and minute, so that nobody fills a trail, or
//! the room of those events that wait for it. What is left out is counted, and the count is an event of its own.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::tenant::TenantId;
use crate::platform::clock::Timestamp;

/// What was left out is told so long after the first of it.
const MINUTE: Duration = Duration::from_mins(1);

/// The allowance of each tenant, of this process.
pub(super) struct Strangers {
    allowance: DefaultKeyedRateLimiter<TenantId>,
    left_out: Mutex<BTreeMap<TenantId, LeftOut>>,
}

/// What was left out of one tenant's trail and is not told yet.
struct LeftOut {
    since: Timestamp,
    /// By the deeds' names.
    counts: BTreeMap<&'static str, u64>,
}

impl LeftOut {
    /// Also when the clock was put back.
    fn is_due(&self, now: Timestamp) -> bool {
        now < self.since || now.since(self.since) >= MINUTE
    }

    fn event(&self) -> Event {
        let counts: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        Event::new(Deed::LeftOut, &counts.join(", "))
    }
}

impl Strangers {
    /// Lets `per_minute` events of each tenant through.
    pub(super) fn new(per_minute: NonZeroU32) -> Self {
        Self { allowance: RateLimiter::keyed(Quota::per_minute(per_minute)), left_out: Mutex::default() }
    }

    /// Whether one more is written down; else it is counted. `has_room`: whether as many may wait as do already.
    pub(super) fn let_in(&self, tenant: &TenantId, deed: Deed, (has_room, now): (bool, Timestamp)) -> bool {
        if has_room && self.allowance.check_key(tenant).is_ok() {
            return true;
        }
        metrics::counter!("cardea_audit_left_out_total").increment(1);
        let mut all = self.all();
        let left_out = all.entry(tenant.clone()).or_insert_with(|| LeftOut { since: now, counts: BTreeMap::new() });
        *left_out.counts.entry(deed.name()).or_default() += 1;
        false
    }

    /// Counts whose minute is over, for writing down.
    pub(super) fn due(&self, now: Timestamp) -> Vec<(TenantId, Event)> {
        let mut all = self.all();
        let due = all.iter().filter(|(_, left_out)| left_out.is_due(now)).map(|(tenant, _)| tenant.clone()).collect::<Vec<_>>();
        due.into_iter()
            .filter_map(|tenant| all.remove_entry(&tenant))
            .map(|(tenant, left_out)| (tenant, left_out.event()))
            .collect()
    }

    /// All counts, also those whose minute is not over.
    pub(super) fn rest(&self) -> Vec<(TenantId, Event)> {
        let all = std::mem::take(&mut *self.all());
        all.into_iter().map(|(tenant, left_out)| (tenant, left_out.event())).collect()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<TenantId, LeftOut>> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
