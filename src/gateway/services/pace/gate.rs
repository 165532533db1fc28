//! How many calls of a tenant are at its scanning service at the same time. A few more wait for a moment; the others are told
//! to come back, so that a slow service costs neither memory nor the callers of other tenants.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    halls: HashMap<TenantId, Hall>,
    settings: Settings,
}

struct Hall {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A place at the service; free again when it is dropped. Whoever streams a body holds it until the body has ended.
#[derive(Debug)]
pub(in crate::gateway) struct Place {
    _held: Option<OwnedSemaphorePermit>,
}

impl Gate {
    /// All places are free.
    pub(in crate::gateway) fn new(tenants: impl IntoIterator<Item = TenantId>, settings: Settings) -> Self {
        let hall = || Hall { places: Arc::new(Semaphore::new(settings.at_once)), waiting: AtomicUsize::new(0) };
        let halls = tenants.into_iter().map(|tenant| (tenant, hall())).collect();
        Self(Arc::new(Inner { halls, settings }))
    }

    /// A place, at once or after a short wait, in the order of coming. `Err`: there is none, try again after this.
    pub(in crate::gateway) async fn enter(&self, tenant: &TenantId) -> Result<Place, Duration> {
        let Some(hall) = self.0.halls.get(tenant) else { return Ok(Place { _held: None }) };
        if let Ok(held) = Arc::clone(&hall.places).try_acquire_owned() {
            return Ok(Place { _held: Some(held) });
        }
        let refused = || {
            counter!("cardea_api_refused_total", "reason" => "gate").increment(1);
            COME_BACK
        };
        let _queue = Queue::join(hall, self.0.settings.waiting).ok_or_else(refused)?;
        let wait = Duration::from_millis(self.0.settings.wait_ms);
        match Box::pin(timeout(wait, Arc::clone(&hall.places).acquire_owned())).await {
            Ok(Ok(held)) => Ok(Place { _held: Some(held) }),
            Ok(Err(_)) | Err(_) => Err(refused()),
        }
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

    fn gate() -> Gate {
        Gate::new([tenant("acme"), tenant("globex")], Settings { at_once: 2, waiting: 1, wait_ms: 50 })
    }

    #[tokio::test]
    async fn who_finds_no_place_waits_a_little_and_goes_in_when_one_is_free() {
        let (gate, acme) = (gate(), tenant("acme"));
        let first = gate.enter(&acme).await.unwrap();
        let _second = gate.enter(&acme).await.unwrap();
        let mut third = pin!(gate.enter(&acme));
        assert!(third.as_mut().now_or_never().is_none(), "it waits");
        assert_eq!(gate.enter(&acme).await.unwrap_err(), COME_BACK, "the queue is full");
        let _other = gate.enter(&tenant("globex")).await.expect("another tenant has places of its own");
        drop(first);
        let _third = third.await.unwrap();
        assert_eq!(gate.enter(&acme).await.unwrap_err(), COME_BACK, "the wait has an end");
    }

    #[tokio::test]
    async fn who_goes_away_while_waiting_leaves_the_queue() {
        let (gate, acme) = (gate(), tenant("acme"));
        let _places = (gate.enter(&acme).await.unwrap(), gate.enter(&acme).await.unwrap());
        for _ in 0..10 {
            assert!(gate.enter(&acme).now_or_never().is_none());
        }
        let mut waits = pin!(gate.enter(&acme));
        assert!(waits.as_mut().now_or_never().is_none());
        assert!(gate.enter(&acme).now_or_never().is_some(), "one may wait, and does");
    }
}
