//! What people without a session can have written down: so much for each tenant in a minute and in a day, so that nobody fills
//! a trail, the store, or the room of those events that wait for it. What is left out is counted, and the count is an event.

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
/// The same for a day whose allowance is used up: the counts are not to fill the trail either.
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The allowance of each tenant, of this process.
pub(super) struct Strangers {
    allowance: DefaultKeyedRateLimiter<TenantId>,
    per_day: u32,
    days: Mutex<BTreeMap<TenantId, Day>>,
    left_out: Mutex<BTreeMap<TenantId, LeftOut>>,
}

/// What was let in of one tenant's within 24 hours.
struct Day {
    since: Timestamp,
    count: u32,
}

/// What was left out of one tenant's trail and is not told yet.
struct LeftOut {
    since: Timestamp,
    /// How long after that it is told.
    told_after: Duration,
    /// By the deeds' names.
    counts: BTreeMap<&'static str, u64>,
}

impl LeftOut {
    fn is_due(&self, now: Timestamp) -> bool {
        is_over((self.since, self.told_after), now)
    }

    fn event(&self) -> Event {
        let counts: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        Event::new(Deed::LeftOut, &counts.join(", "))
    }
}

impl Strangers {
    /// Lets so many events of each tenant through.
    pub(super) fn new((per_minute, per_day): (NonZeroU32, NonZeroU32)) -> Self {
        let allowance = RateLimiter::keyed(Quota::per_minute(per_minute));
        Self { allowance, per_day: per_day.get(), days: Mutex::default(), left_out: Mutex::default() }
    }

    /// Whether one more is written down; else it is counted. `has_room`: whether as many may wait as do already.
    pub(super) fn let_in(&self, tenant: &TenantId, deed: Deed, (has_room, now): (bool, Timestamp)) -> bool {
        let mut days = held(&self.days);
        let day = days.entry(tenant.clone()).or_insert(Day { since: now, count: 0 });
        if is_over((day.since, DAY), now) {
            *day = Day { since: now, count: 0 };
        }
        let is_used_up = day.count >= self.per_day;
        if has_room && !is_used_up && self.allowance.check_key(tenant).is_ok() {
            day.count += 1;
            return true;
        }
        drop(days);
        metrics::counter!("cardea_audit_left_out_total").increment(1);
        let told_after = if is_used_up { HOUR } else { MINUTE };
        let mut all = held(&self.left_out);
        let left_out = all.entry(tenant.clone()).or_insert_with(|| LeftOut { since: now, told_after, counts: BTreeMap::new() });
        *left_out.counts.entry(deed.name()).or_default() += 1;
        false
    }

    /// Counts whose time is over, for writing down.
    pub(super) fn due(&self, now: Timestamp) -> Vec<(TenantId, Event)> {
        let mut all = held(&self.left_out);
        let due = all.iter().filter(|(_, left_out)| left_out.is_due(now)).map(|(tenant, _)| tenant.clone()).collect::<Vec<_>>();
        due.into_iter()
            .filter_map(|tenant| all.remove_entry(&tenant))
            .map(|(tenant, left_out)| (tenant, left_out.event()))
            .collect()
    }

    /// All counts, also those whose time is not over.
    pub(super) fn rest(&self) -> Vec<(TenantId, Event)> {
        let all = std::mem::take(&mut *held(&self.left_out));
        all.into_iter().map(|(tenant, left_out)| (tenant, left_out.event())).collect()
    }
}

/// Whether a time that began then is over; also when the clock was put back.
fn is_over((since, length): (Timestamp, Duration), now: Timestamp) -> bool {
    now < since || now.since(since) >= length
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
