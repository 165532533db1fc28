//! What was read of a tenant's record, believed in this process for a moment: a call costs no look into the store, and no
//! guess at a key does. A copy goes as soon as word of a change comes; its age counts from before the store was asked, so that
//! without any word it is never older than it may be.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::{Event, Store, Subscription};
use crate::gateway::domain::tenant::TenantId;
use crate::platform::shutdown::Shutdown;

/// The copies of one process, one for each tenant. Cheap to clone.
///
/// `E` is why a reading came to nothing.
pub(in crate::gateway) struct Copies<T, E>(Arc<Inner<T, E>>);

struct Inner<T, E> {
    life: Duration,
    store: Store,
    channel: &'static str,
    places: RwLock<HashMap<TenantId, Arc<Place<T, E>>>>,
}

/// The copy of one tenant.
struct Place<T, E> {
    state: RwLock<State<T, E>>,
    /// Held by the one who reads; the others wait for what comes of it.
    turn: tokio::sync::Mutex<()>,
    /// For those who hold on to what a copy said.
    word: watch::Sender<()>,
}

struct State<T, E> {
    kept: Option<(Instant, Arc<T>)>,
    /// The last reading that came to nothing.
    failed: Option<(Instant, E)>,
    /// Counts changes: what was read before one and comes after it is not kept.
    changes: u64,
}

impl<T, E> Clone for Copies<T, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T, E> Default for Place<T, E> {
    fn default() -> Self {
        Self {
            state: RwLock::new(State { kept: None, failed: None, changes: 0 }),
            turn: tokio::sync::Mutex::default(),
            word: watch::Sender::default(),
        }
    }
}

impl<T, E> Place<T, E> {
    fn with<R>(&self, work: impl FnOnce(&mut State<T, E>) -> R) -> R {
        work(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn young(&self, life: Duration) -> Option<Arc<T>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.kept.as_ref().filter(|(read_at, _)| read_at.elapsed() < life).map(|(_, copy)| Arc::clone(copy))
    }

    fn forget(&self) {
        self.with(|state| {
            state.changes += 1;
            state.kept = None;
        });
        self.word.send_replace(());
    }
}

impl<T: Send + Sync + 'static, E: Clone + Send + Sync + 'static> Copies<T, E> {
    /// Copies that live `life`; none at all for a life of zero. Listens to the other replicas until the end of the process.
    pub(in crate::gateway) fn new(channel: &'static str, life: Duration, store: &Store, shutdown: &Shutdown) -> Self {
        let copies = Self(Arc::new(Inner { life, store: store.clone(), channel, places: RwLock::default() }));
        let (listening, events, end) = (copies.clone(), store.subscribe(channel), shutdown.clone());
        shutdown.spawn(async move {
            tokio::select! {
                () = listening.listen(events) => {}
                () = end.begun() => {}
            }
        });
        copies
    }

    /// The copy, or what `read` gives. Of many who ask at once one reads, and all get what came of it, failures too.
    pub(in crate::gateway) async fn get(&self, tenant: &TenantId, read: impl AsyncFnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let place = self.place(tenant);
        if let Some(copy) = place.young(self.0.life) {
            return Ok(copy);
        }
        let asked_at = Instant::now();
        let _turn = place.turn.lock().await;
        if let Some(copy) = place.young(self.0.life) {
            return Ok(copy);
        }
        let (failed, changes) = place.with(|state| (state.failed.clone(), state.changes));
        if let Some((_, error)) = failed.filter(|(at, _)| *at > asked_at) {
            return Err(error);
        }
        let read_at = Instant::now();
        let outcome = read().await.map(Arc::new);
        place.with(|state| match &outcome {
            Ok(copy) if state.changes == changes => (state.kept, state.failed) = (Some((read_at, Arc::clone(copy))), None),
            Ok(_) => state.failed = None,
            Err(error) => state.failed = Some((Instant::now(), error.clone())),
        });
        outcome
    }

    /// The record was changed here: the copy goes, on all replicas. Where word does not come, copies end by themselves.
    pub(in crate::gateway) async fn changed(&self, tenant: &TenantId) {
        self.forget(tenant);
        if let Err(error) = self.0.store.publish(self.0.channel, tenant.as_str().as_bytes()).await {
            tracing::warn!(%tenant, %error, channel = self.0.channel, "other replicas see a change only when their copies end");
        }
    }

    /// Word came that the record was changed elsewhere.
    pub(in crate::gateway) fn forget(&self, tenant: &TenantId) {
        self.place(tenant).forget();
    }

    /// Hears when the copy of a tenant goes because there is word of a change.
    pub(in crate::gateway) fn word(&self, tenant: &TenantId) -> watch::Receiver<()> {
        self.place(tenant).word.subscribe()
    }

    /// How long a copy lives.
    pub(in crate::gateway) fn life(&self) -> Duration {
        self.0.life
    }

    fn place(&self, tenant: &TenantId) -> Arc<Place<T, E>> {
        let known = self.0.places.read().unwrap_or_else(PoisonError::into_inner).get(tenant).cloned();
        known.unwrap_or_else(|| {
            let mut places = self.0.places.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(places.entry(tenant.clone()).or_default())
        })
    }

    async fn listen(&self, mut events: Subscription) {
        while let Some(event) = events.next().await {
            let tenant = match &event {
                Event::Message(text) => std::str::from_utf8(text).ok().and_then(|text| TenantId::parse(text).ok()),
                Event::Missed => None,
            };
            match tenant {
                Some(tenant) => self.forget(&tenant),
                // What cannot be read, or was lost, may have been about anybody.
                None => self.forget_all(),
            }
        }
    }

    fn forget_all(&self) {
        for place in self.0.places.read().unwrap_or_else(PoisonError::into_inner).values() {
            place.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::gateway::store::Unavailable;
    use crate::gateway::store::tests::bench::{Bench, acme, globex, until};

    const LIFE: Duration = Duration::from_mins(1);

    fn copies(bench: &Bench, life: Duration) -> Copies<usize, Unavailable> {
        Copies::new("test-changed", life, &bench.store, &bench.shutdown)
    }

    #[tokio::test]
    async fn of_many_who_ask_at_once_one_reads_and_a_copy_is_of_its_tenant_only() {
        let (bench, acme, reads) = (Bench::file(), acme(), AtomicUsize::new(0));
        let copies = copies(&bench, LIFE);
        let ask = || {
            copies.get(&acme, async || {
                tokio::task::yield_now().await;
                Ok(reads.fetch_add(1, Ordering::SeqCst))
            })
        };
        let all = futures_util::future::join_all((0..50).map(|_| ask())).await;
        assert!(all.into_iter().all(|copy| *copy.unwrap() == 0));
        assert_eq!(*copies.get(&globex(), async || Ok(7)).await.unwrap(), 7);
        copies.changed(&acme).await;
        assert_eq!(*ask().await.unwrap(), 1);
        assert_eq!(*copies.get(&globex(), async || Ok(8)).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn trouble_is_shared_by_those_who_waited_and_not_kept() {
        let (bench, acme, reads) = (Bench::file(), acme(), AtomicUsize::new(0));
        let copies = copies(&bench, LIFE);
        let ask = || {
            copies.get(&acme, async || {
                tokio::task::yield_now().await;
                reads.fetch_add(1, Ordering::SeqCst);
                Err(Unavailable("away".to_owned()))
            })
        };
        let all = futures_util::future::join_all((0..50).map(|_| ask())).await;
        assert!(all.into_iter().all(|copy| copy.is_err()));
        assert_eq!(reads.load(Ordering::SeqCst), 1);
        assert_eq!(*copies.get(&acme, async || Ok(9)).await.unwrap(), 9);
    }

    #[tokio::test]
    async fn what_was_read_before_a_change_is_not_kept_after_it() {
        let (bench, acme) = (Bench::file(), acme());
        let copies = copies(&bench, LIFE);
        let late = copies.get(&acme, async || {
            copies.changed(&acme).await;
            Ok(1)
        });
        assert_eq!(*late.await.unwrap(), 1);
        assert_eq!(*copies.get(&acme, async || Ok(2)).await.unwrap(), 2);
        let never: Copies<_, Unavailable> = Copies::new("test-never", Duration::ZERO, &bench.store, &bench.shutdown);
        for number in 0..3 {
            assert_eq!(*never.get(&acme, async || Ok(number)).await.unwrap(), number);
        }
    }

    #[tokio::test]
    async fn word_of_a_change_reaches_the_copies_of_others() {
        let bench = Bench::file();
        let (here, there) = (copies(&bench, LIFE), copies(&bench, LIFE));
        assert_eq!(*there.get(&acme(), async || Ok(1)).await.unwrap(), 1);
        here.changed(&acme()).await;
        until("the new copy", async || *there.get(&acme(), async || Ok(2)).await.unwrap() == 2).await;
        bench.store.publish("test-changed", b"cannot be read").await.unwrap();
        until("the newest copy", async || *there.get(&acme(), async || Ok(3)).await.unwrap() == 3).await;
    }
}
