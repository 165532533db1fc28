//! Who may use something scarce now (a remote browser, an analysis): limits for each account and for all of them, and a short
//! queue before them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// How many places there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) per_account: usize,
    pub(super) all: usize,
    /// How many of an account may wait, how many in all, and how long.
    pub(super) waiting_per_account: usize,
    pub(super) waiting: usize,
    pub(super) patience: Duration,
}

/// Cheap to clone; clones count together.
#[derive(Clone)]
pub(super) struct Places(Arc<Inner>);

struct Inner {
    limits: Limits,
    taken: Mutex<Taken>,
    freed: watch::Sender<()>,
}

#[derive(Default)]
struct Taken {
    by_account: HashMap<String, Count>,
    all: Count,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    inside: usize,
    waiting: usize,
}

impl Taken {
    fn of(&self, account: &str) -> Count {
        self.by_account.get(account).copied().unwrap_or_default()
    }

    /// Changes the count of an account and of all.
    fn change(&mut self, account: &str, change: impl Fn(&mut Count)) {
        change(&mut self.all);
        let own = self.by_account.entry(account.to_owned()).or_default();
        change(own);
        if *own == Count::default() {
            self.by_account.remove(account);
        }
    }
}

/// A place that is free again when this is dropped.
pub(super) struct Place {
    places: Places,
    account: String,
}

/// No place came free in time, or too many wait already.
#[derive(Debug)]
pub(super) struct Full;

/// Somebody in the queue; leaves it when dropped, however that happens.
struct Waiting<'a>(&'a Inner, &'a str);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.taken().change(self.1, |count| count.waiting -= 1);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.0.taken().change(&self.account, |count| count.inside -= 1);
        self.places.0.freed.send_replace(());
    }
}

impl Inner {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    pub(super) fn new(limits: Limits) -> Self {
        Self(Arc::new(Inner { limits, taken: Mutex::default(), freed: watch::Sender::new(()) }))
    }

    /// A place for `account`, now or within the time of the queue.
    pub(super) async fn take(&self, account: &str) -> Result<Place, Full> {
        let mut freed = self.0.freed.subscribe();
        if let Some(place) = self.try_take(account) {
            return Ok(place);
        }
        let _waiting = self.queue_up(account).ok_or(Full)?;
        let wait = async {
            loop {
                if freed.changed().await.is_err() {
                    return Err(Full);
                }
                if let Some(place) = self.try_take(account) {
                    return Ok(place);
                }
            }
        };
        tokio::time::timeout(self.0.limits.patience, wait).await.unwrap_or(Err(Full))
    }

    fn queue_up<'a>(&'a self, account: &'a str) -> Option<Waiting<'a>> {
        let Limits { waiting_per_account, waiting, .. } = self.0.limits;
        let mut taken = self.0.taken();
        if taken.of(account).waiting >= waiting_per_account || taken.all.waiting >= waiting {
            return None;
        }
        taken.change(account, |count| count.waiting += 1);
        Some(Waiting(&self.0, account))
    }

    fn try_take(&self, account: &str) -> Option<Place> {
        let mut taken = self.0.taken();
        if taken.of(account).inside >= self.0.limits.per_account || taken.all.inside >= self.0.limits.all {
            return None;
        }
        taken.change(account, |count| count.inside += 1);
        Some(Place { places: self.clone(), account: account.to_owned() })
    }
}
