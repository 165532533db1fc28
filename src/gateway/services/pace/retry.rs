//! How many calls may be tried again: a share of all calls, so that tries do not bury a service that is down already.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::tally::{Kind, Tally};
use crate::config::gateway::Retry as Settings;
use crate::gateway::domain::tenant::TenantId;
use crate::platform::clock::{Clock, Timestamp};

/// The tries of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Budget(Arc<Inner>);

struct Inner {
    tallies: HashMap<TenantId, Mutex<Tally>>,
    settings: Settings,
    clock: Clock,
}

impl Budget {
    /// Nothing was asked yet.
    pub(in crate::gateway) fn new(tenants: impl IntoIterator<Item = TenantId>, settings: Settings, clock: Clock) -> Self {
        let tally = || Mutex::new(Tally::new(Duration::from_secs(settings.window_seconds)));
        let tallies = tenants.into_iter().map(|tenant| (tenant, tally())).collect();
        Self(Arc::new(Inner { tallies, settings, clock }))
    }

    /// Notes a call, not its further tries.
    pub(in crate::gateway) fn asked(&self, tenant: &TenantId) {
        self.with(tenant, |tally, now| tally.add(Kind::All, now));
    }

    /// Whether a call may be tried once more; if so, that try is counted.
    pub(in crate::gateway) fn may_retry(&self, tenant: &TenantId) -> bool {
        let Settings { percent, least, .. } = self.0.settings;
        let allowed = self.with(tenant, |tally, now| {
            let (asked, tried) = tally.sums(now);
            let share = u64::from(asked) * u64::from(percent) / 100;
            let allowed = u64::from(tried) < share.max(u64::from(least));
            if allowed {
                tally.add(Kind::Marked, now);
            }
            allowed
        });
        allowed.unwrap_or(false)
    }

    fn with<R>(&self, tenant: &TenantId, work: impl FnOnce(&mut Tally, Timestamp) -> R) -> Option<R> {
        let tally = self.0.tallies.get(tenant)?;
        Some(work(&mut tally.lock().unwrap_or_else(PoisonError::into_inner), self.0.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_calls_may_be_tried_again_and_a_few_in_any_case() {
        let (acme, globex) = (TenantId::parse("acme").unwrap(), TenantId::parse("globex").unwrap());
        let clock = Clock::manual(Timestamp(1_800_000_000_000));
        let settings = Settings { percent: 10, least: 2, window_seconds: 10, refused_key_seconds: 60 };
        let budget = Budget::new([acme.clone(), globex.clone()], settings, clock.clone());
        let tries = |tenant| (0..100).take_while(|_| budget.may_retry(tenant)).count();
        assert_eq!(tries(&acme), 2);
        for _ in 0..200 {
            budget.asked(&acme);
        }
        assert_eq!(tries(&acme), 18);
        assert_eq!(tries(&globex), 2);
        clock.advance(Duration::from_secs(11));
        assert_eq!(tries(&acme), 2, "what is long ago allows nothing");
    }
}
