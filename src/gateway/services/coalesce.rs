//! Questions that pages ask by themselves, asked once for all tabs of a sign-in: whoever comes while one is on its way waits
//! for its answer, and the answer is good for a moment. Failures too, so that a slow service is not asked in a queue.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Actor;
use super::error::Error;

/// Slots before old ones are looked for.
const MANY: usize = 256;

/// Answers by sign-in and subject. Cheap to clone; clones share them.
pub(super) struct Coalesced<V>(Arc<Inner<V>>);

struct Inner<V> {
    memory: Duration,
    slots: Mutex<HashMap<String, Slot<V>>>,
}

type Answer<V> = Option<(Instant, Result<V, Error>)>;
type Slot<V> = Arc<tokio::sync::Mutex<Answer<V>>>;

impl<V> Clone for Coalesced<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V: Clone> Coalesced<V> {
    /// Answers are good for `memory`.
    pub(super) fn new(memory: Duration) -> Self {
        Self(Arc::new(Inner { memory, slots: Mutex::default() }))
    }

    /// The answer for `subject`: that of another question of the same sign-in if it is young enough, else of `ask`. A
    /// question whose asker goes away is asked again by the next one who waits.
    pub(super) async fn get(
        &self,
        actor: &Actor,
        subject: &str,
        ask: impl Future<Output = Result<V, Error>>,
    ) -> Result<V, Error> {
        let slot = self.slot(format!("{}/{}/{subject}", actor.principal.tenant, actor.login.public()));
        let mut answer = slot.lock().await;
        if let Some((at, answer)) = &*answer
            && at.elapsed() < self.0.memory
        {
            return answer.clone();
        }
        let fresh = ask.await;
        *answer = Some((Instant::now(), fresh.clone()));
        fresh
    }

    fn slot(&self, key: String) -> Slot<V> {
        let mut slots = self.0.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MANY {
            // A slot that is locked is in use.
            let old = |slot: &Slot<V>| {
                slot.try_lock().is_ok_and(|answer| answer.as_ref().is_none_or(|(at, _)| at.elapsed() >= self.0.memory))
            };
            slots.retain(|_, slot| Arc::strong_count(slot) > 1 || !old(slot));
        }
        Arc::clone(slots.entry(key).or_default())
    }
}
