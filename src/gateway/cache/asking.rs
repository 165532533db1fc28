//! How a question that memory does not answer is asked: by whom, for whom, and what becomes of what comes back.

use std::sync::Arc;

use serde_json::Value;

use super::flight::{Leader, Seat};
use super::kept::{CacheStatus, Fetched, Kept, Why};
use super::key::Question;
use super::policy::Verdict;
use super::tiers::{Looked, Slot};
use super::{Answer, Answered, Brought, Cache, Given, StaleOk, Wish, whole};
use crate::gateway::domain::route_table::Keep;
use crate::gateway::domain::task::Status;
use crate::platform::clock::Timestamp;

/// What those get who waited.
#[derive(Clone)]
pub(super) enum Landing<E> {
    Answer(Arc<Kept>, CacheStatus),
    Failed(E),
    /// The answer was for the one who asked.
    Alone,
    /// The one who asked was given no place at the service.
    NoPlace,
}

impl<E: StaleOk> Landing<E> {
    /// What a failure is to those who waited.
    fn of(error: &E) -> Self {
        if error.lacks_place() {
            return Self::NoPlace;
        }
        if error.may_serve_stale() { Self::Failed(error.clone()) } else { Self::Alone }
    }
}

/// An answer that came, with what was known when it was asked for.
struct Came {
    fetched: Fetched,
    asked_at: Timestamp,
    why: Why,
    /// The task had ended: all of it is there.
    is_over: bool,
    task: Option<Slot>,
    epoch: Option<u64>,
}

impl<E: StaleOk> Cache<E> {
    /// Place of the answer; `None` when it is never kept.
    pub(super) fn slot(&self, question: &Question) -> Option<Slot> {
        if question.keep == Keep::Never || !self.0.is_on {
            return None;
        }
        let epoch = self.0.epochs.of(&question.tenant, question.subject())?;
        Some(Slot { digest: question.digest, epoch })
    }

    /// What is kept, when nobody needs to be asked.
    pub(super) fn as_it_is(&self, kept: &Arc<Kept>) -> Option<Given> {
        let now = self.0.clock.now();
        if kept.is_fresh(now) {
            return Some(self.hit(kept, now));
        }
        kept.rests(now).then(|| self.stale(kept, now))
    }

    fn hit(&self, kept: &Arc<Kept>, now: Timestamp) -> Given {
        self.tally().hit.increment(1);
        (Arc::clone(kept), CacheStatus::Hit { ttl: kept.ttl(now) })
    }

    fn stale(&self, kept: &Arc<Kept>, now: Timestamp) -> Given {
        self.tally().stale.increment(1);
        (Arc::clone(kept), CacheStatus::Hit { ttl: kept.ttl(now).min(-1) })
    }

    fn coalesced(&self, kept: Arc<Kept>, status: CacheStatus) -> Given {
        self.tally().coalesced.increment(1);
        let status = match status {
            CacheStatus::Asked { why, status, stored, ttl, .. } => {
                CacheStatus::Asked { why, status, collapsed: true, stored, ttl }
            }
            hit @ CacheStatus::Hit { .. } => hit,
        };
        (kept, status)
    }

    pub(super) async fn ask_or_wait<A, F, P>(&self, slot: Slot, question: &Question, ask: A) -> Result<Answered<P>, E>
    where
        A: FnOnce(Wish) -> F + 'static,
        F: Future<Output = Result<Brought<P>, E>> + 'static,
        P: 'static,
    {
        if self.0.memory.is_passed(&slot) {
            return self.alone(Why::Bypass, ask).await;
        }
        // Whoever has no place may have waited for it: the next one is waited for, and nobody after that.
        let mut waits_again = true;
        loop {
            let seat = self.0.flights.seat(slot);
            // Once more: it may have come since. Who has the seat gives it up with this.
            let old = self.0.memory.get(&slot).await;
            if let Some(given) = old.as_ref().and_then(|kept| self.as_it_is(kept)) {
                return Ok(whole(given));
            }
            let now = self.0.clock.now();
            let meanwhile = old.as_ref().filter(|kept| kept.serves_meanwhile(now)).map(|kept| self.stale(kept, now));
            match (seat, meanwhile) {
                (Seat::Leader(flight), None) => return self.lead(flight, question, old, ask).await,
                (Seat::Leader(flight), Some(given)) => {
                    let (cache, question) = (self.clone(), question.clone());
                    self.0.shutdown.spawn_local(async move {
                        // A failure is the next one's to see, who asks again.
                        let _ = cache.lead(flight, &question, old, ask).await;
                    });
                    return Ok(whole(given));
                }
                (Seat::Follower(_), Some(given)) => return Ok(whole(given)),
                (Seat::Follower(other), None) => match other.landed().await {
                    Some(Landing::Answer(kept, status)) => return Ok(whole(self.coalesced(kept, status))),
                    Some(Landing::Failed(error)) => return Err(error),
                    Some(Landing::NoPlace) if waits_again => waits_again = false,
                    Some(Landing::Alone | Landing::NoPlace) => return self.alone(Why::Miss, ask).await,
                    None => {}
                },
            }
        }
    }

    /// Asks for oneself.
    pub(super) async fn alone<A, F, P>(&self, why: Why, ask: A) -> Result<Answered<P>, E>
    where
        A: FnOnce(Wish) -> F,
        F: Future<Output = Result<Brought<P>, E>>,
    {
        if why == Why::Bypass { &self.tally().bypass } else { &self.tally().miss }.increment(1);
        let asked_at = self.0.clock.now();
        let brought = ask(Wish::AsItComes).await?;
        let status = unkept(why, brought.status());
        Ok(match brought {
            Brought::Whole(fetched) => (Answer::Kept(Arc::new(Kept::passing(fetched, asked_at))), status),
            Brought::Passing(_, passing) => (Answer::Passing(passing), status),
        })
    }

    /// Asks for all who wait.
    async fn lead<A, F, P>(
        &self,
        flight: Leader<Landing<E>>,
        question: &Question,
        old: Option<Arc<Kept>>,
        ask: A,
    ) -> Result<Answered<P>, E>
    where
        A: FnOnce(Wish) -> F,
        F: Future<Output = Result<Brought<P>, E>>,
    {
        let inner = &*self.0;
        let task = question.task().map(|digest| Slot { digest, epoch: flight.slot.epoch });
        // Asked after the end: only then it is all that there will be.
        let had_ended = task.as_ref().is_some_and(|task| inner.memory.has_ended(task));
        let looked = self.look(question, old.as_deref()).await;
        let old = match looked.found.map(Arc::new) {
            Some(kept) if kept.is_fresh(inner.clock.now()) => {
                inner.memory.insert(flight.slot, Arc::clone(&kept)).await;
                let (kept, status) = self.hit(&kept, inner.clock.now());
                flight.land(Landing::Answer(Arc::clone(&kept), status));
                return Ok((Answer::Kept(kept), status));
            }
            found => old.or(found),
        };
        let asked_at = inner.clock.now();
        let why = if old.is_some() { Why::Stale } else { Why::Miss };
        let old = old.filter(|kept| kept.serves_in_trouble(asked_at));
        match (ask(Wish::ForAll).await, old) {
            (Err(error), Some(old)) if error.may_serve_stale() => Ok(whole(self.make_do(flight, old, None).await)),
            (Err(error), _) => {
                self.tally().miss.increment(1);
                flight.land(Landing::of(&error));
                Err(error)
            }
            (Ok(brought), Some(old)) if matches!(brought.status(), 502..=504) => {
                Ok(whole(self.make_do(flight, old, Some(brought.status())).await))
            }
            (Ok(Brought::Passing(status, passing)), _) => {
                self.tally().miss.increment(1);
                self.forget(flight.slot, question, (Verdict::passing(status), status), looked.epoch).await;
                flight.land(Landing::Alone);
                Ok((Answer::Passing(passing), unkept(why, status)))
            }
            (Ok(Brought::Whole(fetched)), _) => {
                self.tally().miss.increment(1);
                let is_over = if question.keep == Keep::Task { says_ended(&fetched) } else { had_ended };
                let is_over = is_over && !question.is_brief;
                let came = Came { fetched, asked_at, why, is_over, task, epoch: looked.epoch };
                Ok(whole(self.settle(flight, question, came).await))
            }
        }
    }

    /// What the store has, where it may have something: short-lived answers are not put there.
    async fn look(&self, question: &Question, old: Option<&Kept>) -> Looked {
        let inner = &*self.0;
        let is_long = matches!(question.keep, Keep::Task | Keep::OfTask | Keep::Constant)
            && old.is_none_or(|kept| inner.shelf.takes(kept.life.fresh));
        if !is_long || !inner.epochs.is_told(&question.tenant, question.subject()) {
            return Looked::default();
        }
        inner.shelf.look(question, inner.clock.now()).await
    }

    /// Gives an old answer out for want of another.
    async fn make_do(&self, flight: Leader<Landing<E>>, old: Arc<Kept>, status: Option<u16>) -> Given {
        self.tally().stale.increment(1);
        let now = self.0.clock.now();
        old.rest(now.after(self.0.rest));
        // It may have come from the store.
        self.0.memory.insert(flight.slot, Arc::clone(&old)).await;
        let ttl = Some(old.ttl(now).min(-1));
        let status = CacheStatus::Asked { why: Why::Stale, status, collapsed: false, stored: false, ttl };
        flight.land(Landing::Answer(Arc::clone(&old), status));
        (old, status)
    }

    /// Decides what becomes of an answer that came.
    async fn settle(&self, flight: Leader<Landing<E>>, question: &Question, came: Came) -> Given {
        let (inner, slot, now) = (&*self.0, flight.slot, self.0.clock.now());
        let Came { fetched, asked_at, why, is_over, task, epoch } = came;
        let status = |stored, ttl| CacheStatus::Asked { why, status: Some(fetched.status), collapsed: false, stored, ttl };
        let verdict = inner.policy.judge(question.keep, is_over, &fetched, now.utc());
        if let Verdict::Keep(life) = verdict {
            // What was asked before a change is for those who asked before it.
            let is_current = inner.epochs.of(&question.tenant, question.subject()) == Some(slot.epoch);
            let ttl = i64::try_from(life.fresh.as_secs()).unwrap_or(i64::MAX);
            let status = status(is_current, is_current.then_some(ttl));
            let kept = Arc::new(Kept::new(fetched, (asked_at, now), life));
            if is_current {
                inner.memory.insert(slot, Arc::clone(&kept)).await;
                if let Some(task) = task.filter(|_| question.keep == Keep::Task) {
                    inner.memory.note_task(task, is_over).await;
                }
                if let Some(epoch) = epoch.filter(|_| inner.shelf.takes(life.fresh)) {
                    inner.shelf.put(question, epoch, &kept);
                }
            }
            flight.land(Landing::Answer(Arc::clone(&kept), status));
            return (kept, status);
        }
        let status = status(false, None);
        self.forget(slot, question, (verdict, fetched.status), epoch).await;
        let passing = Arc::new(Kept::passing(fetched, asked_at));
        let is_alone = verdict == Verdict::Alone;
        flight.land(if is_alone { Landing::Alone } else { Landing::Answer(Arc::clone(&passing), status) });
        (passing, status)
    }

    /// Ends what was kept, as far as an answer that is not kept says so; of one that nobody else can have, it is remembered.
    async fn forget(&self, slot: Slot, question: &Question, (verdict, status): (Verdict, u16), epoch: Option<u64>) {
        let inner = &*self.0;
        if verdict == Verdict::Share {
            return;
        }
        inner.memory.remove(&slot).await;
        if epoch.is_some() {
            inner.shelf.forget(question);
        }
        if verdict == Verdict::Alone && status == 200 {
            inner.memory.pass(slot).await;
        }
    }
}

/// Of an answer that is for the one who asked.
const fn unkept(why: Why, status: u16) -> CacheStatus {
    CacheStatus::Asked { why, status: Some(status), collapsed: false, stored: false, ttl: None }
}

/// Whether a task's own answer says that nothing changes any more.
fn says_ended(fetched: &Fetched) -> bool {
    let Ok(answer) = serde_json::from_slice::<Value>(&fetched.body) else { return false };
    let said = |value: &Value| ["taskStatus", "status"].iter().find_map(|name| value.get(name)?.as_str().map(Status::read));
    said(&answer).or_else(|| said(answer.get("data")?)).is_some_and(|status| status.has_ended())
}
