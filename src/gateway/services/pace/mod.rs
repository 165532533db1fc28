//! How fast API calls may come and how the scanning service is spared. Each bound is one of a tenant, so that no tenant feels
//! what another one does. Nothing here asks anybody while a call waits, and no lock is held over a wait.
//!
//! For each call: [`Admission::arrive`] before anybody asks who calls, [`Admission::admit`] once that is known; then, where the
//! answer is not kept, [`Gate::enter`] for a place, held until the body has ended; [`Budget::asked`]; [`Breakers::pass`] or
//! [`Breakers::pass_streaming`] before and [`Pass::done`] after it, with [`Pass::may_retry`] and [`Budget::may_retry`] between two
//! tries. [`Proven`] says which tokens are no strangers', [`Refused`] which server keys are asked with last.

use std::time::Duration;

mod admission;
mod breaker;
mod gate;
mod proven;
mod quota;
mod refused;
mod retry;
mod shelves;
mod tally;

pub(in crate::gateway) use self::admission::{Admission, Arrived, Quota, Verdict};
pub(in crate::gateway) use self::breaker::{Breakers, Pass, is_trouble};
pub(in crate::gateway) use self::gate::{Gate, Place, Who};
pub(in crate::gateway) use self::proven::Proven;
pub(in crate::gateway) use self::refused::Refused;
pub(in crate::gateway) use self::retry::Budget;
use crate::config::gateway::Api as Settings;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::policies::Policies;
use crate::gateway::store::Store;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// All of them. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Pace {
    pub(in crate::gateway) admission: Admission,
    pub(in crate::gateway) breakers: Breakers,
    pub(in crate::gateway) gate: Gate,
    pub(in crate::gateway) budget: Budget,
    pub(in crate::gateway) proven: Proven,
    pub(in crate::gateway) refused: Refused,
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
        let known = Duration::from_secs(settings.gate.proven_seconds);
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
            proven: Proven::new(tenants(), (settings.rate.tracked, known), clock.clone()),
            refused: Refused::new(Duration::from_secs(settings.retry.refused_key_seconds), clock.clone()),
        }
    }
}
