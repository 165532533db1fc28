//! The audit trail: one line in the log and one record in the store for each event, append-only, chained by hash for each
//! tenant. Whoever records does not wait; an outage of the store is waited out by the one writer task.
//!
//! A record holds the hash of the one before it, so that a change, a removal or an insertion anywhere but at the end shows.
//! The log line carries the hash, too: with a log kept elsewhere a cut end shows as well. The hash is of what is said, not of how
//! it is sealed: records can be sealed anew. A trail that is damaged keeps only its own tenant's events waiting.

mod chain;
mod checking;
mod listing;
mod resealing;
mod strangers;
#[cfg(test)]
mod tests;
mod walk;
#[cfg(test)]
mod walk_tests;

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

pub(in crate::gateway) use self::chain::Verdict;
use self::chain::{Chain, End, Trouble};
pub(in crate::gateway) use self::checking::{Check, Found};
pub(in crate::gateway) use self::listing::{Line, Listing, Wanted};
use self::resealing::Resealing;
use self::strangers::Strangers;
pub(in crate::gateway) use self::walk::Part;
use super::domain::audit::{Deed, Event, Written};
use super::domain::tenant::TenantId;
use super::store::{Store, Unavailable};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// Wait between two tries of a record that the store did not take.
const AGAIN: Duration = Duration::from_millis(500);
/// Wait between two tries of a trail that is damaged. Finding its end may be a look at the whole store.
const MENDED: Duration = Duration::from_secs(5);
/// How often it is looked whether counts of what was left out are due.
const TICK: Duration = Duration::from_secs(1);

/// What a trail may take.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Limits {
    /// How long records stay.
    pub(in crate::gateway) kept: Duration,
    /// Events that may wait for a store that is away, and as many again for trails that are damaged; strangers' take half of
    /// it at most.
    pub(in crate::gateway) waiting: usize,
    /// Events that people without a session cause ([`Deed::is_strangers`](super::domain::audit::Deed::is_strangers)) and that are
    /// written down for each tenant and minute, by this process.
    pub(in crate::gateway) strangers_per_minute: NonZeroU32,
    /// The same for a day.
    pub(in crate::gateway) strangers_per_day: NonZeroU32,
}

#[cfg(test)]
impl Limits {
    /// For tests that are about something else.
    pub(in crate::gateway) const PLENTY: Self = Self {
        kept: Duration::from_hours(24 * 30),
        waiting: 1000,
        strangers_per_minute: NonZeroU32::MAX,
        strangers_per_day: NonZeroU32::MAX,
    };
}

/// Writes down and gives back. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Audit {
    inbox: mpsc::Sender<Parcel>,
    chain: Arc<Chain>,
    strangers: Arc<Strangers>,
    /// How many wait for damaged trails.
    aside: Arc<AtomicUsize>,
    clock: Clock,
}

struct Parcel {
    tenant: TenantId,
    at: Timestamp,
    event: Event,
}

impl Audit {
    /// A trail in `store`, sealed with `ring`. An event beyond those that may wait is in the log only, and counted
    /// (`cardea_audit_lost_total`).
    pub(in crate::gateway) fn new(store: Store, ring: Arc<Ring>, clock: Clock, limits: Limits, shutdown: &Shutdown) -> Self {
        let Limits { kept, waiting, strangers_per_minute, strangers_per_day } = limits;
        let (inbox, outbox) = mpsc::channel(waiting.max(1));
        let chain = Arc::new(Chain { store, ring, kept, clock: clock.clone() });
        let strangers = Arc::new(Strangers::new((strangers_per_minute, strangers_per_day)));
        let aside = Aside { queues: HashMap::new(), room: waiting.max(1), count: Arc::default() };
        let count = Arc::clone(&aside.count);
        let (for_writer, told) = (Arc::clone(&chain), Arc::clone(&strangers));
        let writer =
            Writer { outbox, chain: for_writer, strangers: told, ends: HashMap::new(), aside, shutdown: shutdown.clone() };
        shutdown.spawn(writer.run());
        Self { inbox, chain, strangers, aside: count, clock }
    }

    /// Notes of each tenant that nothing is written yet, where that is so. To be called before anybody can use the portal; goes
    /// on in the background while the store does not answer.
    pub(in crate::gateway) async fn begin(&self, tenants: Vec<TenantId>, shutdown: &Shutdown) {
        let Err(error) = begin(&self.chain, &tenants).await else { return };
        tracing::warn!(%error, "the audit trails are not begun yet; trying again");
        let (chain, end) = (Arc::clone(&self.chain), shutdown.clone());
        shutdown.spawn(async move {
            loop {
                if !end.pause(AGAIN).await {
                    return;
                }
                if begin(&chain, &tenants).await.is_ok() {
                    return;
                }
            }
        });
    }

    /// Seals the records anew behind everything else when another key of the ring seals, so many a minute. Whether it does is
    /// looked at in turns of `every`.
    pub(in crate::gateway) fn reseal(&self, every: Duration, per_minute: NonZeroU32, shutdown: &Shutdown) {
        shutdown.spawn(Resealing { chain: Arc::clone(&self.chain), every, per_minute }.run(shutdown.clone()));
    }

    /// Writes an event down. Returns at once. One that strangers can cause is counted only when there are many of them.
    pub(in crate::gateway) fn record(&self, tenant: &TenantId, event: Event) {
        let now = self.clock.now();
        // Half of the room stays for what people with a session do.
        let has_room = self.inbox.capacity() > self.inbox.max_capacity() / 2;
        if event.deed.is_strangers() && !self.strangers.let_in(tenant, event.deed, (has_room, now)) {
            return;
        }
        let parcel = Parcel { tenant: tenant.clone(), at: now, event };
        if let Err(error) = self.inbox.try_send(parcel) {
            metrics::counter!("cardea_audit_lost_total").increment(1);
            let parcel = error.into_inner();
            tell(&parcel.tenant, None, &parcel.event);
        }
    }

    /// How many events wait for the store or for a trail that is damaged, the one that is being written not counted.
    pub(in crate::gateway) fn waiting(&self) -> usize {
        self.inbox.max_capacity() - self.inbox.capacity() + self.aside.load(Ordering::Relaxed)
    }

    /// The newest events of a tenant that are wanted, at most `count`, newest first.
    pub(in crate::gateway) async fn list(
        &self,
        tenant: &TenantId,
        wanted: &Wanted,
        count: usize,
    ) -> Result<Listing, Unavailable> {
        self.chain.list(tenant, wanted, count).await
    }

    /// The newest events of these kinds, newest first: at most so many, among at most so many records at the end of the trail.
    pub(in crate::gateway) async fn newest_of(
        &self,
        tenant: &TenantId,
        deeds: &[Deed],
        bounds: (usize, u64),
    ) -> Result<Vec<Written>, Unavailable> {
        self.chain.newest_of(tenant, deeds, bounds).await
    }

    /// The newest events of a tenant, whatever they are, newest first; none when they cannot be read.
    #[cfg(test)]
    pub(in crate::gateway) async fn newest(&self, tenant: &TenantId, count: usize) -> Vec<Written> {
        let lines = self.list(tenant, &Wanted::All, count).await.map(|listing| listing.lines).unwrap_or_default();
        let event = |line| if let Line::Event(written) = line { Some(written) } else { None };
        lines.into_iter().filter_map(event).collect()
    }

    /// The `count` events of a tenant below the number `before`, newest first; from the end where none is named.
    pub(in crate::gateway) async fn part(&self, tenant: &TenantId, before: Option<u64>, count: u64) -> Result<Part, Unavailable> {
        self.chain.part(tenant, before, count).await
    }

    /// What the last check of a tenant's chain found that somebody asked for.
    pub(in crate::gateway) async fn last_check(&self, tenant: &TenantId) -> Result<Option<Check>, Unavailable> {
        self.chain.last_check(tenant).await
    }

    /// Begins to check the chain of a tenant in the background; `event` with the outcome behind its detail is written down when
    /// that is done. False when a check runs or has just ended.
    pub(in crate::gateway) async fn check(
        &self,
        tenant: &TenantId,
        event: Event,
        shutdown: &Shutdown,
    ) -> Result<bool, Unavailable> {
        let (audit, whose) = (self.clone(), tenant.clone());
        let told = move |found: &Found| {
            let detail = format!("{}_{}", event.detail, found.name());
            audit.record(&whose, Event { detail, ..event });
        };
        self.chain.begin_check(tenant, told, shutdown).await
    }

    /// Checks the whole chain of a tenant.
    pub(in crate::gateway) async fn verify(&self, tenant: &TenantId) -> Result<Verdict, Unavailable> {
        self.chain.verify(tenant).await
    }
}

async fn begin(chain: &Chain, tenants: &[TenantId]) -> Result<(), Unavailable> {
    for tenant in tenants {
        chain.begin(tenant).await?;
    }
    Ok(())
}

/// The one line of an event.
fn tell(tenant: &TenantId, written: Option<(u64, &str)>, event: &Event) {
    let Event { deed, detail, user, session, network, request_id } = event;
    let (number, hash) = written.unwrap_or_default();
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let (user, session, network, request_id) = (known(user), known(session), known(network), known(request_id));
    tracing::info!(target: "cardea::audit", %tenant, number, deed = deed.name(), detail, user, session, network, request_id, hash, "audit");
}

/// An event that is in the log only.
fn lose(parcel: &Parcel) {
    metrics::counter!("cardea_audit_lost_total").increment(1);
    tell(&parcel.tenant, None, &parcel.event);
}

/// Events of tenants whose trail is damaged, in their order.
struct Aside {
    queues: HashMap<TenantId, VecDeque<Parcel>>,
    room: usize,
    count: Arc<AtomicUsize>,
}

impl Aside {
    fn push(&mut self, parcel: Parcel) {
        let room = if parcel.event.deed.is_strangers() { self.room / 2 } else { self.room };
        if self.count.load(Ordering::Relaxed) >= room {
            return lose(&parcel);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.queues.entry(parcel.tenant.clone()).or_default().push_back(parcel);
    }

    /// The first that waits for this tenant's trail. It counts until it is written.
    fn first(&mut self, tenant: &TenantId) -> Option<Parcel> {
        self.queues.get_mut(tenant)?.pop_front()
    }

    /// Puts that one back.
    fn back(&mut self, parcel: Parcel) {
        self.queues.entry(parcel.tenant.clone()).or_default().push_front(parcel);
    }

    /// Whether none waits for this tenant's trail; then it is no longer set aside.
    fn is_done(&mut self, tenant: &TenantId) -> bool {
        let is_done = self.queues.get(tenant).is_none_or(VecDeque::is_empty);
        is_done && self.queues.remove(tenant).is_some()
    }
}

struct Writer {
    outbox: mpsc::Receiver<Parcel>,
    chain: Arc<Chain>,
    strangers: Arc<Strangers>,
    /// The end of each chain as this process knows it.
    ends: HashMap<TenantId, End>,
    aside: Aside,
    shutdown: Shutdown,
}

impl Writer {
    async fn run(mut self) {
        let shutdown = self.shutdown.clone();
        let (mut ticks, mut tries) = (tokio::time::interval(TICK), tokio::time::interval(MENDED));
        tries.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                parcel = self.outbox.recv() => match parcel {
                    Some(parcel) => self.write(parcel).await,
                    None => break,
                },
                _ = ticks.tick() => {
                    let due = self.strangers.due(self.chain.clock.now());
                    self.write_all(due).await;
                }
                _ = tries.tick() => self.try_again().await,
                () = shutdown.begun() => break,
            }
        }
        // What was recorded before the end is still written; requests that drain record on.
        while let Ok(Some(parcel)) = tokio::time::timeout(AGAIN, self.outbox.recv()).await {
            self.write(parcel).await;
        }
        let rest = self.strangers.rest();
        self.write_all(rest).await;
        self.try_again().await;
        self.aside.queues.values().flatten().for_each(lose);
    }

    async fn write_all(&mut self, events: Vec<(TenantId, Event)>) {
        let at = self.chain.clock.now();
        for (tenant, event) in events {
            self.write(Parcel { tenant, at, event }).await;
        }
    }

    /// Writes an event, or sets it aside behind those that wait for the same damaged trail.
    async fn write(&mut self, parcel: Parcel) {
        if !self.aside.queues.contains_key(&parcel.tenant) {
            let Err(trouble) = self.append(&parcel).await else { return };
            let tenant = &parcel.tenant;
            tracing::error!(%tenant, %trouble, "the audit trail of this tenant is damaged: its events wait until it is mended; others' trails go on");
        }
        self.aside.push(parcel);
    }

    /// Looks whether damaged trails take events again.
    async fn try_again(&mut self) {
        for tenant in self.aside.queues.keys().cloned().collect::<Vec<_>>() {
            while let Some(parcel) = self.aside.first(&tenant) {
                if self.append(&parcel).await.is_err() {
                    self.aside.back(parcel);
                    break;
                }
                self.aside.count.fetch_sub(1, Ordering::Relaxed);
            }
            if self.aside.is_done(&tenant) {
                tracing::info!(%tenant, "the audit trail of this tenant goes on");
            }
        }
    }

    /// Appends an event. Waits for a store that is away; a trail that is damaged is the caller's.
    async fn append(&mut self, parcel: &Parcel) -> Result<(), Trouble> {
        let Parcel { tenant, at, event } = parcel;
        loop {
            let known = self.ends.get(tenant).cloned();
            match self.chain.append(tenant, known, *at, event).await {
                Ok(end) => {
                    tell(tenant, Some((end.number, &end.hash)), event);
                    self.ends.insert(tenant.clone(), end);
                    return Ok(());
                }
                Err(Trouble::Store(error)) => {
                    tracing::warn!(%tenant, %error, "an audit event is not written yet; trying again");
                    self.ends.remove(tenant);
                }
                Err(trouble) => {
                    self.ends.remove(tenant);
                    return Err(trouble);
                }
            }
            if self.shutdown.has_begun() {
                lose(parcel);
                return Ok(());
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}
