//! How fast API calls may come and how the scanning service is spared. Each bound is one of a tenant, so that no tenant feels
//! what another one does. Nothing here asks anybody while a call waits, and no lock is held over a wait.
//!
//! For each call: [`Admission::admit`] once its caller is known; then, where the answer is not kept, [`Gate::enter`] for a place,
//! held until the body has ended; [`Budget::asked`]; and for each try [`Breakers::pass`] before and [`Pass::done`] after it, with
//! [`Budget::may_retry`] between two tries.

mod admission;
mod breaker;
mod gate;
mod quota;
mod retry;
mod shelves;
mod tally;

pub(in crate::gateway) use self::admission::{Admission, Quota, Verdict};
pub(in crate::gateway) use self::breaker::{Breakers, is_trouble};
pub(in crate::gateway) use self::gate::{Gate, Place};
pub(in crate::gateway) use self::retry::Budget;
use crate::config::gateway::Api as Settings;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::policies::Policies;
use crate::gateway::store::Store;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// All four. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Pace {
    pub(in crate::gateway) admission: Admission,
    pub(in crate::gateway) breakers: Breakers,
    pub(in crate::gateway) gate: Gate,
    pub(in crate::gateway) budget: Budget,
}

impl Pace {
    /// For these tenants; nothing was asked yet. Call it where a tokio runtime is running.
    pub(in crate::gateway) fn new(
        tenants: &[TenantId],
        (settings, policies): (Settings, &Policies),
        (store, clock): (&Store, &Clock),
        shutdown: &Shutdown,
    ) -> Self {
        let tenants = || tenants.iter().cloned();
        Self {
            admission: Admission::new(
                tenants(),
                (settings.rate, Some(policies.clone())),
                (store.clone(), clock.clone()),
                shutdown,
            ),
            breakers: Breakers::new(tenants(), settings.breaker, clock),
            gate: Gate::new(tenants(), settings.gate),
            budget: Budget::new(tenants(), settings.retry, clock.clone()),
        }
    }
}
