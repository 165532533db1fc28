//! The audit trail: one line in the log and one record in the store for each event, append-only, chained by hash for each
//! tenant. Whoever records does not wait; an outage of the store is waited out by the one writer task.
//!
//! A record holds the hash of the one before it, so that a change, a removal or an insertion anywhere but at the end shows.
//! The log line carries the hash, too: with a log kept elsewhere a cut end shows as well.

mod chain;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

pub(in crate::gateway) use self::chain::Verdict;
use self::chain::{Chain, End};
use super::domain::audit::{Event, Written};
use super::domain::tenant::TenantId;
use super::store::{Store, Unavailable};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// Wait between two tries of a record that the store did not take.
const AGAIN: Duration = Duration::from_millis(500);

/// Writes down and gives back. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Audit {
    inbox: mpsc::Sender<Parcel>,
    chain: Arc<Chain>,
    clock: Clock,
}

struct Parcel {
    tenant: TenantId,
    at: Timestamp,
    event: Event,
}

impl Audit {
    /// A trail in `store`, sealed with `ring`, whose records stay for `kept`. `waiting` events may wait for a store that is
    /// away; what comes beyond is in the log only, and counted (`cardea_audit_lost_total`).
    pub(in crate::gateway) fn new(
        store: Store,
        ring: Arc<Ring>,
        clock: Clock,
        (kept, waiting): (Duration, usize),
        shutdown: &Shutdown,
    ) -> Self {
        let (inbox, outbox) = mpsc::channel(waiting.max(1));
        let chain = Arc::new(Chain { store, ring, kept, clock: clock.clone() });
        let writer = Writer { outbox, chain: Arc::clone(&chain), ends: HashMap::new(), shutdown: shutdown.clone() };
        shutdown.spawn(writer.run());
        Self { inbox, chain, clock }
    }

    /// Writes an event down. Returns at once.
    pub(in crate::gateway) fn record(&self, tenant: &TenantId, event: Event) {
        let parcel = Parcel { tenant: tenant.clone(), at: self.clock.now(), event };
        if let Err(error) = self.inbox.try_send(parcel) {
            metrics::counter!("cardea_audit_lost_total").increment(1);
            let parcel = error.into_inner();
            tell(&parcel.tenant, None, &parcel.event);
        }
    }

    /// How many events wait for the store, the one that is being written not counted.
    pub(in crate::gateway) fn waiting(&self) -> usize {
        self.inbox.max_capacity() - self.inbox.capacity()
    }

    /// The newest events of a tenant before `before` (the newest of all for `None`), newest first, at most `count`.
    pub(in crate::gateway) async fn list(
        &self,
        tenant: &TenantId,
        before: Option<u64>,
        count: usize,
    ) -> Result<Vec<Written>, Unavailable> {
        self.chain.list(tenant, before, count).await
    }

    /// Checks the whole chain of a tenant.
    pub(in crate::gateway) async fn verify(&self, tenant: &TenantId) -> Result<Verdict, Unavailable> {
        self.chain.verify(tenant).await
    }
}

/// The one line of an event.
fn tell(tenant: &TenantId, written: Option<(u64, &str)>, event: &Event) {
    let Event { deed, detail, user, session, network, request_id } = event;
    let (number, hash) = written.unwrap_or_default();
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let (user, session, network, request_id) = (known(user), known(session), known(network), known(request_id));
    tracing::info!(target: "cardea::audit", %tenant, number, deed = deed.name(), detail, user, session, network, request_id, hash, "audit");
}

struct Writer {
    outbox: mpsc::Receiver<Parcel>,
    chain: Arc<Chain>,
    /// The end of each chain as this process knows it.
    ends: HashMap<TenantId, End>,
    shutdown: Shutdown,
}

impl Writer {
    async fn run(mut self) {
        let shutdown = self.shutdown.clone();
        loop {
            tokio::select! {
                parcel = self.outbox.recv() => match parcel {
                    Some(parcel) => self.write(parcel).await,
                    None => return,
                },
                () = shutdown.begun() => break,
            }
        }
        // What was recorded before the end is still written; requests that drain record on.
        while let Ok(Some(parcel)) = tokio::time::timeout(AGAIN, self.outbox.recv()).await {
            self.write(parcel).await;
        }
    }

    async fn write(&mut self, parcel: Parcel) {
        let Parcel { tenant, at, event } = parcel;
        loop {
            let known = self.ends.get(&tenant).cloned();
            match self.chain.append(&tenant, known, at, &event).await {
                Ok(end) => {
                    tell(&tenant, Some((end.number, &end.hash)), &event);
                    self.ends.insert(tenant, end);
                    return;
                }
                Err(error) => {
                    tracing::warn!(%tenant, %error, "an audit event is not written yet; trying again");
                    self.ends.remove(&tenant);
                }
            }
            if self.shutdown.has_begun() {
                metrics::counter!("cardea_audit_lost_total").increment(1);
                tell(&tenant, None, &event);
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}
