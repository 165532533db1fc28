//! Checks of whole trails that people ask for: one at a time for each tenant on all replicas, in the background, not more often
//! than once a minute. What the last one found is kept, sealed, so that nobody else can say that a trail is whole.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::chain::Chain;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Lease, Unavailable};
use crate::platform::clock::Timestamp;
use crate::platform::shutdown::Shutdown;

const PURPOSE: &str = "audit-check";
/// Who checks says at least this often that it goes on.
const ALIVE: Duration = Duration::from_secs(20);
/// One who has not said so for this long is gone.
const GONE: Duration = Duration::from_mins(1);
/// A trail is not checked again for this long.
const REST: Duration = Duration::from_mins(1);

/// The last check of a trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Check {
    pub(in crate::gateway) begun_at: Timestamp,
    /// `None` while it runs, and for good when whoever checked was stopped.
    pub(in crate::gateway) ended: Option<(Timestamp, Found)>,
    /// Whether somebody is checking now.
    #[serde(skip)]
    pub(in crate::gateway) is_running: bool,
}

/// What a check found: a [`Verdict`] that can be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::gateway) enum Found {
    Whole {
        first: u64,
        last: u64,
    },
    EndUnknown {
        first: u64,
        last: u64,
    },
    Doubtful {
        first: u64,
        last: u64,
        number: u64,
    },
    Gone,
    Broken {
        number: u64,
        how: String,
    },
    /// The store did not answer.
    Unreadable,
}

impl Found {
    fn of(verdict: Result<Verdict, Unavailable>) -> Self {
        match verdict {
            Ok(Verdict::Whole { first, last }) => Self::Whole { first, last },
            Ok(Verdict::EndUnknown { first, last }) => Self::EndUnknown { first, last },
            Ok(Verdict::Doubtful { first, last, number }) => Self::Doubtful { first, last, number },
            Ok(Verdict::Gone) => Self::Gone,
            Ok(Verdict::Broken { number, how }) => Self::Broken { number, how: how.to_owned() },
            Err(error) => {
                tracing::warn!(%error, "an audit trail could not be checked");
                Self::Unreadable
            }
        }
    }

    /// In a word, for the trail itself.
    pub(in crate::gateway) const fn name(&self) -> &'static str {
        match self {
            Self::Whole { .. } => "whole",
            Self::EndUnknown { .. } => "end_unknown",
            Self::Doubtful { .. } => "doubtful",
            Self::Gone => "gone",
            Self::Broken { .. } => "broken",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Chain {
    /// The last check of a tenant's trail.
    pub(super) async fn last_check(&self, tenant: &TenantId) -> Result<Option<Check>, Unavailable> {
        let key = key(tenant);
        let Some(record) = self.store.get(&key).await? else { return Ok(None) };
        let Ok(plain) = self.ring.open(PURPOSE, &key.context(), &[], &record.value) else { return Ok(None) };
        let renewed = self.ring.renew(PURPOSE, &key.context(), &[], (&record.value, &plain));
        self.store.rewrap(&key, record.version, renewed).await;
        let Ok(check) = serde_json::from_slice::<Check>(&plain) else { return Ok(None) };
        let is_running = check.ended.is_none() && self.store.get(&alive(tenant)).await?.is_some();
        Ok(Some(Check { is_running, ..check }))
    }

    /// Begins a check and gives it to `told` when it has ended. False when one runs, or one has ended just now.
    pub(super) async fn begin_check(
        self: &Arc<Self>,
        tenant: &TenantId,
        told: impl FnOnce(&Found) + Send + 'static,
        shutdown: &Shutdown,
    ) -> Result<bool, Unavailable> {
        let Some(lease) = self.store.acquire(&key(tenant), GONE).await? else { return Ok(false) };
        let now = self.clock.now();
        let before = self.last_check(tenant).await?.and_then(|check| check.ended);
        if before.is_some_and(|(at, _)| now >= at && now.since(at) < REST) {
            self.store.release(&lease).await?;
            return Ok(false);
        }
        self.write_check(tenant, &Check { begun_at: now, ended: None, is_running: false }).await?;
        self.store.put(&alive(tenant), Vec::new(), Some(GONE)).await?;
        let (chain, tenant, end) = (Arc::clone(self), tenant.clone(), shutdown.clone());
        shutdown.spawn(async move {
            let found = tokio::select! {
                verdict = chain.verify(&tenant) => Found::of(verdict),
                () = chain.say_alive(&tenant, &lease) => return,
                () = end.begun() => return,
            };
            told(&found);
            let check = Check { begun_at: now, ended: Some((chain.clock.now(), found)), is_running: false };
            let written = async {
                chain.write_check(&tenant, &check).await?;
                chain.store.delete(&alive(&tenant)).await?;
                chain.store.release(&lease).await
            };
            if let Err(error) = written.await {
                tracing::warn!(%tenant, %error, "what a check of the audit trail found is not written down");
            }
        });
        Ok(true)
    }

    /// Ends when somebody else may check.
    async fn say_alive(&self, tenant: &TenantId, lease: &Lease) {
        loop {
            tokio::time::sleep(ALIVE).await;
            let renewed = async {
                self.store.touch(&alive(tenant), GONE).await?;
                self.store.renew(lease, GONE).await
            };
            if matches!(renewed.await, Ok(false)) {
                return;
            }
        }
    }

    async fn write_check(&self, tenant: &TenantId, check: &Check) -> Result<(), Unavailable> {
        let key = key(tenant);
        self.store.put(&key, self.seal(&key, PURPOSE, check)?, Some(self.kept)).await.map(|_| ())
    }
}

fn key(tenant: &TenantId) -> Key {
    Key::new(tenant, PURPOSE, "last")
}

/// There while somebody checks.
fn alive(tenant: &TenantId) -> Key {
    Key::new(tenant, "audit-check-alive", "now")
}
