//! The chain of one tenant in the store: record N holds the hash of record N-1, and a hint says about where the end is.
//! Records are written only where none is, so any number of replicas append without a lock.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gateway::domain::audit::{Event, Written};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Seen, Store, Unavailable};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{hex, sha256};
use crate::platform::seal::{Ring, key_id};

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
    /// Everything from `first` to `last` is as it was written; both 0 when there is nothing, `first` alone when all ran out.
    Whole { first: u64, last: u64 },
    /// Everything from `first` to `last` is as it was written, but the note of the end is gone: later ones may be cut off.
    EndUnknown { first: u64, last: u64 },
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
            None => self.end(tenant).await?.0,
        };
        if end.number > 0 && end.hash == NOTHING {
            return Err(does_not_open());
        }
        loop {
            let number = end.number.saturating_add(1);
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
                None => return Err(does_not_open()),
            };
        }
    }

    /// The end of the chain, from the hint on to where nothing follows; and whether there is a hint. Without one the last record
    /// that is left is the end: where there are records, numbers never start again.
    async fn end(&self, tenant: &TenantId) -> Result<(End, bool), Unavailable> {
        let hint = self.store.get(&hint_key(tenant)).await?;
        let hint = hint.and_then(|record| serde_json::from_slice::<End>(&record.value).ok());
        let is_noted = hint.is_some();
        let mut end = match hint {
            Some(end) => end,
            None => self.last_left(tenant).await?,
        };
        while let Some((written, link)) = self.read(tenant, end.number.saturating_add(1)).await? {
            end = End { number: end.number.saturating_add(1), hash: link.hash(), at: Some(written.at) };
        }
        Ok((end, is_noted))
    }

    /// The record of the highest number there is, for the end. Without a hash if it does not open.
    async fn last_left(&self, tenant: &TenantId) -> Result<End, Unavailable> {
        let number = self.highest(tenant).await?;
        if number == 0 {
            return Ok(End { number, hash: NOTHING.to_owned(), at: None });
        }
        tracing::warn!(%tenant, number, "the note of the end of an audit trail is missing: it goes on after the last record left");
        Ok(match self.read(tenant, number).await? {
            Some((written, link)) => End { number, hash: link.hash(), at: Some(written.at) },
            None => End { number, hash: NOTHING.to_owned(), at: None },
        })
    }

    /// The highest number of a record, by a look at the whole store; 0 when there is none.
    async fn highest(&self, tenant: &TenantId) -> Result<u64, Unavailable> {
        let mut highest = 0;
        let mut visit = |seen: Seen<'_>| {
            if let Some(number) = number_of(seen).filter(|_| seen.tenant == tenant.as_str()) {
                highest = highest.max(number);
            }
        };
        self.store.survey(&mut visit).await?;
        Ok(highest)
    }

    /// Records that are not sealed with the key that seals now.
    pub(super) async fn under_older_keys(&self) -> Result<BTreeSet<(TenantId, u64)>, Unavailable> {
        let ids: Vec<&str> = self.ring.ids().skip(self.ring.place() + 1).collect();
        let mut found = BTreeSet::new();
        let mut visit = |seen: Seen<'_>| {
            let is_older = key_id(seen.start).is_some_and(|id| ids.contains(&id));
            if let (true, Some(number), Ok(tenant)) = (is_older, number_of(seen), TenantId::parse(seen.tenant)) {
                found.insert((tenant, number));
            }
        };
        self.store.survey(&mut visit).await?;
        Ok(found)
    }

    /// Seals a record anew, if an older key did and it opens. Whether it was to be.
    pub(super) async fn reseal(&self, tenant: &TenantId, number: u64) -> Result<bool, Unavailable> {
        let key = key(tenant, number);
        let Some(record) = self.store.get(&key).await? else { return Ok(false) };
        let Ok(plain) = self.ring.open(PURPOSE, &key.context(), &[], &record.value) else { return Ok(false) };
        let form = self.ring.renew(PURPOSE, &key.context(), &[], (&record.value, &plain));
        let is_older = form.is_some();
        self.store.rewrap(&key, record.version, form).await;
        Ok(is_older)
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
            None => self.end(tenant).await?.0.number,
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

    /// Whether the chain is as it was written, from its end back to the first record that is left, and whether that is the end.
    pub(super) async fn verify(&self, tenant: &TenantId) -> Result<Verdict, Unavailable> {
        // Before the end is looked for: what is written meanwhile is not behind it.
        let highest = self.highest(tenant).await?;
        let (end, is_noted) = self.end(tenant).await?;
        if highest > end.number {
            return Ok(Verdict::Broken {
                number: end.number + 1,
                how: "it is missing or does not open, and there are later ones",
            });
        }
        Ok(match self.walk_back(tenant, end).await? {
            Verdict::Whole { first, last } if last > 0 && !is_noted => Verdict::EndUnknown { first, last },
            verdict => verdict,
        })
    }

    /// From the end back to the first record that is left, then whether what is missing before it may be missing.
    async fn walk_back(&self, tenant: &TenantId, end: End) -> Result<Verdict, Unavailable> {
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

fn does_not_open() -> Unavailable {
    Unavailable("a record of the audit trail does not open".to_owned())
}

/// The number of a record of a trail.
fn number_of(seen: Seen<'_>) -> Option<u64> {
    seen.id.parse().ok().filter(|_| seen.kind == PURPOSE)
}

fn key(tenant: &TenantId, number: u64) -> Key {
    Key::new(tenant, PURPOSE, &number.to_string())
}

fn hint_key(tenant: &TenantId) -> Key {
    Key::new(tenant, HINT, "end")
}
