//! Entries of the embedded file inside one write transaction: expiry, versions, and the table that finds what ran out.

use std::time::Duration;

use redb::{ReadableTable as _, Table, TableDefinition, WriteTransaction};

use super::{Unavailable, Version};
use crate::platform::clock::Timestamp;
use crate::platform::random;

/// Name to expiry (8 bytes, big-endian milliseconds, 0 for never), version (8 bytes), content.
pub(super) const ENTRIES: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("entries");
/// Expiry and name, in order of time.
pub(super) const EXPIRY: TableDefinition<'static, (i64, &str), ()> = TableDefinition::new("expiry");

/// One entry as it is in the file.
pub(super) struct Entry {
    pub(super) expires: Option<Timestamp>,
    pub(super) version: Version,
    pub(super) content: Vec<u8>,
}

impl Entry {
    /// A new entry of a new version.
    pub(super) fn new(content: Vec<u8>, expires: Option<Timestamp>) -> Result<Self, Unavailable> {
        let version = random::bytes().map_err(|error| Unavailable(error.to_string()))?;
        Ok(Self { expires, version: Version(u64::from_be_bytes(version)), content })
    }

    /// Reads the form of the file; `None` for bytes that are none.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (expires, rest) = bytes.split_first_chunk::<8>()?;
        let (version, content) = rest.split_first_chunk::<8>()?;
        let expires = i64::from_be_bytes(*expires);
        Some(Self {
            expires: (expires != 0).then_some(Timestamp(expires)),
            version: Version(u64::from_be_bytes(*version)),
            content: content.to_vec(),
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.content.len());
        out.extend_from_slice(&self.expires.map_or(0, |at| at.0).to_be_bytes());
        out.extend_from_slice(&self.version.0.to_be_bytes());
        out.extend_from_slice(&self.content);
        out
    }

    /// Whether it still counts at `now`.
    pub(super) fn lives(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|at| at > now)
    }

    /// How long it has left at `now`.
    pub(super) fn left(&self, now: Timestamp) -> Option<Duration> {
        self.expires.map(|at| at.since(now))
    }

    /// The content as a number; 0 when it is none.
    pub(super) fn number(&self) -> u64 {
        self.content.as_slice().try_into().map_or(0, u64::from_be_bytes)
    }
}

/// The two tables, open for writing.
pub(super) struct Entries<'t> {
    by_name: Table<'t, &'static str, &'static [u8]>,
    by_expiry: Table<'t, (i64, &'static str), ()>,
    now: Timestamp,
}

impl<'t> Entries<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction, now: Timestamp) -> Result<Self, Unavailable> {
        let by_name = transaction.open_table(ENTRIES).map_err(failed)?;
        let by_expiry = transaction.open_table(EXPIRY).map_err(failed)?;
        Ok(Self { by_name, by_expiry, now })
    }

    /// The instant this transaction counts as.
    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// The living entry of that name.
    pub(super) fn get(&self, name: &str) -> Result<Option<Entry>, Unavailable> {
        Ok(self.raw(name)?.filter(|entry| entry.lives(self.now)))
    }

    /// Writes `entry`, whatever was there.
    pub(super) fn set(&mut self, name: &str, entry: &Entry) -> Result<(), Unavailable> {
        self.forget_expiry(name)?;
        if let Some(at) = entry.expires {
            self.by_expiry.insert((at.0, name), ()).map_err(failed)?;
        }
        self.by_name.insert(name, entry.write().as_slice()).map_err(failed)?;
        Ok(())
    }

    /// Deletes the entry and returns it if it still lived.
    pub(super) fn delete(&mut self, name: &str) -> Result<Option<Entry>, Unavailable> {
        let entry = self.raw(name)?;
        if entry.is_some() {
            self.forget_expiry(name)?;
            self.by_name.remove(name).map_err(failed)?;
        }
        Ok(entry.filter(|entry| entry.lives(self.now)))
    }

    /// Deletes at most `limit` entries that ran out. How many.
    pub(super) fn sweep(&mut self, limit: usize) -> Result<usize, Unavailable> {
        let due = self
            .by_expiry
            .range(..=(self.now.0, ""))
            .map_err(failed)?
            .take(limit)
            .map(|item| item.map(|(key, _)| (key.value().0, key.value().1.to_owned())).map_err(failed))
            .collect::<Result<Vec<_>, _>>()?;
        for (at, name) in &due {
            self.by_expiry.remove((*at, name.as_str())).map_err(failed)?;
            self.by_name.remove(name.as_str()).map_err(failed)?;
        }
        Ok(due.len())
    }

    fn raw(&self, name: &str) -> Result<Option<Entry>, Unavailable> {
        Ok(self.by_name.get(name).map_err(failed)?.and_then(|bytes| Entry::read(bytes.value())))
    }

    fn forget_expiry(&mut self, name: &str) -> Result<(), Unavailable> {
        if let Some(at) = self.raw(name)?.and_then(|entry| entry.expires) {
            self.by_expiry.remove((at.0, name)).map_err(failed)?;
        }
        Ok(())
    }
}

/// What is told of a file that cannot be read as one of this program.
pub(super) const DAMAGED: &str = "its file is damaged; restore it from a backup, or move it away to start empty";

/// What the file library reports, as the one error of this room.
pub(super) fn failed(error: impl Into<redb::Error>) -> Unavailable {
    match error.into() {
        redb::Error::Corrupted(_) => Unavailable(DAMAGED.to_owned()),
        error => Unavailable(error.to_string()),
    }
}
