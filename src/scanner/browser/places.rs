//! Who may open a browser now: limits for each account and for the host, and a short queue before them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::config::scanner::Browser as Settings;

/// Cheap to clone; clones count together.
#[derive(Clone)]
pub(super) struct Places(Arc<Inner>);

struct Inner {
    per_account: usize,
    per_host: usize,
    queue: usize,
    patience: Duration,
    taken: Mutex<Taken>,
    freed: watch::Sender<()>,
}

#[derive(Default)]
struct Taken {
    by_account: HashMap<String, usize>,
    all: usize,
    waiting: usize,
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
struct Waiting<'a>(&'a Inner);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.taken().waiting -= 1;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.taken();
        taken.all -= 1;
        if let Some(count) = taken.by_account.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                taken.by_account.remove(&self.account);
            }
        }
        drop(taken);
        self.places.0.freed.send_replace(());
    }
}

impl Inner {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    pub(super) fn new(settings: &Settings) -> Self {
        Self(Arc::new(Inner {
            per_account: settings.per_account,
            per_host: settings.per_host,
            queue: settings.queue,
            patience: Duration::from_secs(settings.queue_seconds),
            taken: Mutex::default(),
            freed: watch::Sender::new(()),
        }))
    }

    /// A place for `account`, now or within the time of the queue.
    pub(super) async fn take(&self, account: &str) -> Result<Place, Full> {
        let mut freed = self.0.freed.subscribe();
        if let Some(place) = self.try_take(account) {
            return Ok(place);
        }
        let _waiting = self.queue_up().ok_or(Full)?;
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
        tokio::time::timeout(self.0.patience, wait).await.unwrap_or(Err(Full))
    }

    fn queue_up(&self) -> Option<Waiting<'_>> {
        let mut taken = self.0.taken();
        (taken.waiting < self.0.queue).then(|| taken.waiting += 1)?;
        Some(Waiting(&self.0))
    }

    fn try_take(&self, account: &str) -> Option<Place> {
        let mut taken = self.0.taken();
        let own = taken.by_account.get(account).copied().unwrap_or_default();
        if own >= self.0.per_account || taken.all >= self.0.per_host {
            return None;
        }
        taken.by_account.insert(account.to_owned(), own + 1);
        taken.all += 1;
        Some(Place { places: self.clone(), account: account.to_owned() })
    }
}
