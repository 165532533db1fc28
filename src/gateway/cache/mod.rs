//! Answers of the scanning service, kept for those who ask the same again: keys, policy, two tiers, one flight at a time.
//!
//! Kept for one asker and never given to another; knows no HTTP but its values, asks nobody but the store, and takes what
//! asks the service as a closure. A change ends what it is about on all replicas (`epochs`). How long what is kept:
//! `policy`; what makes two questions one: `key`.

mod asking;
mod canonical;
mod epochs;
mod flight;
pub(in crate::gateway) mod fuzzing;
mod kept;
mod key;
mod policy;
mod record;
#[cfg(test)]
pub(in crate::gateway) mod tests;
mod tiers;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use metrics::Counter;

use self::asking::Landing;
use self::epochs::Epochs;
use self::flight::Flights;
pub(in crate::gateway) use self::kept::{CacheStatus, Fetched, JUDGED, Kept, Why};
pub(in crate::gateway) use self::key::{Asked, Question, Whose};
use self::policy::Policy;
pub(in crate::gateway) use self::policy::is_no_store;
use self::tiers::{Memory, Shelf};
use super::domain::route_table::Subject;
use super::domain::tenant::TenantId;
use super::store::Store;
use crate::config::cache::Cache as Settings;
use crate::platform::clock::Clock;
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// What is over is let go of, and the bytes are measured, this often.
const TIDY: Duration = Duration::from_secs(10);

/// A failure to ask the service.
pub(in crate::gateway) trait StaleOk: Clone + Send + Sync + 'static {
    /// Whether it is about the service (away, too slow, overloaded): then an old answer is better than none, and whoever
    /// waited for the same answer fails with it. Any other failure is the caller's own.
    fn may_serve_stale(&self) -> bool;

    /// Whether the service was not asked at all, this caller having been given no place there: whoever waited for the same answer
    /// may still have one, and does not fail with it.
    fn lacks_place(&self) -> bool;
}

/// The cache. Cheap to clone; clones are the same cache. `E` is what asking may fail with.
pub(in crate::gateway) struct Cache<E>(Arc<Inner<E>>);

impl<E> Clone for Cache<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Inner<E> {
    policy: Policy,
    memory: Memory,
    shelf: Shelf,
    epochs: Epochs,
    flights: Flights<Landing<E>>,
    clock: Clock,
    shutdown: Shutdown,
    /// After trouble the service is not asked the same for this long, where there is an old answer.
    rest: Duration,
    is_on: bool,
    tally: OnceLock<Tally>,
}

/// How answers came about. Looked up once: a look-up takes longer than counting.
struct Tally {
    hit: Counter,
    miss: Counter,
    stale: Counter,
    bypass: Counter,
    coalesced: Counter,
}

impl Tally {
    fn new() -> Self {
        let of = |outcome: &'static str| metrics::counter!("cardea_cache_total", "outcome" => outcome);
        Self { hit: of("hit"), miss: of("miss"), stale: of("stale"), bypass: of("bypass"), coalesced: of("coalesced") }
    }
}

/// An answer with how it came to be.
type Given = (Arc<Kept>, CacheStatus);

/// How the service is to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Wish {
    /// For whoever asks the same: all of the answer, with no `HEAD`, no range and no condition of the caller's.
    ForAll,
    /// For this caller, and nobody keeps it.
    AsItComes,
}

/// What asking brings.
#[derive(Clone, Debug)]
pub(in crate::gateway) enum Brought<P> {
    Whole(Fetched),
    /// For the one who asked, as it comes, with its status: too large to be kept, or a stream. `P` is the cache's to hand on.
    Passing(u16, P),
}

impl<P> Brought<P> {
    const fn status(&self) -> u16 {
        match self {
            Self::Whole(fetched) => fetched.status,
            Self::Passing(status, _) => *status,
        }
    }
}

/// What the answer to a question is.
#[derive(Debug)]
pub(in crate::gateway) enum Answer<P> {
    /// All of it, kept or not.
    Kept(Arc<Kept>),
    /// As it comes.
    Passing(P),
}

/// The same, with how it came to be.
type Answered<P> = (Answer<P>, CacheStatus);

fn whole<P>((kept, status): Given) -> Answered<P> {
    (Answer::Kept(kept), status)
}

impl<E: StaleOk> Cache<E> {
    /// A cache for these tenants. Listens to changes on other replicas until the end of the process.
    ///
    /// # Errors
    /// When the operating system has no randomness.
    pub(in crate::gateway) fn new(
        settings: &Settings,
        tenants: impl IntoIterator<Item = TenantId>,
        (store, ring): (&Store, &Arc<Ring>),
        clock: &Clock,
        shutdown: &Shutdown,
    ) -> Result<Self, random::Unavailable> {
        let policy = Policy::new(settings);
        let times = (policy.longest(), Duration::from_millis(settings.store_wait_ms));
        let cache = Self(Arc::new(Inner {
            memory: Memory::new(settings.memory_bytes, policy.longest()),
            shelf: Shelf::new(store.clone(), Arc::clone(ring), settings, shutdown.clone()),
            epochs: Epochs::new(tenants, times, store, shutdown)?,
            flights: Flights::default(),
            clock: clock.clone(),
            shutdown: shutdown.clone(),
            rest: Duration::from_millis(settings.rest_ms),
            is_on: settings.memory_bytes > 0,
            tally: OnceLock::new(),
            policy,
        }));
        let (tidied, end) = (cache.clone(), shutdown.clone());
        shutdown.spawn(async move {
            while end.pause(TIDY).await {
                tidied.measure().await;
            }
        });
        Ok(cache)
    }

    fn tally(&self) -> &Tally {
        self.0.tally.get_or_init(Tally::new)
    }

    /// What is kept in memory and good as it is, for those who would need more to have an [`answer`](Cache::answer).
    pub(in crate::gateway) async fn at_hand(&self, question: &Question) -> Option<Given> {
        let kept = self.0.memory.get(&self.slot(question)?).await?;
        self.as_it_is(&kept)
    }

    /// The answer to a question: one that is kept, that of another who asks the same at this moment, or that of `ask`. When
    /// it may be given out stale, `ask` goes on behind the request, on this thread: call it on a worker, or in a `LocalSet`.
    ///
    /// # Errors
    /// What `ask` fails with, here or for the one who asked.
    pub(in crate::gateway) async fn answer<A, F, P>(&self, question: &Question, ask: A) -> Result<Answered<P>, E>
    where
        A: FnOnce(Wish) -> F + 'static,
        F: Future<Output = Result<Brought<P>, E>> + 'static,
        P: 'static,
    {
        let Some(slot) = self.slot(question) else { return Box::pin(self.alone(Why::Bypass, ask)).await };
        if let Some(kept) = self.0.memory.get(&slot).await
            && let Some(given) = self.as_it_is(&kept)
        {
            return Ok(whole(given));
        }
        // In a box: whoever finds it kept does not carry the room for this.
        Box::pin(self.ask_or_wait(slot, question, ask)).await
    }

    /// Ends what is kept of these subjects, here at once and on other replicas as soon as they can be told. To be called when
    /// the service has answered a change, whatever it said.
    #[cfg(test)]
    pub(in crate::gateway) async fn changed(&self, tenant: &TenantId, subjects: &[Subject]) {
        if subjects.is_empty() {
            return;
        }
        self.0.epochs.change(tenant, subjects);
        self.0.epochs.tell().await;
    }

    /// For a change that is about to be sent: what is kept of these subjects ends with it. When its request is dropped on the way,
    /// nobody knows when it comes about, so that for a while nothing that is read meanwhile lasts.
    pub(in crate::gateway) fn changing(&self, tenant: &TenantId, subjects: &'static [Subject]) -> Changing {
        self.changing_for(tenant, subjects, false)
    }

    /// The same for somebody of whom the service may have accepted nothing yet, and most likely refuses this.
    pub(in crate::gateway) fn changing_for(
        &self,
        tenant: &TenantId,
        subjects: &'static [Subject],
        by_stranger: bool,
    ) -> Changing {
        Changing { epochs: self.0.epochs.clone(), tenant: tenant.clone(), subjects, by_stranger, is_over: false }
    }

    async fn measure(&self) {
        let bytes = self.0.memory.tidy().await;
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float; bytes of memory fit its 53 bits")]
        metrics::gauge!("cardea_cache_bytes").set(bytes as f64);
    }
}

/// A change on its way to the service.
#[must_use = "what is kept ends when this is dropped"]
pub(in crate::gateway) struct Changing {
    epochs: Epochs,
    tenant: TenantId,
    subjects: &'static [Subject],
    by_stranger: bool,
    is_over: bool,
}

impl Changing {
    /// The service has answered, or will not any more: with `is_open` nobody knows what it does still. Waits for other replicas to be
    /// told, not for long.
    pub(in crate::gateway) async fn done(mut self, is_open: bool) {
        if self.end() {
            if is_open {
                self.leave_open();
            }
            Box::pin(self.epochs.tell()).await;
        }
    }

    /// A stranger moves the epochs once at most: nobody keeps what a company reads from being kept.
    fn leave_open(&self) {
        if !self.by_stranger {
            self.epochs.leave_open(&self.tenant, self.subjects);
        }
    }

    fn end(&mut self) -> bool {
        let ends = !self.is_over && !self.subjects.is_empty();
        if ends {
            self.epochs.change(&self.tenant, self.subjects);
        }
        self.is_over = true;
        ends
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        if self.end() {
            self.leave_open();
            self.epochs.tell_later();
        }
    }
}
