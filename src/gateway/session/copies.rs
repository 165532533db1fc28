//! Decoded sessions, kept in this process for at most a second: a page and its parts cost one look into the store. A copy is
//! dropped as soon as word comes that its session ended or changed, on whatever replica; its age counts from before the
//! store was asked, so that without any word it is never older than that second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::future::Cache;
use tokio::time::Instant;

use super::ending::{CHANGED, ENDED, Word};
use super::portal::{SignedIn, State};
use super::scope::Owner;
use crate::gateway::store::{Event, Key, Store, Subscription, Version};
use crate::platform::clock::Timestamp;
use crate::platform::shutdown::Shutdown;

/// A cookie on the host of another tenant is written down once in this time, however often it comes.
const NOTED_FOR: Duration = Duration::from_mins(10);
const NOTED: u64 = 10_000;

/// A session as it was read.
#[derive(Clone)]
pub(super) struct Copy {
    pub(super) read_at: Instant,
    pub(super) state: Arc<State>,
    /// Who is signed in, read from the state once.
    pub(super) user: Option<Arc<SignedIn>>,
    /// Its user has another role now than in the record.
    pub(super) is_outgrown: bool,
    pub(super) version: Version,
    pub(super) started_at: Timestamp,
    pub(super) owner: Option<Arc<Owner>>,
    /// When it runs out unless it is used.
    pub(super) runs_out: Timestamp,
}

/// The copies of one process. Cheap to clone.
#[derive(Clone)]
pub(super) struct Copies(Arc<Inner>);

struct Inner {
    kept: Cache<Key, Copy>,
    /// Cookies of other tenants that were written down lately.
    noted: Cache<Key, ()>,
    life: Duration,
    /// Counts everything that was dropped: what was read before and comes after is not kept.
    dropped: AtomicU64,
}

impl Copies {
    /// At most `count` copies that live `life`; none at all for a life of zero. Listens to the other replicas until the end
    /// of the process.
    pub(super) fn new(life: Duration, count: u64, store: &Store, shutdown: &Shutdown) -> Self {
        let kept = Cache::builder().max_capacity(count).time_to_live(life.max(Duration::from_millis(1))).build();
        let noted = Cache::builder().max_capacity(NOTED).time_to_live(NOTED_FOR).build();
        let copies = Self(Arc::new(Inner { kept, noted, life, dropped: AtomicU64::new(0) }));
        for channel in [ENDED, CHANGED] {
            let (copies, events, end) = (copies.clone(), store.subscribe(channel), shutdown.clone());
            shutdown.spawn(async move {
                tokio::select! {
                    () = copies.listen(events) => {}
                    () = end.begun() => {}
                }
            });
        }
        copies
    }

    /// A copy that is young enough.
    pub(super) async fn get(&self, key: &Key) -> Option<Copy> {
        self.0.kept.get(key).await.filter(|copy| copy.read_at.elapsed() < self.0.life)
    }

    /// To be asked before the store is, and given to [`Copies::keep`] after.
    pub(super) fn moment(&self) -> Moment {
        Moment { read_at: Instant::now(), dropped: self.0.dropped.load(Ordering::SeqCst) }
    }

    /// Keeps what was read since `moment`, unless something was dropped meanwhile: it may have been this.
    pub(super) async fn keep(&self, moment: &Moment, key: &Key, copy: Copy) {
        let unchanged = || self.0.dropped.load(Ordering::SeqCst) == moment.dropped;
        if self.0.life.is_zero() || !unchanged() {
            return;
        }
        self.0.kept.insert(key.clone(), copy).await;
        if !unchanged() {
            self.0.kept.invalidate(key).await;
        }
    }

    /// The session was given time until `runs_out`.
    pub(super) async fn extended(&self, key: &Key, runs_out: Timestamp) {
        let moment = self.moment();
        if let Some(copy) = self.get(key).await {
            self.keep(&moment, key, Copy { runs_out, ..copy }).await;
        }
    }

    /// The session ended or changed.
    pub(super) async fn drop_one(&self, key: &Key) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
        self.0.kept.invalidate(key).await;
    }

    /// Whether this cookie is seen on this tenant's host for the first time in a while.
    pub(super) async fn is_news(&self, key: Key) -> bool {
        self.0.noted.entry(key).or_insert(()).await.is_fresh()
    }

    async fn listen(&self, mut events: Subscription) {
        loop {
            match events.next().await {
                Some(Event::Message(text)) => {
                    if let Some(Word { tenant, session, .. }) = Word::read(&text) {
                        self.drop_one(&Key::new(&tenant, "session", &session)).await;
                    } else {
                        tracing::warn!("a message about a session cannot be read");
                    }
                }
                Some(Event::Missed) => {
                    self.0.dropped.fetch_add(1, Ordering::SeqCst);
                    self.0.kept.invalidate_all();
                }
                None => return,
            }
        }
    }
}

/// The state of the copies before the store was asked.
pub(super) struct Moment {
    pub(super) read_at: Instant,
    dropped: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::store::tests::bench::{Bench, acme};

    #[tokio::test]
    async fn no_more_copies_are_kept_than_allowed_and_none_that_was_dropped_meanwhile() {
        let bench = Bench::file();
        let copies = Copies::new(Duration::from_secs(1), 2, &bench.store, &bench.shutdown);
        let copy = |moment: &Moment| Copy {
            read_at: moment.read_at,
            state: Arc::default(),
            user: None,
            is_outgrown: false,
            version: Version(1),
            started_at: Timestamp(0),
            owner: None,
            runs_out: Timestamp(i64::MAX),
        };
        for number in 0..20 {
            let moment = copies.moment();
            copies.keep(&moment, &Key::new(&acme(), "session", &number.to_string()), copy(&moment)).await;
        }
        copies.0.kept.run_pending_tasks().await;
        assert!(copies.0.kept.entry_count() <= 2, "{}", copies.0.kept.entry_count());
        let (key, moment) = (Key::new(&acme(), "session", "a"), copies.moment());
        copies.drop_one(&key).await;
        copies.keep(&moment, &key, copy(&moment)).await;
        assert!(copies.get(&key).await.is_none(), "it was read before it was dropped");
    }
}
