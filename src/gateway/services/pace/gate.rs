//! How many calls of a tenant are at its scanning service at the same time. A few more wait for a moment; the others are told
//! to come back, so that a slow service costs neither memory nor the callers of other tenants. Strangers have places of their
//! own: however many there are, members find theirs. And no member takes all of them: each caller has a part of the places at most.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use metrics::counter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::config::gateway::Gate as Settings;
use crate::gateway::domain::tenant::TenantId;

/// When somebody without a place may come back.
const COME_BACK: Duration = Duration::from_secs(1);

/// The places of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Gate(Arc<Inner>);

struct Inner {
    halls: HashMap<TenantId, Halls>,
    settings: Settings,
}

/// Those of a tenant.
struct Halls {
    members: Hall,
    strangers: Hall,
    /// What each member may take; of those who have any.
    callers: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
}

impl Halls {
    /// The part of one member.
    fn part(&self, caller: &Arc<str>, places: usize) -> Arc<Semaphore> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = callers.get(caller).and_then(Weak::upgrade) {
            return part;
        }
        // Those who have gone are cleared away as often as there are twice as many.
        if callers.len() == callers.capacity() {
            callers.retain(|_, part| part.strong_count() > 0);
        }
        let part = Arc::new(Semaphore::new(places));
        callers.insert(Arc::clone(caller), Arc::downgrade(&part));
        part
    }
}

struct Hall {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Who wants a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Who {
    /// A person or key of the tenant, or a token that its service has accepted, by what names them.
    Member(Arc<str>),
    /// Without a credential, or with one that nobody has vouched for.
    Stranger,
}

/// A place at the service; free again when it is dropped. Whoever streams a body holds it until the body has ended.
#[derive(Debug)]
pub(in crate::gateway) struct Place {
    _held: Option<OwnedSemaphorePermit>,
    /// Of the caller's part.
    _part: Option<OwnedSemaphorePermit>,
}

impl Gate {
    /// All places are free.
    pub(in crate::gateway) fn new(tenants: impl IntoIterator<Item = TenantId>, settings: Settings) -> Self {
        let hall = |places| Hall { places: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0) };
        let halls =
            || Halls { members: hall(settings.at_once), strangers: hall(settings.strangers_at_once), callers: Mutex::default() };
        let halls = tenants.into_iter().map(|tenant| (tenant, halls())).collect();
        Self(Arc::new(Inner { halls, settings }))
    }

    /// A place, at once or after a short wait, in the order of coming. `Err`: there is none, try again after this.
    pub(in crate::gateway) async fn enter(&self, tenant: &TenantId, who: &Who) -> Result<Place, Duration> {
        let Some(halls) = self.0.halls.get(tenant) else { return Ok(Place { _held: None, _part: None }) };
        let (hall, part) = match who {
            Who::Member(caller) => (&halls.members, Some(halls.part(caller, self.0.settings.at_once_per_caller))),
            Who::Stranger => (&halls.strangers, None),
        };
        let at_once = || {
            let part = match &part {
                Some(part) => Some(Arc::clone(part).try_acquire_owned().ok()?),
                None => None,
            };
            let held = Arc::clone(&hall.places).try_acquire_owned().ok()?;
            Some(Place { _held: Some(held), _part: part })
        };
        if let Some(place) = at_once() {
            return Ok(place);
        }
        let refused = || {
            counter!("cardea_api_refused_total", "reason" => "gate").increment(1);
            COME_BACK
        };
        let _queue = Queue::join(hall, self.0.settings.waiting).ok_or_else(refused)?;
        let wait = Duration::from_millis(self.0.settings.wait_ms);
        // The caller's own part first: who waits for that stands in nobody's way.
        let in_turn = async {
            let part = match &part {
                Some(part) => Some(Arc::clone(part).acquire_owned().await.ok()?),
                None => None,
            };
            let held = Arc::clone(&hall.places).acquire_owned().await.ok()?;
            Some(Place { _held: Some(held), _part: part })
        };
        Box::pin(timeout(wait, in_turn)).await.ok().flatten().ok_or_else(refused)
    }
}

/// One who waits.
struct Queue<'h>(&'h Hall);

impl<'h> Queue<'h> {
    fn join(hall: &'h Hall, most: usize) -> Option<Self> {
        let one_more = |waiting: usize| (waiting < most).then_some(waiting + 1);
        hall.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok().map(|_| Self(hall))
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;

    use super::*;

    fn tenant(id: &str) -> TenantId {
        TenantId::parse(id).unwrap()
    }

    fn member() -> Who {
        Who::Member("key".into())
    }

    fn gate() -> Gate {
        Gate::new(
            [tenant("acme"), tenant("globex")],
            Settings { at_once: 2, at_once_per_caller: 2, strangers_at_once: 1, waiting: 1, wait_ms: 50, proven_seconds: 600 },
        )
    }

    #[tokio::test]
    async fn a_caller_who_takes_all_it_can_leaves_places_to_the_others() {
        let settings =
            Settings { at_once: 3, at_once_per_caller: 2, strangers_at_once: 1, waiting: 1, wait_ms: 20, proven_seconds: 600 };
        let (gate, acme) = (Gate::new([tenant("acme")], settings), tenant("acme"));
        let (greedy, other) = (member(), Who::Member("another key".into()));
        let first = gate.enter(&acme, &greedy).await.unwrap();
        let _second = gate.enter(&acme, &greedy).await.unwrap();
        assert_eq!(gate.enter(&acme, &greedy).await.unwrap_err(), COME_BACK, "its part is taken");
        let _others = gate.enter(&acme, &other).await.expect("a place is left");
        assert_eq!(gate.enter(&acme, &other).await.unwrap_err(), COME_BACK, "all are taken");
        drop(first);
        gate.enter(&acme, &greedy).await.expect("what was given back can be taken again");
    }

    #[tokio::test]
    async fn who_finds_no_place_waits_a_little_and_goes_in_when_one_is_free() {
        let (gate, acme) = (gate(), tenant("acme"));
        let first = gate.enter(&acme, &member()).await.unwrap();
        let _second = gate.enter(&acme, &member()).await.unwrap();
        let who = member();
        let mut third = pin!(gate.enter(&acme, &who));
        assert!(third.as_mut().now_or_never().is_none(), "it waits");
        assert_eq!(gate.enter(&acme, &member()).await.unwrap_err(), COME_BACK, "the queue is full");
        let _other = gate.enter(&tenant("globex"), &member()).await.expect("another tenant has places of its own");
        drop(first);
        let _third = third.await.unwrap();
        assert_eq!(gate.enter(&acme, &member()).await.unwrap_err(), COME_BACK, "the wait has an end");
    }

    #[tokio::test]
    async fn strangers_and_members_take_no_place_of_each_other() {
        let (gate, acme) = (gate(), tenant("acme"));
        let stranger = gate.enter(&acme, &Who::Stranger).await.unwrap();
        let mut waits = pin!(gate.enter(&acme, &Who::Stranger));
        assert!(waits.as_mut().now_or_never().is_none(), "there is one place for them");
        assert_eq!(gate.enter(&acme, &Who::Stranger).await.unwrap_err(), COME_BACK);
        let members = (gate.enter(&acme, &member()).await.unwrap(), gate.enter(&acme, &member()).await.unwrap());
        drop(stranger);
        let _stranger = waits.await.expect("the members' places are no matter");
        drop(members);
    }

    #[tokio::test]
    async fn who_goes_away_while_waiting_leaves_the_queue() {
        let (gate, acme) = (gate(), tenant("acme"));
        let _places = (gate.enter(&acme, &member()).await.unwrap(), gate.enter(&acme, &member()).await.unwrap());
        for _ in 0..10 {
            assert!(gate.enter(&acme, &member()).now_or_never().is_none());
        }
        let who = member();
        let mut waits = pin!(gate.enter(&acme, &who));
        assert!(waits.as_mut().now_or_never().is_none());
        assert!(gate.enter(&acme, &member()).now_or_never().is_some(), "one may wait, and does");
    }
}
