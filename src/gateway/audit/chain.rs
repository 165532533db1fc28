//! The chain of one tenant in the store: record N holds the hash of record N-1, and a note says about where the end is.
//! Records are written only where none is, so any number of replicas append without a lock. Only what is sealed is believed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gateway::domain::audit::{Event, Written};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Record, Seen, Store, Unavailable};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{hex, sha256};
use crate::platform::seal::{Ring, key_id};

const PURPOSE: &str = "audit";
const NOTE: &str = "audit-end";
/// The hash before the first record.
const NOTHING: &str = "";
/// Records whose lifetime is nearly over may be gone a little early or late: so much, or a tenth of the lifetime.
const SLACK: Duration = Duration::from_hours(24);

pub(super) const MISSING: &str = "it is missing";
pub(super) const CLOSED: &str = "it does not open";
const BEFORE_LATER: &str = "it is missing or does not open, and there are later ones";
const BEHIND_EARLIER: &str = "it is missing, and there are earlier ones";
const CHANGED: &str = "it is not what was written";

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
pub(super) struct Link {
    before: String,
    /// When that one was written: whether it may have run out.
    pub(super) before_at: Option<Timestamp>,
    /// The end was not known for certain when this was written: later ones may have been cut off before.
    #[serde(default)]
    is_unsure: bool,
    text: String,
}

impl Link {
    fn hash(&self) -> String {
        let (before_at, unsure) = (self.before_at.map_or(0, |at| at.0), if self.is_unsure { "unsure\n" } else { "" });
        hex(&sha256(format!("{}\n{before_at}\n{unsure}{}", self.before, self.text).as_bytes()))
    }
}

/// The sealed note of the end, as it is found.
pub(super) enum Note {
    Reads(End),
    /// Something has its name that this gateway has not written.
    Closed,
    Missing,
}

/// What a look at the whole store finds of one tenant.
#[derive(Default)]
pub(super) struct Found {
    /// Numbers of records.
    pub(super) numbers: BTreeSet<u64>,
    /// Whether there is anything else: the tenant is in use.
    has_others: bool,
}

impl Found {
    pub(super) fn highest(&self) -> u64 {
        self.numbers.last().copied().unwrap_or(0)
    }

    /// Whether nothing speaks for a trail that was there before.
    fn is_new(&self, note: &Note) -> bool {
        self.numbers.is_empty() && !self.has_others && matches!(note, Note::Missing)
    }
}

/// Why an event was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("{0}")]
    Store(#[from] Unavailable),
    #[error("something that does not open is in the place of event {0}")]
    Damaged(u64),
    #[error("there is no number left")]
    Full,
}

/// What a check of a chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Verdict {
    /// Everything from `first` to `last` is as it was written; both 0 when there is nothing, `first` alone when all ran out.
    Whole { first: u64, last: u64 },
    /// Everything from `first` to `last` is as it was written, but the note of the end is gone: later ones may be cut off.
    EndUnknown { first: u64, last: u64 },
    /// As before, but the note was gone when event `number` was written: some may have been cut off between it and the one before.
    Doubtful { first: u64, last: u64, number: u64 },
    /// There is neither a record nor a note, and other things of the tenant are in the store.
    Gone,
    /// The chain is broken at this number, and how.
    Broken { number: u64, how: &'static str },
}

impl Chain {
    /// Notes that nothing is written yet, where nothing speaks against it: before anybody can use the portal. From then on a
    /// trail without a note is one that was changed.
    pub(super) async fn begin(&self, tenant: &TenantId) -> Result<(), Unavailable> {
        let note = self.note(tenant).await?;
        if matches!(note, Note::Missing) && self.found(tenant).await?.is_new(&note) {
            let sealed = self.seal(&note_key(tenant), NOTE, &none())?;
            self.store.insert(&note_key(tenant), sealed, None).await?;
        }
        Ok(())
    }

    /// Appends after `known`, or after whatever others have appended since.
    pub(super) async fn append(
        &self,
        tenant: &TenantId,
        known: Option<End>,
        at: Timestamp,
        event: &Event,
    ) -> Result<End, Trouble> {
        let (mut end, mut is_sure) = match known {
            Some(end) => (end, true),
            None => self.end(tenant).await?,
        };
        loop {
            let number = end.number.checked_add(1).ok_or(Trouble::Full)?;
            let written = Written { number, at, event: event.clone() };
            let text = serde_json::to_string(&written).map_err(|error| Unavailable(error.to_string()))?;
            let link = Link { before: end.hash, before_at: end.at, is_unsure: !is_sure, text };
            let key = key(tenant, number);
            if self.store.insert(&key, self.seal(&key, PURPOSE, &link)?, Some(self.kept)).await?.is_some() {
                let end = End { number, hash: link.hash(), at: Some(at) };
                let key = note_key(tenant);
                self.store.put(&key, self.seal(&key, NOTE, &end)?, None).await?;
                return Ok(end);
            }
            // Another replica was faster, and has said what there was to say: on from there.
            (end, is_sure) = (self.at(tenant, number).await?.ok_or(Trouble::Damaged(number))?, true);
        }
    }

    /// The end of the chain, from the note on to where nothing follows; and whether that is certain. Without a note the last
    /// record that is left is the end: where there are records, numbers never start again.
    async fn end(&self, tenant: &TenantId) -> Result<(End, bool), Trouble> {
        let (mut end, is_sure) = match self.note(tenant).await? {
            Note::Reads(end) => (end, true),
            note => {
                let found = self.found(tenant).await?;
                let (is_new, number) = (found.is_new(&note), found.highest());
                if !is_new {
                    tracing::warn!(%tenant, number, "the note of the end of an audit trail is missing: it goes on after the last record left");
                }
                (if number == 0 { none() } else { self.at(tenant, number).await?.ok_or(Trouble::Damaged(number))? }, is_new)
            }
        };
        while let Some(number) = end.number.checked_add(1)
            && let Some(next) = self.at(tenant, number).await?
        {
            end = next;
        }
        Ok((end, is_sure))
    }

    pub(super) async fn note(&self, tenant: &TenantId) -> Result<Note, Unavailable> {
        let key = note_key(tenant);
        let Some(record) = self.store.get(&key).await? else { return Ok(Note::Missing) };
        let plain = self.ring.open(NOTE, &key.context(), &[], &record.value).ok();
        Ok(plain.and_then(|plain| serde_json::from_slice(&plain).ok()).map_or(Note::Closed, Note::Reads))
    }

    pub(super) fn seal(&self, key: &Key, purpose: &str, content: &impl Serialize) -> Result<Vec<u8>, Unavailable> {
        let plain = serde_json::to_vec(content).map_err(|error| Unavailable(error.to_string()))?;
        self.ring.seal(purpose, &key.context(), &[], &plain).map_err(|error| Unavailable(error.to_string()))
    }

    /// A look at the whole store.
    pub(super) async fn found(&self, tenant: &TenantId) -> Result<Found, Unavailable> {
        let mut found = Found::default();
        let mut visit = |seen: Seen<'_>| {
            if seen.tenant == tenant.as_str() {
                let number = number_of(seen);
                found.has_others |= number.is_none() && seen.kind != NOTE;
                found.numbers.extend(number);
            }
        };
        self.store.survey(&mut visit).await?;
        Ok(found)
    }

    /// Records (by number) and notes (`None`) that are not sealed with the key that seals now.
    pub(super) async fn under_older_keys(&self) -> Result<BTreeSet<(TenantId, Option<u64>)>, Unavailable> {
        let ids: Vec<&str> = self.ring.ids().skip(self.ring.place() + 1).collect();
        let mut found = BTreeSet::new();
        let mut visit = |seen: Seen<'_>| {
            let is_older = key_id(seen.start).is_some_and(|id| ids.contains(&id));
            let number = number_of(seen);
            if let (true, Ok(tenant)) = (is_older && (number.is_some() || seen.kind == NOTE), TenantId::parse(seen.tenant)) {
                found.insert((tenant, number));
            }
        };
        self.store.survey(&mut visit).await?;
        Ok(found)
    }

    /// Seals a record or the note anew, if an older key did and it opens. Whether it was to be.
    pub(super) async fn reseal(&self, tenant: &TenantId, number: Option<u64>) -> Result<bool, Unavailable> {
        let (purpose, key) = number.map_or_else(|| (NOTE, note_key(tenant)), |number| (PURPOSE, key(tenant, number)));
        let Some(record) = self.store.get(&key).await? else { return Ok(false) };
        let Ok(plain) = self.ring.open(purpose, &key.context(), &[], &record.value) else { return Ok(false) };
        let form = self.ring.renew(purpose, &key.context(), &[], (&record.value, &plain));
        let is_older = form.is_some();
        self.store.rewrap(&key, record.version, form).await;
        Ok(is_older)
    }

    /// A record, when it is there and opens.
    pub(super) async fn read(&self, tenant: &TenantId, number: u64) -> Result<Option<(Written, Link)>, Unavailable> {
        let record = self.record(tenant, number).await?;
        Ok(record.and_then(|record| self.open(tenant, number, &record.value)))
    }

    /// A record as it is in the store.
    pub(super) async fn record(&self, tenant: &TenantId, number: u64) -> Result<Option<Record>, Unavailable> {
        self.store.get(&key(tenant, number)).await
    }

    pub(super) fn open(&self, tenant: &TenantId, number: u64, sealed: &[u8]) -> Option<(Written, Link)> {
        let plain = self.ring.open(PURPOSE, &key(tenant, number).context(), &[], sealed).ok()?;
        let link = serde_json::from_slice::<Link>(&plain).ok()?;
        Some((serde_json::from_str(&link.text).ok()?, link))
    }

    /// A record as an end.
    async fn at(&self, tenant: &TenantId, number: u64) -> Result<Option<End>, Unavailable> {
        let read = self.read(tenant, number).await?;
        Ok(read.map(|(written, link)| End { number, hash: link.hash(), at: Some(written.at) }))
    }

    /// Whether the chain is as it was written, from its end back to the first record that is left, and whether that is the end.
    pub(super) async fn verify(&self, tenant: &TenantId) -> Result<Verdict, Unavailable> {
        // Before the look at the store: what is written meanwhile is behind the note, never missing before it.
        let note = self.note(tenant).await?;
        let found = self.found(tenant).await?;
        let (is_new, highest) = (found.is_new(&note), found.highest());
        let (start, is_noted) = match note {
            Note::Reads(end) => (Some(end), true),
            _ if is_new => return Ok(Verdict::Whole { first: 0, last: 0 }),
            _ if highest == 0 => return Ok(Verdict::Gone),
            _ => (self.at(tenant, highest).await?, false),
        };
        let Some(mut end) = start else { return Ok(Verdict::Broken { number: highest, how: CLOSED }) };
        while end.number < highest {
            let number = end.number + 1;
            let Some(next) = self.at(tenant, number).await? else { return Ok(Verdict::Broken { number, how: BEFORE_LATER }) };
            end = next;
        }
        Ok(match self.walk_back(tenant, end, &found).await? {
            Verdict::Whole { first, last } | Verdict::Doubtful { first, last, .. } if !is_noted => {
                Verdict::EndUnknown { first, last }
            }
            verdict => verdict,
        })
    }

    /// From the end back to the first record that is left, then whether what is missing before it may be missing.
    async fn walk_back(&self, tenant: &TenantId, end: End, found: &Found) -> Result<Verdict, Unavailable> {
        let (last, mut number) = (end.number, end.number);
        let (mut wanted, mut written_at, mut doubt) = (end.hash, end.at, None);
        while number > 0 {
            let Some((written, link)) = self.read(tenant, number).await? else { break };
            if link.hash() != wanted || written.number != number {
                return Ok(Verdict::Broken { number, how: CHANGED });
            }
            doubt = if link.is_unsure { Some(number) } else { doubt };
            (written_at, wanted) = (link.before_at, link.before);
            number -= 1;
        }
        if number > 0 {
            if self.store.get(&key(tenant, number)).await?.is_some() {
                return Ok(Verdict::Broken { number, how: CLOSED });
            }
            if !self.has_run_out(written_at) {
                return Ok(Verdict::Broken { number, how: MISSING });
            }
            if let Some(&earlier) = found.numbers.range(..number).next()
                && self.was_to_go(tenant, earlier).await?
            {
                return Ok(Verdict::Broken { number, how: BEHIND_EARLIER });
            }
        }
        let first = if number == last { 0 } else { number + 1 };
        Ok(doubt.map_or(Verdict::Whole { first, last }, |number| Verdict::Doubtful { first, last, number }))
    }

    /// Whether what was written then may be gone.
    pub(super) fn has_run_out(&self, at: Option<Timestamp>) -> bool {
        at.is_some_and(|at| self.clock.now().since(at) + self.slack() >= self.kept)
    }

    fn slack(&self) -> Duration {
        SLACK.min(self.kept / 10)
    }

    /// Whether this record is there although a later one has run out. One that was written when records stayed longer may be.
    async fn was_to_go(&self, tenant: &TenantId, number: u64) -> Result<bool, Unavailable> {
        let Some(record) = self.store.get(&key(tenant, number)).await? else { return Ok(false) };
        let Some((written, _)) = self.open(tenant, number, &record.value) else { return Ok(true) };
        let life = record.expires_in.map(|left| self.clock.now().since(written.at) + left);
        Ok(life.is_none_or(|life| life <= self.kept + self.slack()))
    }
}

/// The end of a chain of which nothing is written.
pub(super) fn none() -> End {
    End { number: 0, hash: NOTHING.to_owned(), at: None }
}

/// The number of a record of a trail.
fn number_of(seen: Seen<'_>) -> Option<u64> {
    let number: u64 = seen.id.parse().ok().filter(|_| seen.kind == PURPOSE)?;
    Some(number).filter(|number| *number > 0 && number.to_string() == seen.id)
}

fn key(tenant: &TenantId, number: u64) -> Key {
    Key::new(tenant, PURPOSE, &number.to_string())
}

fn note_key(tenant: &TenantId) -> Key {
    Key::new(tenant, NOTE, "end")
}
