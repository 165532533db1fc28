//! The chain of one tenant in the store: record N holds the hash of record N-1, and a hint says about where the end is.
//! Records are written only where none is, so any number of replicas append without a lock.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gateway::domain::audit::{Event, Written};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store, Unavailable};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{hex, sha256};
use crate::platform::seal::Ring;

const PURPOSE: &str = "audit";
const HINT: &str = "audit-end";
/// The hash before the first record.
const NOTHING: &str = "";
/// Records whose lifetime is nearly over may be gone a little early or late.
const SLACK: Duration = Duration::from_hours(24);

/// Reads and writes chains.
pub(super) struct Chain {
    pub(super) store: Store,
    pub(super) ring: Arc<Ring>,
    /// How long records stay.
    pub(super) kept: Duration,
    pub(super) clock: Clock,
}

/// The last record of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) number: u64,
    pub(super) hash: String,
    pub(super) at: Option<Timestamp>,
}

/// A record before sealing. The event is kept as the very text that was hashed.
#[derive(Serialize, Deserialize)]
struct Link {
    before: String,
    /// When that one was written: whether it may have run out.
    before_at: Option<Timestamp>,
    text: String,
}

impl Link {
    fn hash(&self) -> String {
        hex(&sha256(format!("{}\n{}\n{}", self.before, self.before_at.map_or(0, |at| at.0), self.text).as_bytes()))
    }
}

/// What a check of a chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Verdict {
    /// Everything from `first` to `last` is as it was written; both 0 when there is nothing.
    Whole { first: u64, last: u64 },
    /// The chain is broken at this number, and how.
    Broken { number: u64, how: &'static str },
}

impl Chain {
    /// Appends after `known`, or after whatever others have appended since.
    pub(super) async fn append(
        &self,
        tenant: &TenantId,
        known: Option<End>,
        at: Timestamp,
        event: &Event,
    ) -> Result<End, Unavailable> {
        let mut end = match known {
            Some(end) => end,
            None => self.end(tenant).await?,
        };
        loop {
            let number = end.number + 1;
            let written = Written { number, at, event: event.clone() };
            let text = serde_json::to_string(&written).map_err(|error| Unavailable(error.to_string()))?;
            let link = Link { before: end.hash.clone(), before_at: end.at, text };
            let key = key(tenant, number);
            let plain = serde_json::to_vec(&link).map_err(|error| Unavailable(error.to_string()))?;
            let sealed = self.ring.seal(PURPOSE, &key.context(), &[], &plain);
            let sealed = sealed.map_err(|error| Unavailable(error.to_string()))?;
            if self.store.insert(&key, sealed, Some(self.kept)).await?.is_some() {
                let end = End { number, hash: link.hash(), at: Some(at) };
                let hint = serde_json::to_vec(&end).map_err(|error| Unavailable(error.to_string()))?;
                self.store.put(&hint_key(tenant), hint, None).await?;
                return Ok(end);
            }
            // Another replica was faster: on from there.
            end = match self.read(tenant, number).await? {
                Some((written, link)) => End { number, hash: link.hash(), at: Some(written.at) },
                None => return Err(Unavailable("a record of the audit trail does not open".to_owned())),
            };
        }
    }

    /// The end of the chain: from the hint on to where nothing follows.
    async fn end(&self, tenant: &TenantId) -> Result<End, Unavailable> {
        let hint = self.store.get(&hint_key(tenant)).await?;
        let hint = hint.and_then(|record| serde_json::from_slice::<End>(&record.value).ok());
        let mut end = hint.unwrap_or(End { number: 0, hash: NOTHING.to_owned(), at: None });
        while let Some((written, link)) = self.read(tenant, end.number + 1).await? {
            end = End { number: end.number + 1, hash: link.hash(), at: Some(written.at) };
        }
        Ok(end)
    }

    /// A record, when it is there and opens.
    async fn read(&self, tenant: &TenantId, number: u64) -> Result<Option<(Written, Link)>, Unavailable> {
        let key = key(tenant, number);
        let Some(record) = self.store.get(&key).await? else { return Ok(None) };
        let plain = self.ring.open(PURPOSE, &key.context(), &[], &record.value).ok();
        let link = plain.and_then(|plain| serde_json::from_slice::<Link>(&plain).ok());
        Ok(link.and_then(|link| Some((serde_json::from_str(&link.text).ok()?, link))))
    }

    pub(super) async fn list(&self, tenant: &TenantId, before: Option<u64>, count: usize) -> Result<Vec<Written>, Unavailable> {
        let mut number = match before {
            Some(before) => before.saturating_sub(1),
            None => self.end(tenant).await?.number,
        };
        let mut found = Vec::new();
        while number > 0 && found.len() < count {
            match self.read(tenant, number).await? {
                Some((written, _)) => found.push(written),
                // Older ones have run out.
                None => break,
            }
            number -= 1;
        }
        Ok(found)
    }

    /// From the end back to the first record that is left, then whether what is missing before it may be missing.
    pub(super) async fn verify(&self, tenant: &TenantId) -> Result<Verdict, Unavailable> {
        let end = self.end(tenant).await?;
        let mut number = end.number;
        let mut wanted = end.hash;
        let mut written_at = end.at;
        while number > 0 {
            let Some((written, link)) = self.read(tenant, number).await? else { break };
            if link.hash() != wanted || written.number != number {
                return Ok(Verdict::Broken { number, how: "it is not what was written" });
            }
            written_at = link.before_at;
            wanted = link.before;
            number -= 1;
        }
        if number == 0 {
            return Ok(Verdict::Whole { first: u64::from(end.number > 0), last: end.number });
        }
        if self.store.get(&key(tenant, number)).await?.is_some() {
            return Ok(Verdict::Broken { number, how: "it does not open" });
        }
        let age = written_at.map(|at| self.clock.now().since(at));
        if age.is_some_and(|age| age + SLACK >= self.kept) {
            return Ok(Verdict::Whole { first: if number == end.number { 0 } else { number + 1 }, last: end.number });
        }
        Ok(Verdict::Broken { number, how: "it is missing" })
    }
}

fn key(tenant: &TenantId, number: u64) -> Key {
    Key::new(tenant, PURPOSE, &number.to_string())
}

fn hint_key(tenant: &TenantId) -> Key {
    Key::new(tenant, HINT, "end")
}
