//! One question at a time: whoever asks what is being asked already waits for that answer. One who goes away leaves the
//! question to the next who waits.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::tiers::Slot;

/// Questions under way in this process, on whatever worker. Cheap to clone.
pub(super) struct Flights<T>(Arc<Mutex<HashMap<Slot, watch::Receiver<Option<T>>>>>);

impl<T> Clone for Flights<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

/// Who asks.
pub(super) enum Seat<T> {
    /// Nobody asks this yet.
    Leader(Leader<T>),
    Follower(Follower<T>),
}

/// The one who asks. Dropped before it lands, the next who waits asks.
pub(super) struct Leader<T> {
    pub(super) slot: Slot,
    flights: Flights<T>,
    to: Option<watch::Sender<Option<T>>>,
}

/// One who waits.
pub(super) struct Follower<T>(watch::Receiver<Option<T>>);

impl<T: Clone> Flights<T> {
    /// Takes a seat.
    pub(super) fn seat(&self, slot: Slot) -> Seat<T> {
        match self.all().entry(slot) {
            Entry::Occupied(entry) => Seat::Follower(Follower(entry.get().clone())),
            Entry::Vacant(entry) => {
                let (to, from) = watch::channel(None);
                entry.insert(from);
                Seat::Leader(Leader { slot, flights: self.clone(), to: Some(to) })
            }
        }
    }
}

impl<T> Flights<T> {
    fn all(&self) -> MutexGuard<'_, HashMap<Slot, watch::Receiver<Option<T>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are under way.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all().len()
    }
}

impl<T> Leader<T> {
    /// Gives everybody who waits the answer. Who comes later finds it kept, or asks anew.
    pub(super) fn land(mut self, answer: T) {
        if let Some(to) = self.leave() {
            to.send_replace(Some(answer));
        }
    }

    fn leave(&mut self) -> Option<watch::Sender<Option<T>>> {
        let to = self.to.take()?;
        self.flights.all().remove(&self.slot);
        Some(to)
    }
}

impl<T> Drop for Leader<T> {
    fn drop(&mut self) {
        // The sender goes with it, which is how those who wait know.
        self.leave();
    }
}

impl<T: Clone> Follower<T> {
    /// The answer; `None` when the one who asked went away.
    pub(super) async fn landed(mut self) -> Option<T> {
        self.0.wait_for(Option::is_some).await.ok().and_then(|answer| answer.clone())
    }
}
