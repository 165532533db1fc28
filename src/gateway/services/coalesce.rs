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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;
    use crate::gateway::domain::principal::Principal;
    use crate::gateway::domain::role::Role;
    use crate::gateway::domain::tenant::TenantId;
    use crate::gateway::session::LoginId;

    fn actor() -> Actor {
        let tenant = TenantId::parse("acme").unwrap();
        let (issuer, subject) = ("https://id.example".to_owned(), "alice".to_owned());
        let principal = Principal { tenant, issuer, subject, name: "".into(), email: "".into(), role: Role::Member };
        Actor { principal, login: LoginId::new().unwrap(), request_id: String::new(), network: String::new() }
    }

    #[tokio::test]
    async fn whoever_comes_while_a_question_is_on_its_way_gets_its_answer_good_or_bad() {
        for bad in [false, true] {
            let (polls, alice, asked, go) = (Coalesced::new(Duration::from_mins(1)), actor(), AtomicU32::new(0), Notify::new());
            let ask = || async {
                asked.fetch_add(1, Ordering::SeqCst);
                go.notified().await;
                if bad { Err(Error::NotFound) } else { Ok(7) }
            };
            let all = futures_util::future::join_all((0..10).map(|_| polls.get(&alice, "d1", ask())));
            let (answers, ()) = tokio::join!(all, async {
                tokio::task::yield_now().await;
                go.notify_one();
            });
            assert_eq!(asked.load(Ordering::SeqCst), 1);
            assert!(answers.iter().all(|answer| if bad { answer.is_err() } else { matches!(answer, Ok(7)) }));
        }
    }

    #[tokio::test]
    async fn other_sign_ins_other_subjects_and_later_times_ask_for_themselves() {
        let asked = AtomicU32::new(0);
        let ask = || async { Ok::<_, Error>(asked.fetch_add(1, Ordering::SeqCst)) };
        let (polls, alice) = (Coalesced::new(Duration::from_mins(1)), actor());
        assert_eq!(polls.get(&alice, "d1", ask()).await.unwrap(), 0);
        assert_eq!(polls.get(&alice, "d1", ask()).await.unwrap(), 0);
        assert_eq!(polls.get(&alice, "d2", ask()).await.unwrap(), 1);
        assert_eq!(polls.get(&actor(), "d1", ask()).await.unwrap(), 2);
        let forgetful = Coalesced::new(Duration::ZERO);
        assert_eq!(forgetful.get(&alice, "d1", ask()).await.unwrap(), 3);
        assert_eq!(forgetful.get(&alice, "d1", ask()).await.unwrap(), 4);
        for at in 0..2 * MANY {
            forgetful.get(&alice, &at.to_string(), ask()).await.unwrap();
        }
        assert!(forgetful.0.slots.lock().unwrap().len() <= MANY, "old slots are let go");
    }

    #[tokio::test]
    async fn an_asker_who_goes_away_leaves_the_question_to_the_next() {
        let (polls, alice) = (Coalesced::new(Duration::from_mins(1)), actor());
        let never = polls.get(&alice, "d1", std::future::pending::<Result<u32, Error>>());
        assert!(tokio::time::timeout(Duration::from_millis(1), never).await.is_err());
        assert_eq!(polls.get(&alice, "d1", async { Ok(1) }).await.unwrap(), 1);
    }
}
