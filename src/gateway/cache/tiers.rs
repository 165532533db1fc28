//! Where answers are kept: in memory, up to so many bytes, and in the store, sealed, for other replicas and after a restart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::epochs::record_of;
use super::kept::Kept;
use super::key::Question;
use super::record;
use crate::config::cache::Cache as Settings;
use crate::gateway::store::{Key, Store};
use crate::platform::clock::Timestamp;
use crate::platform::digest::hex;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// Questions whose answers forbid being kept, and tasks that are known to have ended, that are remembered at most.
const REMEMBERED: u64 = 100_000;
/// Whoever asks what may not be kept does not wait for others for this long.
const PASS: Duration = Duration::from_secs(10);
/// Answers on their way into the store at once; more are left out of it.
const WRITES: usize = 32;
/// What the store's records are sealed for.
const PURPOSE: &str = "cache";

/// Place of an answer: its question, and the epoch of what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) digest: [u8; 32],
    pub(super) epoch: u64,
}

/// The answers in memory, and what is remembered of questions.
pub(super) struct Memory {
    answers: Cache<Slot, Arc<Kept>>,
    passed: Cache<Slot, ()>,
    ended: Cache<Slot, ()>,
}

/// An answer leaves memory with the end of its life.
struct Whole;

impl Expiry<Slot, Arc<Kept>> for Whole {
    fn expire_after_create(&self, _: &Slot, kept: &Arc<Kept>, _: Instant) -> Option<Duration> {
        Some(kept.left)
    }

    fn expire_after_update(&self, _: &Slot, kept: &Arc<Kept>, _: Instant, _: Option<Duration>) -> Option<Duration> {
        Some(kept.left)
    }
}

impl Memory {
    /// At most `bytes` of answers. Tasks are known to have ended for `longest`.
    pub(super) fn new(bytes: u64, longest: Duration) -> Self {
        let answers =
            Cache::builder().max_capacity(bytes).weigher(|_, kept: &Arc<Kept>| kept.weight()).expire_after(Whole).build();
        let passed = Cache::builder().max_capacity(REMEMBERED).time_to_live(PASS).build();
        let ended = Cache::builder().max_capacity(REMEMBERED).time_to_live(longest.max(Duration::from_secs(1))).build();
        Self { answers, passed, ended }
    }

    pub(super) async fn get(&self, slot: &Slot) -> Option<Arc<Kept>> {
        self.answers.get(slot).await
    }

    pub(super) async fn insert(&self, slot: Slot, kept: Arc<Kept>) {
        self.answers.insert(slot, kept).await;
    }

    pub(super) async fn remove(&self, slot: &Slot) {
        self.answers.invalidate(slot).await;
    }

    /// The answers to this question are not kept: nobody is to wait for one.
    pub(super) async fn pass(&self, slot: Slot) {
        self.passed.insert(slot, ()).await;
    }

    pub(super) fn is_passed(&self, slot: &Slot) -> bool {
        self.passed.contains_key(slot)
    }

    /// Remembers that a task has ended, or that it has not.
    pub(super) async fn note_task(&self, task: Slot, has_ended: bool) {
        if has_ended {
            self.ended.insert(task, ()).await;
        } else {
            self.ended.invalidate(&task).await;
        }
    }

    pub(super) fn has_ended(&self, task: &Slot) -> bool {
        self.ended.contains_key(task)
    }

    /// Lets go of what is over. Gives the bytes that are taken.
    pub(super) async fn tidy(&self) -> u64 {
        self.answers.run_pending_tasks().await;
        self.passed.run_pending_tasks().await;
        self.ended.run_pending_tasks().await;
        self.answers.weighted_size()
    }
}

/// The answers in the store.
pub(super) struct Shelf {
    store: Store,
    ring: Arc<Ring>,
    shutdown: Shutdown,
    /// Answers that are fresh for less are not put there.
    from: Duration,
    largest: usize,
    wait: Duration,
    writes: Arc<Semaphore>,
}

/// What the store knows.
#[derive(Default)]
pub(super) struct Looked {
    /// The epoch in the store; `None` when it is not known, and then nothing may be written under it.
    pub(super) epoch: Option<u64>,
    pub(super) found: Option<Kept>,
}

impl Shelf {
    pub(super) fn new(store: Store, ring: Arc<Ring>, settings: &Settings, shutdown: Shutdown) -> Self {
        Self {
            store,
            ring,
            shutdown,
            from: Duration::from_millis(settings.store_from_ms),
            largest: settings.store_answer_bytes,
            wait: Duration::from_millis(settings.store_wait_ms),
            writes: Arc::new(Semaphore::new(WRITES)),
        }
    }

    /// Whether an answer of this life belongs there.
    pub(super) fn takes(&self, fresh: Duration) -> bool {
        self.largest > 0 && fresh >= self.from
    }

    /// Looks the question up. A store that is slow or away knows nothing.
    pub(super) async fn look(&self, question: &Question, now: Timestamp) -> Looked {
        let key = key(question);
        let epoch = async {
            match question.subject() {
                // 0 where nothing was ever changed.
                Some(subject) => {
                    let record = self.store.get(&record_of(&question.tenant, subject)).await?;
                    Ok(record.map_or(0, |record| record.version.0))
                }
                None => Ok(0),
            }
        };
        let both = futures_util::future::try_join(epoch, self.store.get(&key));
        let Ok(Ok((epoch, record))) = timeout(self.wait, both).await else { return Looked::default() };
        let found = record.and_then(|record| {
            let plain = self.ring.open(PURPOSE, &key.context(), &[], &record.value).ok()?;
            record::read(&plain, epoch, record.expires_in?, now)
        });
        Looked { epoch: Some(epoch), found }
    }

    /// Writes an answer behind the request.
    pub(super) fn put(&self, question: &Question, epoch: u64, kept: &Arc<Kept>) {
        if kept.body.len() > self.largest {
            return;
        }
        let Ok(permit) = Arc::clone(&self.writes).try_acquire_owned() else { return };
        let (store, ring, key, kept) = (self.store.clone(), Arc::clone(&self.ring), key(question), Arc::clone(kept));
        self.shutdown.spawn(async move {
            let plain = record::write(&kept, epoch);
            let sealed = ring.seal(PURPOSE, &key.context(), &[], &plain);
            if let Ok(sealed) = sealed
                && let Err(error) = store.put(&key, sealed, Some(kept.left)).await
            {
                tracing::debug!(%error, "an answer is kept in memory only");
            }
            drop(permit);
        });
    }

    /// Deletes an answer, behind the request.
    pub(super) fn forget(&self, question: &Question) {
        let (store, key) = (self.store.clone(), key(question));
        self.shutdown.spawn(async move {
            if let Err(error) = store.delete(&key).await {
                tracing::debug!(%error, "an answer that is over stays in the store until it runs out");
            }
        });
    }
}

/// Name of the answer in the store. The tenant is part of it, and of what the record is bound to.
fn key(question: &Question) -> Key {
    Key::new(&question.tenant, "cache", &hex(&question.digest))
}
