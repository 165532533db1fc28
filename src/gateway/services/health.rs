//! Whether the gateway can serve, and what is not as it should be. The identity providers and the scanning service are not
//! asked: while they are away pages say so, and another replica would have them no nearer.

use std::time::Duration;

use metrics::gauge;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::config::gateway::Operations;
use crate::gateway::audit::Audit;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store};
use crate::platform::shutdown::Shutdown;

/// Asks the parts that requests need. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Health {
    store: Store,
    pub(in crate::gateway) audit: Audit,
    shutdown: Shutdown,
    /// How long the store may take to answer a probe.
    patience: Duration,
    /// How often the watch asks.
    pace: Duration,
}

/// How things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Report {
    /// The session store answers.
    pub(in crate::gateway) store: bool,
    /// Requests that run are finished and no more are taken.
    pub(in crate::gateway) ending: bool,
    /// Audit events that wait for the store.
    pub(in crate::gateway) audit_waiting: usize,
}

impl Report {
    /// Whether requests should be sent here.
    pub(in crate::gateway) const fn is_ready(self) -> bool {
        self.store && !self.ending
    }
}

impl Health {
    pub(in crate::gateway) fn new((store, audit): (Store, Audit), shutdown: Shutdown, settings: &Operations) -> Self {
        let [patience, pace] = [settings.store_answers_ms, settings.watch_ms].map(Duration::from_millis);
        Self { store, audit, shutdown, patience, pace }
    }

    /// Looks now.
    pub(in crate::gateway) async fn report(&self) -> Report {
        let store = self.store_answers().await;
        Report { store, ending: self.shutdown.has_begun(), audit_waiting: self.audit.waiting() }
    }

    /// Measures until the process ends how long the store has been away, and how much waits for it.
    pub(in crate::gateway) async fn watch(self) {
        let mut ticks = interval(self.pace);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = Instant::now();
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.shutdown.begun() => return,
            }
            if self.store_answers().await {
                last = Instant::now();
                gauge!("cardea_store_unavailable_seconds").set(0.0);
            } else {
                gauge!("cardea_store_unavailable_seconds").set(last.elapsed().as_secs_f64());
            }
            gauge!("cardea_audit_waiting").set(f64::from(u32::try_from(self.audit.waiting()).unwrap_or(u32::MAX)));
        }
    }

    async fn store_answers(&self) -> bool {
        let Ok(nobody) = TenantId::parse("health") else { return false };
        let probe = Key::new(&nobody, "probe", "ready");
        matches!(timeout(self.patience, self.store.get(&probe)).await, Ok(Ok(_)))
    }
}
