//! Whether the scanning service and the identity provider of a tenant answer. Asked when somebody looks, for a bounded time, and
//! once for all who look within a few seconds: a page that is loaded again and again is no load on them.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::directory::Directory;
use super::error::Error;
use crate::gateway::domain::tenant::TenantId;
pub(in crate::gateway) use crate::gateway::upstream::Presence;

/// How they stand, and how long that took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Reached {
    pub(in crate::gateway) service: Probe,
    pub(in crate::gateway) provider: Probe,
}

/// One answer, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Probe {
    pub(in crate::gateway) presence: Presence,
    pub(in crate::gateway) took: Duration,
}

type Place = Mutex<Option<(Instant, Reached)>>;

/// Asks. Cheap to clone; clones share what they know.
#[derive(Clone)]
pub(in crate::gateway) struct Reach {
    directory: Directory,
    places: Arc<BTreeMap<TenantId, Place>>,
    patience: Duration,
    memory: Duration,
}

impl Reach {
    /// Waits for an answer for `patience`, and believes it for `memory`.
    pub(in crate::gateway) fn new(
        directory: Directory,
        tenants: impl IntoIterator<Item = TenantId>,
        (patience, memory): (Duration, Duration),
    ) -> Self {
        let places = Arc::new(tenants.into_iter().map(|tenant| (tenant, Place::default())).collect());
        Self { directory, places, patience, memory }
    }

    /// How those of a tenant stand.
    pub(super) async fn of(&self, tenant: &TenantId) -> Result<Reached, Error> {
        let (place, clients) = (self.places.get(tenant).ok_or(Error::NotFound)?, self.directory.of(tenant)?);
        let mut known = place.lock().await;
        if let Some((at, reached)) = &*known
            && at.elapsed() < self.memory
        {
            return Ok(*reached);
        }
        let asked = (self.ask(clients.service.presence()), self.ask(clients.identity.presence()));
        let (service, provider) = futures_util::future::join(asked.0, asked.1).await;
        let reached = Reached { service, provider };
        *known = Some((Instant::now(), reached));
        Ok(reached)
    }

    async fn ask(&self, question: impl Future<Output = Presence>) -> Probe {
        let began = Instant::now();
        let presence = timeout(self.patience, question).await.unwrap_or(Presence::Silent);
        Probe { presence, took: began.elapsed() }
    }
}
